// What the daemon knows of a running session, whichever end it is.
#pragma once

#include "proxy/observe/registry.hpp"
#include "proxy/relay/buffer_pool.hpp"
#include "proxy/relay/key_maker.hpp"
#include "proxy/relay/resolver.hpp"
#include "proxy/relay/tunnel.hpp"

namespace culvert::relay {

// What the sessions of one thread share.
struct thread_context {
    carrier::executor executor;
    buffer_pool& buffers;
    key_maker* keys = nullptr;
    resolver* names = &system_resolver();
    std::size_t number = 0;  // of the thread, for its counters

    // nullptr: there is no stock.
    [[nodiscard]] protocol::key_stock* ephemeral_keys() const {
        return keys == nullptr ? nullptr : keys->stock();
    }
};

class server_context;

class session {
  public:
    virtual ~session() = default;

    // The whole life of the session. Returns when the streams of both directions were delivered;
    // throws session_end otherwise. Run once, on the session's thread.
    virtual awaitable<void> run() = 0;

    // Ends run() soon; on the session's thread.
    virtual void stop(end_reason why) = 0;

    // The daemon drains: a session on which nothing was opened yet ends, the others go on.
    virtual void drain() = 0;

    // Who, and for which service.
    [[nodiscard]] virtual observe::session_facts facts() const = 0;
    // Where its end is to be counted.
    [[nodiscard]] virtual observe::section_counters& counters() const = 0;
    // Whether `section`, read anew, still knows the client of this session by the same name and
    // key. True as well for sessions of other sections, and of those who have proved nothing yet.
    [[nodiscard]] virtual bool known_to(const server_context& /*section*/) const { return true; }
    [[nodiscard]] virtual traffic moved() const = 0;
    // How a line of the log should stand out: strangers are many and harmless.
    [[nodiscard]] virtual bool proven() const = 0;
    // It has ended, or ends, without having been opened, and nobody is to blame: a spare session.
    [[nodiscard]] virtual bool unused() const { return false; }
};

}  // namespace culvert::relay
