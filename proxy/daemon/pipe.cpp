#include "proxy/daemon/pipe.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/signal_set.hpp>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>

#include "proxy/daemon/confine.hpp"
#include "proxy/daemon/standard_streams.hpp"
#include "proxy/observe/log.hpp"
#include "proxy/relay/client_session.hpp"

namespace culvert::daemon {
namespace {

namespace asio = boost::asio;
using relay::end_reason;

// After a hang-up, which ssh sends to its ProxyCommand at its end: for the end of stdin, which
// comes at the same time, to end the connection in good order.
constexpr std::chrono::seconds hang_up_time{2};

// After a failure: for what has come already to go to stdout, where somebody may not be reading.
constexpr std::chrono::seconds last_words{2};

[[noreturn]] void fail(const std::string& what) {
    throw std::runtime_error(what + ": " + std::strerror(errno));
}

// Else a socket of ours could take their place.
void require_standard_streams() {
    if (::fcntl(STDIN_FILENO, F_GETFD) < 0 && ::open("/dev/null", O_RDONLY) != STDIN_FILENO)
        fail("stdin");
    if (::fcntl(STDOUT_FILENO, F_GETFD) < 0) fail("stdout");
}

// The two ends of a socket pair.
struct ends {
    descriptor ours;
    descriptor plain;  // the session's
};

ends make_pair() {
    std::array<int, 2> pair{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) != 0) fail("socketpair");
    return {descriptor(pair[0]), descriptor(pair[1])};
}

class piping {
  public:
    // Once it exists, nothing is done any more that a confined process may not do.
    explicit piping(config::client_settings section)
        : context_(std::make_shared<const relay::client_context>(std::move(section))),
          ends_(make_pair()) {}

    int run();

  private:
    void begin_streams();
    void begin_session();
    void session_ended(const std::exception_ptr& why);
    void stream_ended(const std::string& fault);
    void output_ended(const std::string& fault);
    void heed_hang_ups();
    void look();
    int leave();

    const std::shared_ptr<const relay::client_context> context_;
    relay::buffer_pool buffers_;
    asio::io_context loop_{1};
    asio::executor_work_guard<carrier::executor> keep_running_{loop_.get_executor()};
    carrier::timer patience_{loop_.get_executor()};
    asio::basic_signal_set<carrier::executor> hang_ups_{loop_.get_executor()};
    carrier::timer hung_up_{loop_.get_executor()};
    ends ends_;  // until both are taken
    std::shared_ptr<relay::session> session_;
    std::unique_ptr<standard_streams> streams_;
    unsigned running_ = 3;  // the session and two streams
    std::string fault_;     // the first that went wrong
};

int piping::run() {
    begin_streams();
    begin_session();
    heed_hang_ups();
    loop_.run();
    return leave();
}

void piping::begin_streams() {
    carrier::arm_reset(STDOUT_FILENO, true);
    streams_ = std::make_unique<standard_streams>(
        loop_.get_executor(), std::move(ends_.ours),
        [this](const std::string& fault) { stream_ended(fault); },
        [this](const std::string& fault) { output_ended(fault); });
}

void piping::begin_session() {
    carrier::stream_socket plain(loop_.get_executor());
    plain.assign(asio::generic::stream_protocol(AF_UNIX, 0), ends_.plain.release());
    session_ =
        relay::make_client_session(context_, std::move(plain), {loop_.get_executor(), buffers_});
    asio::co_spawn(loop_, session_->run(),
                   [this](const std::exception_ptr& why) { session_ended(why); });
}

void piping::session_ended(const std::exception_ptr& why) {
    try {
        if (why) std::rethrow_exception(why);
    } catch (const relay::session_end& e) {
        if (fault_.empty()) fault_ = e.text();
    } catch (const std::exception& e) {
        if (fault_.empty()) fault_ = e.what();
    }
    session_.reset();  // its end of the pair with it
    --running_;
    look();
}

void piping::stream_ended(const std::string& fault) {
    --running_;
    if (fault_.empty()) fault_ = fault;
    if (!fault.empty() && session_) session_->stop(end_reason::application_reset);
    look();
}

void piping::output_ended(const std::string& fault) {
    const bool whole = !session_ || session_->delivered_end();
    if (fault.empty() && fault_.empty() && whole) end_output();
    stream_ended(fault);
}

void piping::heed_hang_ups() {
    struct sigaction before {};
    ::sigaction(SIGHUP, nullptr, &before);
    if (before.sa_handler == SIG_IGN) return;  // as nohup has it
    hang_ups_.add(SIGHUP);
    hang_ups_.async_wait([this](const carrier::error_code& ec, int) {
        if (ec) return;
        hung_up_.expires_after(hang_up_time);
        hung_up_.async_wait([this](const carrier::error_code& stopped) {
            if (stopped || !session_) return;
            if (fault_.empty()) fault_ = "hung up";
            session_->stop(end_reason::application_reset);
        });
    });
}

void piping::look() {
    if (running_ == 0) {
        keep_running_.reset();
        patience_.cancel();
        hang_ups_.cancel();
        hung_up_.cancel();
    } else if (!session_ && !fault_.empty()) {
        patience_.expires_after(last_words);
        patience_.async_wait([this](const carrier::error_code& ec) {
            if (!ec) loop_.stop();
        });
    }
}

int piping::leave() {
    if (fault_.empty()) {
        carrier::arm_reset(STDOUT_FILENO, false);
        return 0;
    }
    observe::write_plain("culvert: " + fault_);
    if (running_ > 0) ::_exit(1);  // a thread waits for whoever reads stdout, perhaps for ever
    return 1;
}

}  // namespace

int pipe(config::client_settings section, bool confined) {
    std::signal(SIGPIPE, SIG_IGN);
    observe::set_log_level(observe::log_level::error);
    require_standard_streams();
    config::daemon_settings alone;  // it stays whoever has started it
    alone.sandbox = confined ? config::sandbox::strict : config::sandbox::off;
    needs places;
    for (const auto& to : section.connect) places.connect.push_back(to.place);
    piping session(std::move(section));
    confine(alone, places);
    return session.run();
}

}  // namespace culvert::daemon
