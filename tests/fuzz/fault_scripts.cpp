// Scripts of faults: whatever the text, it is refused or means itself; and a path does the same to
// its bytes in pieces of any size.
#include <string>

#include "tests/faults/mangler.hpp"
#include "tests/fuzz/input.hpp"

namespace culvert::fuzz {
namespace {

struct passed {
    buffer out;
    bool ended = false;
    friend bool operator==(const passed&, const passed&) = default;
};

passed in_one_go(const faults::path_script& plan, const buffer& stream) {
    faults::mangler m(plan);
    passed result;
    m.feed(stream, result.out);
    m.release(result.out);
    result.ended = m.ended();
    return result;
}

passed in_pieces(input& in, const faults::path_script& plan, const buffer& stream) {
    faults::mangler m(plan);
    passed result;
    in.in_pieces(stream, [&](const buffer& piece) { m.feed(piece, result.out); });
    m.release(result.out);
    result.ended = m.ended();
    return result;
}

void run(const std::string& text, input in) {
    std::string mistake;
    const auto script = faults::parse_script(text, &mistake);
    require(script.has_value() == mistake.empty());
    if (!script) return;
    require(faults::parse_script(faults::text_of(*script)) == script);
    const buffer stream = in.message(20'000);
    for (const faults::path_script* plan : {&script->up, &script->down}) {
        const passed whole = in_one_go(*plan, stream);
        require(in_pieces(in, *plan, stream) == whole);
        require(plan->destroys() || whole.out == stream);
    }
}

}  // namespace
}  // namespace culvert::fuzz

// The text, a line feed, and what else is to be chosen.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string all(data, data + size);
    const std::size_t end = std::min(all.find('\n'), size);
    const std::size_t rest = std::min(end + 1, size);
    culvert::fuzz::run(all.substr(0, end), {data + rest, size - rest});
    return 0;
}
