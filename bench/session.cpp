#include "bench/session.hpp"

#include <algorithm>

namespace culvert::load {
namespace {

request make_request(worker& owner, kind what, std::uint64_t size, std::uint64_t reply_size) {
    request out{what, owner.make_seed(), 0, size, reply_size};
    out.seed_down = what == kind::echo ? out.seed_up : ~out.seed_up;
    return out;
}

[[noreturn]] void fail_at(std::uint64_t offset, const char* who) {
    fail_integrity("wrong data: byte " + std::to_string(offset) + " " + who);
}

}  // namespace

session::session(worker& owner, std::unique_ptr<stream> wire, kind what, std::uint64_t size,
                 std::uint64_t reply_size)
    : owner_(owner),
      wire_(std::move(wire)),
      raw_(owner.plan().to.raw),
      request_(make_request(owner, what, size, reply_size)),
      outgoing_(request_.seed_up),
      incoming_(pattern(request_.seed_down)) {
    counters::add(owner_.counts.open, 1);
}

session::~session() {
    counters::add(owner_.counts.open, ~std::uint64_t{0});
}

awaitable<void> session::send(std::uint64_t size) {
    if (!requested_ && !raw_) co_await send_request(size);
    while (size > 0) {
        const auto piece = std::min<std::uint64_t>(size, pattern::window);
        co_await wire_->write(outgoing_.at(sent_, piece));
        sent_ += piece;
        size -= piece;
        counters::add(owner_.counts.sent, piece);
    }
}

// The request and the first bytes leave in one write, as an application's would.
awaitable<void> session::send_request(std::uint64_t& size) {
    requested_ = true;
    const auto encoded = encode(request_);
    const bytes_view first = outgoing_.at(0, std::min<std::uint64_t>(size, 16'384));
    std::vector<std::uint8_t> together(encoded.begin(), encoded.end());
    together.insert(together.end(), first.begin(), first.end());
    co_await wire_->write(together);
    sent_ = first.size();
    size -= first.size();
    counters::add(owner_.counts.sent, first.size());
}

awaitable<void> session::end() {
    return wire_->end();
}

awaitable<std::uint64_t> session::receive_part(std::uint64_t most) {
    const bytes_view came = co_await wire_->read();
    if (came.empty())
        fail_integrity("the stream ended early, after " + std::to_string(arrived()) + " bytes");
    if (came.size() > most) fail_integrity("more came than was asked for");
    take(came);
    co_return came.size();
}

awaitable<void> session::receive(std::uint64_t size) {
    while (size > 0) {
        const std::uint64_t came = co_await receive_part(size);
        size -= came;
    }
}

awaitable<bool> session::receive_any() {
    const bytes_view came = co_await wire_->read();
    if (came.empty()) co_return false;
    if (raw_)
        take(came);
    else
        take_all_but_tail(came);
    co_return true;
}

awaitable<void> session::finish() {
    for (bool more = true; more;) more = co_await receive_any();
    judge_end();
    co_await wire_->close();
}

void session::take(bytes_view data) {
    counters::add(owner_.counts.received, data.size());
    if (!incoming_.check(data)) fail_at(*incoming_.first_bad(), "came back changed");
}

// Keeps the last 40 bytes of all that came in tail_.
void session::take_all_but_tail(bytes_view came) {
    const std::size_t all = tail_.size() + came.size();
    const std::size_t data = all - std::min(all, verdict_size);
    const std::size_t from_tail = std::min(data, tail_.size());
    take({reinterpret_cast<const std::uint8_t*>(tail_.data()), from_tail});
    tail_.erase(0, from_tail);
    take(came.first(data - from_tail));
    const bytes_view rest = came.subspan(data - from_tail);
    tail_.append(rest.begin(), rest.end());
}

void session::judge_end() const {
    if (!raw_) return judge_verdict();
    if (incoming_.received() != sent_)
        fail_integrity("the stream ended early: " + std::to_string(incoming_.received()) + " of " +
                       std::to_string(sent_) + " bytes came back");
}

void session::judge_verdict() const {
    std::optional<verdict> found;
    if (tail_.size() == verdict_size)
        found = decode_verdict(crypto::block_view<verdict_size>(
            reinterpret_cast<const std::uint8_t*>(tail_.data()), verdict_size));
    if (!found)
        fail_integrity("the stream ended early, after " + std::to_string(arrived()) +
                       " bytes and without the backend's verdict");
    if (found->first_bad != unbounded) fail_at(found->first_bad, "reached the backend changed");
    if (found->received != sent_)
        fail_integrity("the backend got " + std::to_string(found->received) + " of " +
                       std::to_string(sent_) + " bytes");
    if (found->sent != incoming_.received())
        fail_integrity("the backend sent " + std::to_string(found->sent) + " bytes, " +
                       std::to_string(incoming_.received()) + " came");
}

}  // namespace culvert::load
