#include <unistd.h>

#include <csignal>
#include <optional>
#include <thread>

#include "proxy/watch/asking.hpp"
#include "proxy/watch/commands.hpp"
#include "proxy/watch/fetch.hpp"
#include "proxy/watch/terminal.hpp"
#include "proxy/watch/view.hpp"

namespace culvert::watch {
namespace {

using clock = std::chrono::steady_clock;
constexpr std::chrono::seconds interval{1};
constexpr std::size_t longest_history = 300;
constexpr size unbounded{1'000, 100'000};

// The daemon, reading by reading.
class watched {
  public:
    // Throws no_answer when there is none: so that nobody sees an empty screen.
    explicit watched(const config::endpoint& at) : at_(at) { now_ = ask(); }

    // When it does not answer, the reading before stays, with the reason.
    void read() {
        try {
            reading newer = ask();
            before_ = std::move(now_);
            now_ = std::move(newer);
            trouble_.clear();
            remember();
        } catch (const no_answer& error) {
            trouble_ = observe::printable(error.what());
        }
    }

    [[nodiscard]] std::vector<std::string> shown(size fitting) const {
        const rates since = before_ ? rates(*before_, now_) : rates();
        return screen({now_, since, throughput_, trouble_, speaks_utf8()}, fitting);
    }

  private:
    [[nodiscard]] reading ask() const { return read_status(fetch(at_, status_path)); }

    void remember() {
        const auto both = rates(*before_, now_).of(&before_->all, now_.all);
        std::optional<double> sum;
        if (both.to_tunnel && both.from_tunnel) sum = *both.to_tunnel + *both.from_tunnel;
        throughput_.push_back(sum);
        if (throughput_.size() > longest_history) throughput_.pop_front();
    }

    const config::endpoint at_;
    std::optional<reading> before_;
    reading now_;
    throughput_history throughput_;
    std::string trouble_;
};

// Returns the signal that was to end it; 0: it shall end.
int watch_in(terminal& where, watched& daemon) {
    auto next = clock::now() + interval;
    for (;;) {
        where.show(daemon.shown(where.size_now()));
        switch (where.wait_until(next)) {
            case terminal::event::quit:
                return 0;
            case terminal::event::ended:
                return where.ended_by();
            case terminal::event::resized:
                break;
            case terminal::event::time_passed:
                daemon.read();
                next = clock::now() + interval;
        }
    }
}

}  // namespace

int top(const std::vector<std::string>& words) {
    return complaining([&] {
        watched daemon(find_admin(words.empty() ? usual_file : words.front()));
        if (::isatty(STDOUT_FILENO) == 0 || ::isatty(STDIN_FILENO) == 0) {
            std::this_thread::sleep_for(interval);  // rates want two readings
            daemon.read();
            print(daemon.shown(unbounded));
            return 0;
        }
        int signal = 0;
        {
            terminal where;
            signal = watch_in(where, daemon);
        }
        if (signal != 0) ::raise(signal);
        return 0;
    });
}

}  // namespace culvert::watch
