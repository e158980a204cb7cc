#include "tests/faults/mangler.hpp"

#include <algorithm>

namespace culvert::faults {
namespace {

void append(std::vector<std::uint8_t>& to, bytes_view from) {
    to.insert(to.end(), from.begin(), from.end());
}

std::size_t at_most(std::uint64_t limit, std::size_t size) {
    return static_cast<std::size_t>(std::min<std::uint64_t>(limit, size));
}

}  // namespace

bool mangler::feed(bytes_view next, std::vector<std::uint8_t>& out) {
    if (ended_ || next.empty()) return false;
    if (!plan_.end || at_ + next.size() < plan_.end->at) {
        pass(next, out);
        return false;
    }
    pass(next.first(static_cast<std::size_t>(plan_.end->at - at_)), out);
    release(out);
    ended_ = true;
    return true;
}

void mangler::pass(bytes_view next, std::vector<std::uint8_t>& out) {
    while (!next.empty()) {
        if (current_ == plan_.edits.size()) {
            at_ += next.size();
            return append(out, next);
        }
        const edit& due = plan_.edits[current_];
        const std::size_t before = due.at > at_ ? at_most(due.at - at_, next.size()) : 0;
        append(out, next.first(before));
        at_ += before;
        next = next.subspan(before);
        const std::size_t size = at_most(due.at + due.reach() - at_, next.size());
        if (next.empty()) return;
        change(due, next.first(size), out);
        next = next.subspan(size);
        if (at_ == due.at + due.reach()) complete(due, out);
    }
}

void mangler::change(const edit& by, bytes_view part, std::vector<std::uint8_t>& out) {
    at_ += part.size();
    if (by.kind == edit_kind::flip)
        out.push_back(static_cast<std::uint8_t>(part[0] ^ (1U << by.bit)));
    else if (by.kind == edit_kind::repeat)
        append(out, part);
    if (by.kind == edit_kind::repeat || by.kind == edit_kind::swap) append(held_, part);
    if (by.kind == edit_kind::flip || by.kind == edit_kind::drop)
        done_[static_cast<std::size_t>(by.kind)] = true;
}

void mangler::complete(const edit& by, std::vector<std::uint8_t>& out) {
    ++current_;
    const auto middle = held_.begin() + static_cast<std::ptrdiff_t>(held_.size() / 2);
    bool changed = by.kind == edit_kind::repeat;
    if (by.kind == edit_kind::swap) {
        changed = !std::equal(held_.begin(), middle, middle);
        std::rotate(held_.begin(), middle, held_.end());
    }
    if (changed) done_[static_cast<std::size_t>(by.kind)] = true;
    append(out, held_);
    held_.clear();
}

// A repeat holds what has gone on already.
void mangler::release(std::vector<std::uint8_t>& out) {
    if (!holding()) return;
    if (plan_.edits[current_].kind == edit_kind::swap) append(out, held_);
    held_.clear();
    ++current_;
}

bool mangler::edited() const noexcept {
    return std::any_of(done_.begin(), done_.end(), [](bool done) { return done; });
}

}  // namespace culvert::faults
