// One thread with its event loop and the sessions that live on it.
#pragma once

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <functional>
#include <map>
#include <set>
#include <thread>

#include "proxy/daemon/descriptor.hpp"
#include "proxy/relay/session_pool.hpp"

namespace culvert::daemon {

class worker {
  public:
    // `number`: of its thread, for the counters.
    explicit worker(std::size_t number = 0)
        : number_(number), keep_running_(context_.get_executor()) {}
    ~worker() { join(); }
    worker(const worker&) = delete;
    worker& operator=(const worker&) = delete;

    // Sessions are kept ready here for the section's applications, once started. From any thread.
    void add_pool(std::shared_ptr<const relay::client_context> section, std::size_t size);
    // No more of them are made; those that are ready take leave. From any thread.
    void drop_pool(const std::shared_ptr<const relay::client_context>& section);

    // For what listens on this worker's thread.
    [[nodiscard]] carrier::executor executor() noexcept { return context_.get_executor(); }

    void start();
    // Ends the loop; what still runs is destroyed with the worker, its sockets being reset.
    void stop() { context_.stop(); }
    void join();

    using maker = std::function<std::shared_ptr<relay::session>(carrier::stream_socket,
                                                                relay::thread_context)>;
    // Takes over a connected socket from any thread: makes its session here and runs it, at once
    // when this is the worker's thread.
    // `section` is what log lines begin with; `ended` is called when the session is gone, or when
    // none came about. Throws std::bad_alloc.
    void adopt(descriptor fd, std::string section, maker make, std::function<void()> ended);

    // On the worker's thread: its pool for the section, nullptr if it has none.
    [[nodiscard]] std::shared_ptr<relay::session_pool> pool_for(
        const relay::client_context& section) const;

    // From any thread, for every session of this worker. A drain ends the spare sessions too.
    void drain_sessions();
    void stop_sessions(relay::end_reason why);
    // Those of clients that the section, read anew, knows no more.
    void stop_removed(const std::shared_ptr<const relay::server_context>& section);

    // From any thread: `action` is called on the worker's own, soon unless it hangs.
    void call(std::function<void()> action);

    // Sessions that were adopted and have not ended.
    [[nodiscard]] std::size_t load() const noexcept { return load_; }

    // Whether pools that were told to stop have spare sessions that take leave still.
    [[nodiscard]] bool pools_leaving() const noexcept { return pools_leaving_ > 0; }

  private:
    struct running;

    void run_session(descriptor fd, const maker& make, running started) noexcept;
    void finish(const running& gone, const std::exception_ptr& why);
    static void report(const running& gone, const std::exception_ptr& why);
    [[nodiscard]] relay::thread_context thread() noexcept {
        return {context_.get_executor(), buffers_, &keys_, &relay::system_resolver(), number_};
    }
    void let_go(std::shared_ptr<relay::session_pool> pool);
    template <class Action>
    void for_each_session(Action action);

    const std::size_t number_;
    relay::buffer_pool buffers_;  // outlives the loop: suspended sessions hold buffers
    std::atomic<std::size_t> load_{0};
    std::atomic<std::size_t> pools_leaving_{0};
    carrier::asio::io_context context_{1};
    relay::key_maker keys_{context_.get_executor()};
    std::set<std::shared_ptr<relay::session>> sessions_;  // their sockets need the loop
    std::map<const relay::client_context*, std::shared_ptr<relay::session_pool>> pools_;
    carrier::asio::executor_work_guard<carrier::executor> keep_running_;
    std::thread thread_;
};

}  // namespace culvert::daemon
