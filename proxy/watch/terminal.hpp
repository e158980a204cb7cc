// A terminal that a program has to itself for a while.
#pragma once

#include <termios.h>

#include <chrono>
#include <csignal>
#include <string>
#include <vector>

#include "proxy/daemon/descriptor.hpp"
#include "proxy/watch/view.hpp"

namespace culvert::watch {

// Shows the alternate screen, without a cursor and without an echo of what is typed, and leaves
// everything as it was. Meanwhile signals that would end or stop the process come as events.
class terminal {
  public:
    // Only one at a time; standard input and output must be a terminal.
    terminal();
    ~terminal();
    terminal(const terminal&) = delete;
    terminal& operator=(const terminal&) = delete;

    enum class event { time_passed, resized, quit, ended };
    // Waits for a key, a signal or the end of the time. A stop (Ctrl-Z) is done here. After
    // `ended`, die() is to be called once the terminal is as it was.
    event wait_until(std::chrono::steady_clock::time_point when);

    [[nodiscard]] size size_now() const noexcept;
    // All lines at once, in place of what was there.
    void show(const std::vector<std::string>& lines);

    // Ends the process by the signal that was to end it.
    [[nodiscard]] int ended_by() const noexcept { return ended_by_; }

  private:
    void enter();
    void leave() noexcept;
    void stop();
    event take_signal();
    event take_key();

    termios before_{};
    sigset_t signals_{};
    sigset_t signals_before_{};
    daemon::descriptor signal_file_;
    bool input_ended_ = false;
    int ended_by_ = 0;
};

// Whether a text with characters beyond ASCII can be shown.
bool speaks_utf8() noexcept;

}  // namespace culvert::watch
