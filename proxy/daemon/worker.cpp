#include "proxy/daemon/worker.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>

#include "proxy/observe/session_report.hpp"

namespace culvert::daemon {
namespace {

namespace asio = boost::asio;
using observe::log;
using observe::log_level;

constexpr std::chrono::milliseconds look_again{5};  // whether a pool is empty

// Sessions that fail are reported one by one until there are many of them.
observe::log_limit failures(10);

// Strangers, and sessions that nobody used: a server's only when debugging, but many all the same.
observe::log_limit unremarkable(20);

carrier::stream_socket socket_of(const carrier::executor& ex, descriptor fd) {
    int family = AF_INET;
    socklen_t size = sizeof family;
    ::getsockopt(fd.get(), SOL_SOCKET, SO_DOMAIN, &family, &size);
    carrier::stream_socket socket(ex);
    carrier::error_code ec;
    socket.assign(asio::generic::stream_protocol(family, 0), fd.get(), ec);
    if (socket.is_open()) static_cast<void>(fd.release());
    return socket;
}

carrier::awaitable<void> until_empty(std::shared_ptr<relay::session_pool> pool) {
    carrier::timer pause(co_await asio::this_coro::executor);
    pool->stop();
    while (pool->size() > 0) {
        pause.expires_after(look_again);
        co_await pause.async_wait(asio::as_tuple(carrier::use_awaitable));
    }
}

// What `why` says of the end.
void describe_end(const std::exception_ptr& why, observe::session_report& into) {
    into.failed = why != nullptr;
    into.reason = name_of(relay::end_reason::clean);
    into.detail = text_of(relay::end_reason::clean);
    try {
        if (why) std::rethrow_exception(why);
    } catch (const relay::session_end& e) {
        into.reason = name_of(e.why());
        into.detail = e.text();
    } catch (const std::bad_alloc&) {
        into.reason = "no_memory";
        into.detail = "no memory";
    } catch (const std::exception& e) {
        into.reason = "internal";
        into.detail = e.what();
    }
}

}  // namespace

// A session that was adopted, counted from then on until it is gone, however it goes.
struct worker::running {
    running(worker& worker, std::string of, std::function<void()> when_ended)
        : section(std::move(of)), ended(std::move(when_ended)), load(&worker.load_) {
        ++*load;
    }
    running(running&& other) noexcept
        : section(std::move(other.section)),
          session(std::move(other.session)),
          ended(std::move(other.ended)),
          began(other.began),
          load(std::exchange(other.load, nullptr)) {}
    running& operator=(running&&) = delete;
    ~running() {
        if (load == nullptr) return;
        --*load;
        ended();
    }

    std::string section;
    std::shared_ptr<relay::session> session;
    std::function<void()> ended;
    carrier::time_point began = carrier::clock::now();
    std::atomic<std::size_t>* load;
};

void worker::add_pool(std::shared_ptr<const relay::client_context> section, std::size_t size) {
    asio::post(context_, [this, section = std::move(section), size] {
        const auto pool = std::make_shared<relay::session_pool>(section, size, thread());
        pools_[section.get()] = pool;
        pool->start();
    });
}

void worker::drop_pool(const std::shared_ptr<const relay::client_context>& section) {
    asio::post(context_, [this, section] {
        const auto at = pools_.find(section.get());
        if (at == pools_.end()) return;
        let_go(std::move(at->second));
        pools_.erase(at);
    });
}

std::shared_ptr<relay::session_pool> worker::pool_for(const relay::client_context& section) const {
    const auto at = pools_.find(&section);
    return at == pools_.end() ? nullptr : at->second;
}

void worker::start() {
    thread_ = std::thread([this] {
        static_cast<void>(keys_.stock());  // the first ones
        context_.run();
    });
}

void worker::join() {
    if (thread_.joinable()) thread_.join();
}

void worker::adopt(descriptor fd, std::string section, maker make, std::function<void()> ended) {
    running started(*this, std::move(section), std::move(ended));
    asio::dispatch(context_, [this, fd = std::move(fd), make = std::move(make),
                              started = std::move(started)]() mutable {
        run_session(std::move(fd), make, std::move(started));
    });
}

void worker::run_session(descriptor fd, const maker& make, running started) noexcept {
    std::shared_ptr<relay::session> session;
    try {
        auto socket = socket_of(context_.get_executor(), std::move(fd));
        session = started.session = make(std::move(socket), thread());
        sessions_.insert(session);
        auto life = session->run();
        asio::co_spawn(context_, std::move(life),
                       [this, started = std::move(started)](const std::exception_ptr& why) {
                           finish(started, why);
                       });
    } catch (const std::bad_alloc&) {
        sessions_.erase(session);
        log(failures, log_level::warning, "a connection was reset: there is no memory for it");
    }
}

// The one place where a session's end is seen, and the one line that is written about it.
void worker::finish(const running& gone, const std::exception_ptr& why) {
    sessions_.erase(gone.session);
    try {
        report(gone, why);
    } catch (const std::bad_alloc&) {
        // Then there is no line about it.
    }
}

void worker::report(const running& gone, const std::exception_ptr& why) {
    const relay::session& session = *gone.session;
    const auto moved = session.moved();
    observe::session_report report;
    report.section = gone.section;
    report.who = session.facts();
    report.to_tunnel = moved.to_tunnel;
    report.from_tunnel = moved.from_tunnel;
    report.lasted = carrier::clock::now() - gone.began;
    describe_end(why, report);
    const bool remarkable = session.proven() && !session.unused();
    if (remarkable) session.counters().ended(report);
    if (!remarkable)
        log_session(log_level::debug, report, &unremarkable);
    else if (why)
        log_session(log_level::warning, report, &failures);
    else
        log_session(log_level::info, report);
}

template <class Action>
void worker::for_each_session(Action action) {
    asio::post(context_, [this, action] {
        const auto all = sessions_;  // an action may end a session
        for (const auto& session : all) action(*session);
    });
}

void worker::drain_sessions() {
    for_each_session([](relay::session& session) { session.drain(); });
    ++pools_leaving_;  // until those that there are have been counted
    asio::post(context_, [this] {
        for (auto& [section, pool] : pools_) let_go(std::move(pool));
        pools_.clear();
        --pools_leaving_;
    });
}

// The spare sessions end at once, but for a word to the server and his.
void worker::let_go(std::shared_ptr<relay::session_pool> pool) {
    ++pools_leaving_;
    asio::co_spawn(context_, until_empty(std::move(pool)), [this](const std::exception_ptr& e) {
        --pools_leaving_;
        if (e) std::rethrow_exception(e);
    });
}

void worker::call(std::function<void()> action) {
    asio::post(context_, std::move(action));
}

void worker::stop_removed(const std::shared_ptr<const relay::server_context>& section) {
    for_each_session([section](relay::session& session) {
        if (!session.known_to(*section)) session.stop(relay::end_reason::removed);
    });
}

void worker::stop_sessions(relay::end_reason why) {
    for_each_session([why](relay::session& session) { session.stop(why); });
}

}  // namespace culvert::daemon
