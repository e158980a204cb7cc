#include "tests/faults/random_script.hpp"

#include <algorithm>
#include <bit>

namespace culvert::faults {
namespace {

constexpr std::uint64_t usual_stream = 300 * 1'024;
constexpr std::uint64_t long_stream = 4 * 1'024 * 1'024;
// More than any handshake, with HTTP around it: what comes behind are records.
constexpr std::uint64_t handshake = 1'600;
// A stream in many small pieces takes the processor's time and shows no more than one in fewer.
constexpr std::uint64_t most_pieces = 1'000;

class drawing {
  public:
    explicit drawing(std::uint64_t seed) noexcept : random_(seed) {}

    script draw() {
        script out;
        out.app = draw_application();
        out.service = draw_application();
        if (out.app.end != ending::at_once) out.service.end = ending::at_once;
        out.up = draw_manner(out.app.send);
        out.down = draw_manner(out.service.send);
        const std::uint64_t what = random_.between(0, 9);
        if (what >= 3 && what != 6) draw_harm(out.up, out.app.send);
        if (what >= 6) draw_harm(out.down, out.service.send);
        return out;
    }

  private:
    application_script draw_application() {
        application_script out;
        out.send = draw_size();
        if (random_.one_in(3)) out.piece = at_least_for(out.send);
        if (random_.one_in(3)) out.read = at_least_for(usual_stream);
        if (random_.one_in(8)) {
            out.read = longest_span;
            out.rest = milliseconds(random_.between(1, 5));
        }
        if (random_.one_in(4)) out.end = random_.one_in(2) ? ending::late : ending::reply;
        if (random_.one_in(16)) {
            const auto how = random_.one_in(2) ? leaving::reset : leaving::close;
            out.leaves = departure{how, random_.between(0, out.send)};
        }
        return out;
    }

    std::uint64_t draw_size() {
        if (random_.one_in(16)) return 0;
        if (random_.one_in(80)) return random_.magnitude(long_stream);
        return random_.magnitude(usual_stream);
    }

    // Piece sizes of all magnitudes, but not too small for the stream.
    std::uint64_t at_least_for(std::uint64_t stream) {
        const std::uint64_t least = stream / most_pieces + 1;
        return std::clamp(random_.magnitude(longest_span), least, longest_span);
    }

    path_script draw_manner(std::uint64_t stream) {
        path_script out;
        if (random_.one_in(4)) out.delay = milliseconds(random_.between(1, 5));
        const std::uint64_t how = random_.between(0, 5);
        if (how > 1) return out;
        out.segments = how == 0 ? segments::up_to : segments::exactly;
        out.segment = at_least_for(stream + handshake);
        return out;
    }

    void draw_harm(path_script& into, std::uint64_t stream) {
        if (random_.one_in(40)) {
            into.end = path_end{fate::dark, random_.between(0, stream + handshake)};
        } else if (random_.one_in(2)) {
            constexpr fate fates[] = {fate::cut, fate::reset, fate::truncate};
            into.end = path_end{fates[random_.between(0, 2)], draw_place(stream)};
        } else {
            draw_edits(into, stream);
        }
    }

    void draw_edits(path_script& into, std::uint64_t stream) {
        std::uint64_t free_from = 0;
        for (std::uint64_t left = random_.magnitude(3); left > 0; --left) {
            edit made;
            made.kind = static_cast<edit_kind>(random_.between(0, 3));
            made.at = draw_place(stream);
            if (made.kind == edit_kind::flip)
                made.bit = static_cast<unsigned>(random_.between(0, 7));
            else
                made.length = random_.magnitude(3'000);
            if (made.at < free_from) continue;
            free_from = made.at + made.reach();
            into.edits.push_back(made);
        }
    }

    // Anywhere, or about where records begin or the stream ends; in the handshake now and then.
    std::uint64_t draw_place(std::uint64_t stream) {
        if (random_.one_in(60)) return random_.between(0, handshake);
        const std::uint64_t overhead = stream / 1'000;
        switch (random_.between(0, 3)) {
            case 0:
                return handshake + random_.magnitude(1'400);
            case 1:
                return stream + overhead + random_.between(0, handshake);
            default:
                return handshake + random_.between(0, stream + overhead);
        }
    }

    random_numbers random_;
};

}  // namespace

std::uint64_t random_numbers::magnitude(std::uint64_t most) noexcept {
    const auto bits = static_cast<std::uint64_t>(std::bit_width(most));
    const std::uint64_t top = std::uint64_t{1} << between(1, bits);
    return std::min(between(top / 2, top - 1), most);
}

script random_script(std::uint64_t seed) {
    return drawing(seed).draw();
}

}  // namespace culvert::faults
