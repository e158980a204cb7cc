#include "bench/serve.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>

#include "bench/backend_session.hpp"
#include "bench/failure.hpp"
#include "bench/listener.hpp"

namespace culvert::load {
namespace {

namespace asio = boost::asio;
using carrier::executor;
using carrier::stream_socket;

constexpr std::chrono::milliseconds accept_pause{100};  // when the system has no more files

// A coroutine's exception that nobody expects is a mistake of this program: it shall end it.
void rethrow(const std::exception_ptr& error) {
    if (error) std::rethrow_exception(error);
}

asio::generic::stream_protocol protocol_of(int fd) {
    int family = 0;
    socklen_t size = sizeof family;
    ::getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &size);
    return {family, 0};
}

}  // namespace

// One thread of the backend.
class backend::lane {
  public:
    lane(const serve_plan& plan, load::served& counts)
        : plan_(plan), counts_(counts), context_(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE_IO) {}

    void run() {
        const auto work = asio::make_work_guard(context_);
        context_.run();
    }
    void stop() { context_.stop(); }

    // Takes connections for all lanes; before run().
    void accept_on(int listening, const std::vector<std::unique_ptr<lane>>& all) {
        asio::co_spawn(context_, accept_all(listening, all), rethrow);
    }

    // From any thread: serves an accepted connection.
    void adopt(int fd) {
        asio::post(context_, [this, fd] { asio::co_spawn(context_, serve(fd), rethrow); });
    }

  private:
    awaitable<void> accept_all(int listening, const std::vector<std::unique_ptr<lane>>& all);
    awaitable<void> serve(int fd);
    void report(const std::string& peer, const std::string& what);
    void conclude(const std::string& peer, const backend_session& session);

    const serve_plan plan_;
    load::served& counts_;
    relay::buffer_pool buffers_;
    asio::io_context context_;
};

awaitable<void> backend::lane::accept_all(int listening,
                                          const std::vector<std::unique_ptr<lane>>& all) {
    const executor ex = context_.get_executor();
    stream_socket socket(ex, protocol_of(listening), listening);
    carrier::timer pause(ex);
    for (std::size_t next = 0;;) {
        const int fd =
            ::accept4(socket.native_handle(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            all[next++ % all.size()]->adopt(fd);
        } else if (errno == EAGAIN) {
            co_await carrier::wait_readable(socket);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
            pause.expires_after(accept_pause);
            co_await pause.async_wait(asio::as_tuple(carrier::use_awaitable));
        }
    }
}

awaitable<void> backend::lane::serve(int fd) {
    stream_socket socket(context_.get_executor(), protocol_of(fd), fd);
    carrier::prepare(socket);
    const std::string peer = carrier::peer_name(socket);
    backend_session session(over_socket(std::move(socket), buffers_), plan_.fixed, counts_);
    try {
        co_await session.run();
    } catch (const failure& why) {
        report(peer, why.what());
    } catch (const std::exception& why) {  // both halves at once
        report(peer, why.what());
    }
    conclude(peer, session);
}

void backend::lane::report(const std::string& peer, const std::string& what) {
    if (!plan_.quiet) fmt::print(stderr, "{}: {}\n", peer, what);
}

void backend::lane::conclude(const std::string& peer, const backend_session& session) {
    const verdict found = session.judge();
    ++counts_.connections;
    if (found.first_bad == unbounded) return;
    ++counts_.wrong;
    report(peer, fmt::format("wrong data: byte {} arrived changed", found.first_bad));
}

backend::backend(const serve_plan& plan) {
    const listener listening = listen_at(plan.listen);
    address_ = listening.address;
    for (unsigned i = 0; i < plan.threads; ++i)
        lanes_.push_back(std::make_unique<lane>(plan, served_));
    lanes_.front()->accept_on(listening.descriptor, lanes_);
    for (const auto& one : lanes_) threads_.emplace_back([&one] { one->run(); });
}

backend::~backend() {
    for (const auto& one : lanes_) one->stop();
    for (auto& thread : threads_) thread.join();
    if (address_.is_unix()) ::unlink(address_.unix_path.c_str());
}

}  // namespace culvert::load
