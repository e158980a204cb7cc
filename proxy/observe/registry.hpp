// Where the counters of all sections of the configuration are kept, whatever a reload does to them.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/observe/counters.hpp"
#include "proxy/observe/status.hpp"

namespace culvert::observe {

// The last sessions that ended, of all sections.
class recent_sessions {
  public:
    static constexpr std::size_t most = 50;

    void add(const session_report& ended);
    [[nodiscard]] std::vector<session_report> newest_first() const;

  private:
    mutable std::mutex mutex_;
    std::deque<session_report> kept_;
};

// How far the connections of a server have come.
struct connection_counters {
    counter accepted;
    counter proven;
    counter gone_unproven;
    counter opened;
    counter closed;  // of those that were opened
    counter began_waiting;
    counter ended_waiting;
};

// What is counted for one section. `thread` is the number of the thread that calls; a reference to
// its counters may be kept for as long as the section, and only that thread may add. The rest is
// for any thread: it takes a lock, and happens at most once a connection.
class section_counters {
  public:
    explicit section_counters(section_info about = {}, std::size_t threads = 1,
                              std::shared_ptr<recent_sessions> recent = nullptr);

    // The names come from a configuration, never from outside: each has its numbers for good.
    [[nodiscard]] traffic_counters& service(const std::string& name, std::size_t thread);
    [[nodiscard]] traffic_counters& client(const std::string& name, std::size_t thread);
    [[nodiscard]] connection_counters& connections(std::size_t thread) noexcept {
        return connections_.of(thread);
    }
    [[nodiscard]] handshake_counters& handshakes(std::size_t thread) noexcept {
        return handshakes_.of(thread);
    }

    // A session of somebody who has shown a key, or of an application.
    void ended(const session_report& report);
    // One that did not come about.
    void refused(std::string_view reason);
    void handshake_failed(std::string_view reason);
    void accept_failed() noexcept { ++accept_errors_; }
    void evicted(std::uint64_t strangers) noexcept { evicted_ += strangers; }
    void pool_ready(int more) noexcept { pool_ready_ += more; }
    void pool_failed() noexcept { ++pool_failures_; }

    // A reload has changed what the section says of itself.
    void describe(section_info about);
    [[nodiscard]] section_status read() const;

  private:
    using traffic = per_thread<traffic_counters>;
    using named_traffic = std::map<std::string, traffic, std::less<>>;

    traffic_counters& row(named_traffic& of, const std::string& name, std::size_t thread);
    void read_connections(section_status& into) const;

    const std::size_t threads_;
    const std::shared_ptr<recent_sessions> recent_;
    per_thread<connection_counters> connections_;
    per_thread<handshake_counters> handshakes_;
    std::atomic<std::uint64_t> accept_errors_{0};
    std::atomic<std::uint64_t> evicted_{0};
    std::atomic<std::uint64_t> pool_failures_{0};
    std::atomic<std::int64_t> pool_ready_{0};

    mutable std::mutex mutex_;  // of what follows
    section_info about_;
    named_traffic services_;
    named_traffic clients_;
    std::map<std::string, end_count, std::less<>> ends_;
    std::map<std::string, std::uint64_t, std::less<>> handshakes_failed_;
};

// All sections. From any thread.
class registry {
  public:
    explicit registry(std::size_t threads) : threads_(threads) {}

    // The counters of the section of this kind and name: those that it has had before, if it had.
    // Nobody is told of a new one before it is published.
    [[nodiscard]] std::shared_ptr<section_counters> section(const section_info& about);

    // What the configuration says now, in its order. Sections that it does not name any more are
    // left out once their last session has ended.
    void publish(std::vector<section_info> all);

    // Fills in sections and recent.
    void read(status& into);

  private:
    struct entry {
        std::string section;
        std::shared_ptr<section_counters> counters;
        bool named = false;  // by the configuration
    };

    entry& find(const section_info& about);

    const std::size_t threads_;
    const std::shared_ptr<recent_sessions> recent_ = std::make_shared<recent_sessions>();
    std::mutex mutex_;
    std::vector<entry> entries_;
};

}  // namespace culvert::observe
