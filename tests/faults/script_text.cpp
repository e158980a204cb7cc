#include "tests/faults/script.hpp"

namespace culvert::faults {
namespace {

std::string value(const char* name, std::uint64_t number) {
    return std::string(" ") + name + "=" + std::to_string(number);
}

std::string place(const char* name, std::uint64_t at) {
    return std::string(" ") + name + "@" + std::to_string(at);
}

std::string text_of(const application_script& from) {
    const application_script usual;
    std::string out;
    if (from.send != usual.send) out += value("send", from.send);
    if (from.piece != usual.piece) out += value("piece", from.piece);
    if (from.read != usual.read) out += value("read", from.read);
    if (from.rest != usual.rest)
        out += value("rest", static_cast<std::uint64_t>(from.rest.count())) + "ms";
    if (from.end == ending::late) out += " late";
    if (from.end == ending::reply) out += " reply";
    if (from.leaves)
        out += place(from.leaves->how == leaving::reset ? "reset" : "close", from.leaves->at);
    return out;
}

std::string text_of(const edit& from) {
    const std::string out = place(text_of(from.kind), from.at);
    if (from.kind == edit_kind::flip) return out + "." + std::to_string(from.bit);
    return out + "+" + std::to_string(from.length);
}

std::string text_of(const path_script& from) {
    std::string out;
    if (from.delay != milliseconds{0})
        out += value("delay", static_cast<std::uint64_t>(from.delay.count())) + "ms";
    if (from.segments == segments::up_to) out += value("split", from.segment);
    if (from.segments == segments::exactly) out += value("trickle", from.segment);
    for (const edit& change : from.edits) out += text_of(change);
    if (from.end) out += place(text_of(from.end->how), from.end->at);
    return out;
}

void add_part(std::string& to, const char* name, const std::string& items) {
    if (items.empty()) return;
    to += (to.empty() ? "" : "; ") + std::string(name) + items;
}

}  // namespace

std::string text_of(const script& from) {
    std::string out;
    add_part(out, "app", text_of(from.app));
    add_part(out, "service", text_of(from.service));
    add_part(out, "up", text_of(from.up));
    add_part(out, "down", text_of(from.down));
    return out;
}

const char* text_of(fate how) noexcept {
    switch (how) {
        case fate::cut:
            return "cut";
        case fate::reset:
            return "rst";
        case fate::truncate:
            return "truncate";
        case fate::dark:
            return "dark";
    }
    return "?";
}

const char* text_of(edit_kind kind) noexcept {
    switch (kind) {
        case edit_kind::flip:
            return "flip";
        case edit_kind::drop:
            return "drop";
        case edit_kind::repeat:
            return "repeat";
        case edit_kind::swap:
            return "swap";
    }
    return "?";
}

}  // namespace culvert::faults
