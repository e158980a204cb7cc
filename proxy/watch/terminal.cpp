#include "proxy/watch/terminal.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string_view>

namespace culvert::watch {
namespace {

constexpr std::string_view enter_screen = "\x1b[?1049h\x1b[?25l\x1b[?7l";  // no cursor, no wrapping
constexpr std::string_view leave_screen = "\x1b[?7h\x1b[?25h\x1b[?1049l";
constexpr std::string_view top_left = "\x1b[H";
constexpr std::string_view clear_line_end = "\x1b[K";
constexpr std::string_view clear_below = "\x1b[J";
constexpr size usual_size{80, 24};

// A terminal that is gone can't be written to, and needs nothing any more.
void write_all(std::string_view text) noexcept {
    while (!text.empty()) {
        const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
        if (written <= 0 && errno != EINTR) return;
        if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
    }
}

sigset_t handled_signals() noexcept {
    sigset_t out;
    sigemptyset(&out);
    for (const int one : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGWINCH})
        sigaddset(&out, one);
    return out;
}

}  // namespace

terminal::terminal()
    : signals_(handled_signals()), signal_file_(::signalfd(-1, &signals_, SFD_CLOEXEC)) {
    ::tcgetattr(STDIN_FILENO, &before_);
    ::sigprocmask(SIG_BLOCK, &signals_, &signals_before_);
    enter();
}

terminal::~terminal() {
    leave();
    ::sigprocmask(SIG_SETMASK, &signals_before_, nullptr);
}

void terminal::enter() {
    termios raw = before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    write_all(enter_screen);
}

void terminal::leave() noexcept {
    write_all(leave_screen);
    ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

// As the shell expects: the terminal is its own while this process sleeps.
void terminal::stop() {
    leave();
    ::raise(SIGSTOP);
    enter();
}

terminal::event terminal::wait_until(std::chrono::steady_clock::time_point when) {
    using std::chrono::milliseconds;
    const auto left = std::chrono::ceil<milliseconds>(when - std::chrono::steady_clock::now());
    std::array<pollfd, 2> both{pollfd{signal_file_.get(), POLLIN, 0},
                               pollfd{input_ended_ ? -1 : STDIN_FILENO, POLLIN, 0}};
    const int wait = static_cast<int>(std::max<std::int64_t>(left.count(), 0));
    if (::poll(both.data(), both.size(), wait) <= 0) return event::time_passed;
    return both[0].revents != 0 ? take_signal() : take_key();
}

terminal::event terminal::take_signal() {
    signalfd_siginfo told{};
    if (::read(signal_file_.get(), &told, sizeof told) != sizeof told) return event::resized;
    switch (static_cast<int>(told.ssi_signo)) {
        case SIGINT:
            return event::quit;
        case SIGTSTP:
            stop();
            return event::resized;
        case SIGWINCH:
            return event::resized;
        default:
            ended_by_ = static_cast<int>(told.ssi_signo);
            return event::ended;
    }
}

// Ctrl-D, too, for those who expect it.
terminal::event terminal::take_key() {
    char key = 0;
    if (::read(STDIN_FILENO, &key, 1) != 1) {
        input_ended_ = true;
        return event::resized;
    }
    return key == 'q' || key == 'Q' || key == '\x04' ? event::quit : event::resized;
}

size terminal::size_now() const noexcept {
    winsize told{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &told) != 0 || told.ws_col == 0 || told.ws_row == 0)
        return usual_size;
    return {told.ws_col, told.ws_row};
}

void terminal::show(const std::vector<std::string>& lines) {
    std::string all(top_left);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (i > 0) all += "\r\n";
        all += lines[i];
        all += clear_line_end;
    }
    write_all(all.append(clear_below));
}

bool speaks_utf8() noexcept {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        const char* const value = std::getenv(name);
        if (value == nullptr || *value == '\0') continue;
        const std::string_view text(value);
        return text.find("UTF-8") != text.npos || text.find("utf8") != text.npos;
    }
    return false;
}

}  // namespace culvert::watch
