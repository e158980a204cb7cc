// A script says what one connection goes through: what the two applications do, and what the
// network does to each direction of the tunnel between them. Its text has up to four parts, each at
// most once, in any order:
//
//   app send=5000 piece=300; service send=100000 late; up flip@77.3; down delay=5ms cut@1234
//
//   app, service   the applications
//     send=N       bytes to send                                                         (0)
//     piece=N      in writes of 1 to N bytes                                             (65536)
//     read=N       in reads of at most N bytes                                           (65536)
//     rest=Nms     a pause after each read                                               (0ms)
//     late         ends its stream only after it has read the other's end
//     reply        sends only after it has read the other's end
//     reset@N      resets its connection after so many bytes of its own
//     close@N      closes it then, in both directions
//   up, down       client to server, server to client; offsets count the bytes of the tunnel's wire
//     delay=Nms    a pause before each piece                                             (0ms)
//     split=N      passed on in segments of 1 to N bytes
//     trickle=N    passed on in segments of N bytes
//     flip@N.B     bit B of byte N is flipped
//     drop@N+L     L bytes from N on are lost
//     repeat@N+L   L bytes from N on come twice
//     swap@N+L     L bytes from N on change places with the L behind them
//     cut@N        after N bytes a FIN to both ends
//     rst@N        after N bytes a RST to both ends
//     truncate@N   what comes after N bytes is swallowed; a FIN to the receiver
//     dark@N       what comes after N bytes is swallowed, ends included
//
// The edits flip, drop, repeat and swap of a direction stand in the order of their offsets and
// don't overlap; of the last four a direction has at most one. Not both applications wait for the
// other.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace culvert::faults {

using std::chrono::milliseconds;

inline constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;  // of a stream, of an offset
inline constexpr std::uint64_t longest_span = 65'536;                // of an edit, a piece, a read
inline constexpr milliseconds longest_pause{1'000};
inline constexpr std::size_t most_edits = 16;  // of a direction

enum class ending : std::uint8_t { at_once, late, reply };
enum class leaving : std::uint8_t { reset, close };
enum class edit_kind : std::uint8_t { flip, drop, repeat, swap };
enum class fate : std::uint8_t { cut, reset, truncate, dark };

struct departure {
    leaving how = leaving::reset;
    std::uint64_t at = 0;  // bytes sent
    friend bool operator==(const departure&, const departure&) = default;
};

struct application_script {
    std::uint64_t send = 0;
    std::uint64_t piece = longest_span;
    std::uint64_t read = longest_span;
    milliseconds rest{0};
    ending end = ending::at_once;
    std::optional<departure> leaves;
    friend bool operator==(const application_script&, const application_script&) = default;
};

struct edit {
    edit_kind kind = edit_kind::flip;
    std::uint64_t at = 0;
    std::uint64_t length = 1;
    unsigned bit = 0;  // of a flip
    // Bytes from `at` on that it reaches.
    [[nodiscard]] std::uint64_t reach() const {
        return kind == edit_kind::swap ? 2 * length : length;
    }
    friend bool operator==(const edit&, const edit&) = default;
};

struct path_end {
    fate how = fate::cut;
    std::uint64_t at = 0;
    friend bool operator==(const path_end&, const path_end&) = default;
};

enum class segments : std::uint8_t { as_they_come, up_to, exactly };

struct path_script {
    milliseconds delay{0};
    faults::segments segments = faults::segments::as_they_come;
    std::uint64_t segment = 0;  // bytes
    std::vector<edit> edits;
    std::optional<path_end> end;
    // Whether it may do more than slow the bytes down.
    [[nodiscard]] bool destroys() const { return !edits.empty() || end.has_value(); }
    friend bool operator==(const path_script&, const path_script&) = default;
};

struct script {
    application_script app;
    application_script service;
    path_script up;
    path_script down;
    friend bool operator==(const script&, const script&) = default;
};

// Nothing when the text is no script. Then `mistake`, if given, says why.
std::optional<script> parse_script(std::string_view text, std::string* mistake = nullptr);

// The shortest text of a script: parse_script() makes the same script of it again.
std::string text_of(const script& from);

const char* text_of(fate how) noexcept;
const char* text_of(edit_kind kind) noexcept;

}  // namespace culvert::faults
