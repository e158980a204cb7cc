// The rungs over the loopback.
#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <memory>
#include <stdexcept>

#include "bench/ladder/keys.hpp"
#include "bench/ladder/rungs.hpp"
#include "bench/ladder/traffic.hpp"
#include "proxy/relay/tunnel.hpp"

namespace culvert::ladder {
namespace {

namespace asio = boost::asio;
using carrier::awaitable;
using carrier::stream_socket;

constexpr std::chrono::milliseconds warm_up{200};

// Waits until buffers are full and sizes have settled, then measures.
template <class CpuSeconds>
cost measure(traffic& load, std::chrono::milliseconds time, CpuSeconds cpu_seconds) {
    std::this_thread::sleep_for(warm_up);
    const std::uint64_t bytes = load.arrived();
    const double cpu = cpu_seconds();
    std::this_thread::sleep_for(time);
    return {cpu_seconds() - cpu, load.arrived() - bytes};
}

// One end: a loop on a thread of its own, as a daemon has it.
class end_of_tunnel {
  public:
    stream_socket adopt(int fd) {
        stream_socket socket(context_);
        socket.assign(asio::generic::stream_protocol(AF_INET, 0), fd);
        carrier::prepare(socket);
        return socket;
    }
    relay::buffer_pool& pool() { return pool_; }

    // `owner` lives as long as the coroutine. A failure ends the program.
    void run(awaitable<void> job, std::shared_ptr<void> owner = {}) {
        asio::co_spawn(context_, std::move(job), [owner](const std::exception_ptr& failed) {
            if (failed) std::rethrow_exception(failed);
        });
        thread_ = std::thread([this] { context_.run(); });
    }
    double cpu_seconds() { return cpu_seconds_of(thread_); }
    void join() { thread_.join(); }

  private:
    relay::buffer_pool pool_;
    asio::io_context context_{BOOST_ASIO_CONCURRENCY_HINT_UNSAFE};
    std::thread thread_;
};

struct three_connections {
    tcp_pair left;   // application and client
    tcp_pair wire;   // client and server
    tcp_pair right;  // server and service
};

cost measure_ends(end_of_tunnel& client, end_of_tunnel& server, const three_connections& via,
                  std::chrono::milliseconds time) {
    traffic load(via.left.near, via.right.far);
    const cost found =
        measure(load, time, [&] { return client.cpu_seconds() + server.cpu_seconds(); });
    load.finish();
    client.join();
    server.join();
    return found;
}

// ---- with records ----

void start_tunnel(end_of_tunnel& end, int plain_fd, int wire_fd, session_end_state state,
                  const config::session_limits& limits) {
    stream_socket plain = end.adopt(plain_fd);
    auto writer = std::make_unique<relay::record_writer>(carrier::over_tcp(end.adopt(wire_fd)),
                                                         std::move(state.sealer));
    relay::established far{std::move(writer), std::move(state.opener), {}};
    auto tunnel =
        std::make_shared<relay::tunnel>(std::move(plain), std::move(far), limits, end.pool());
    end.run(tunnel->run(), tunnel);
}

// ---- without ----

// With the system calls of tunnel::seal_some and open_some: a buffer in parts on one side, as one
// run on the other. The direction down is not used.
class copier {
  public:
    copier(stream_socket from, stream_socket to, relay::buffer_pool& pool)
        : from_(std::move(from)), to_(std::move(to)), pool_(pool) {}

    awaitable<void> run() {
        bool ended = false;
        while (!ended) {
            const auto ec = co_await carrier::wait_readable(from_);
            if (ec) throw boost::system::system_error(ec);
            ended = co_await copy_available();
        }
        carrier::end_writing(to_);
        carrier::end_writing(from_);
    }

  private:
    awaitable<bool> copy_available() {
        const auto memory = pool_.take();
        for (unsigned round = 1;; ++round) {
            const auto got = carrier::try_read(from_, cut(*memory, relay::buffer::size));
            if (got.ec == asio::error::would_block) co_return false;
            if (got.ec == asio::error::eof) co_return true;
            if (got.ec) throw boost::system::system_error(got.ec);
            const auto ec = co_await carrier::write_all(to_, cut(*memory, got.size));
            if (ec) throw boost::system::system_error(ec);
            if (round % 2 == 0) co_await asio::post(carrier::use_awaitable);
        }
    }

    static std::span<iovec> cut(relay::buffer& in, std::size_t size) {
        std::size_t parts = 0;
        for (std::size_t at = 0; at < size; at += protocol::max_payload)
            in.parts[parts++] = {in.memory.data() + at, std::min(protocol::max_payload, size - at)};
        return std::span(in.parts).first(parts);
    }

    stream_socket from_;
    stream_socket to_;
    relay::buffer_pool& pool_;
};

void start_copier(end_of_tunnel& end, int from, int to) {
    auto both = std::make_shared<copier>(end.adopt(from), end.adopt(to), end.pool());
    end.run(both->run(), both);
}

}  // namespace

cost tunnel(std::chrono::milliseconds time) {
    const config::session_limits limits;
    const three_connections via;
    opened_session session;
    end_of_tunnel client;
    end_of_tunnel server;
    start_tunnel(client, via.left.far, via.wire.near, std::move(session.client), limits);
    start_tunnel(server, via.right.near, via.wire.far, std::move(session.server), limits);
    return measure_ends(client, server, via, time);
}

cost relay(std::chrono::milliseconds time) {
    const three_connections via;
    end_of_tunnel client;
    end_of_tunnel server;
    start_copier(client, via.left.far, via.wire.near);
    start_copier(server, via.wire.far, via.right.near);
    return measure_ends(client, server, via, time);
}

cost loopback(std::chrono::milliseconds time) {
    const tcp_pair direct;
    traffic load(direct.near, direct.far);
    return measure(load, time, [&] { return load.cpu_seconds(); });
}

}  // namespace culvert::ladder
