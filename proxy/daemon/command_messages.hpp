// What is said over the control socket: a message is a word, a space and a text, or the word alone.
// Whoever asks says one of the first three and hears any number of `line` or `socket`, then `done`
// or `failed`.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "proxy/daemon/descriptor.hpp"

namespace culvert::daemon::command {

inline constexpr std::string_view reload = "reload";
inline constexpr std::string_view take_over = "take-over";  // give me your listening sockets
inline constexpr std::string_view ready = "ready";          // I have them: now you may leave

inline constexpr std::string_view line = "line";      // a text to show
inline constexpr std::string_view socket = "socket";  // with a descriptor
inline constexpr std::string_view done = "done";
inline constexpr std::string_view failed = "failed";

inline constexpr std::size_t longest = 4'096;

struct message {
    std::string word;
    std::string text;
    std::optional<descriptor> with;
};

// Both as errno says when they fail; a longer text is cut. The end of the connection is ECONNRESET.
int send(int fd, std::string_view word, std::string_view text = {}, int descriptor_with = -1);
int receive(int fd, message& into);

}  // namespace culvert::daemon::command
