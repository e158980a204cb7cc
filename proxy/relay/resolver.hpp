// What addresses a name has, asked of the system without holding anybody up.
#pragma once

#include <boost/asio/ip/address.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "proxy/carrier/net.hpp"

namespace culvert::relay {

using ip_addresses = std::vector<carrier::asio::ip::address>;

struct resolved {
    carrier::error_code ec;
    std::shared_ptr<const ip_addresses> addresses;  // not empty, unless there is an error
};

// For all threads. Lookups run on threads of their own: one for each name that is being looked up,
// however many wait for it, and at most `threads` of them. They are never waited for: one that
// hangs holds up nobody, and outlives the resolver if it must.
//
// Names are configured, so they are few, and what is known of them is kept: an answer is used for
// `fresh`, and from half of that on the next one is asked for at the same time. An older answer
// waits for a new one, but not longer than `patience` from when that was asked for; and when the
// lookup fails, or takes longer, the last good answer goes on to be used.
class resolver {
  public:
    // Looks a name up, for as long as that takes, on any thread.
    using lookup = std::function<resolved(const std::string& name)>;
    struct times {
        carrier::clock::duration fresh = std::chrono::seconds{10};
        carrier::clock::duration patience = std::chrono::seconds{1};
        carrier::clock::duration failure = std::chrono::seconds{1};  // before it is tried again
        std::size_t threads = 16;
    };

    explicit resolver(lookup how);
    resolver(lookup how, times limits);
    ~resolver();
    resolver(const resolver&) = delete;
    resolver& operator=(const resolver&) = delete;

    // One who wants to know a name's addresses. `executor` is that of its thread; the resolver
    // outlives it.
    class query;

  private:
    class shared_state;
    const std::shared_ptr<shared_state> state_;  // the lookups have a share
};

class resolver::query {
  public:
    query(const carrier::executor& ex, resolver& names, std::string name);
    query(const query&) = delete;
    query& operator=(const query&) = delete;
    ~query();

    // Once. asio::error::operation_aborted after cancel().
    carrier::awaitable<resolved> run();
    void cancel();

  private:
    friend class resolver::shared_state;
    struct waiter;

    const std::shared_ptr<shared_state> state_;
    const std::shared_ptr<waiter> waiter_;
};

// getaddrinfo: the hosts file, search domains and whatever else this system is set up for.
[[nodiscard]] resolved look_up(const std::string& name);

// The one that asks the system; it lives as long as the process.
[[nodiscard]] resolver& system_resolver();

}  // namespace culvert::relay
