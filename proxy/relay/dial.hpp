// The client's way to the other end: name, TCP, carrier, handshake.
#pragma once

#include <functional>
#include <optional>

#include "config/settings.hpp"
#include "proxy/observe/counters.hpp"
#include "proxy/protocol/client_handshake.hpp"
#include "proxy/relay/cancellation.hpp"
#include "proxy/relay/established.hpp"
#include "proxy/relay/resolver.hpp"

namespace culvert::relay {

enum class dial_stage : std::uint8_t { resolve, connect, carrier, handshake, open };
[[nodiscard]] const char* text_of(dial_stage stage) noexcept;

// The handshake's constants of a client section.
[[nodiscard]] protocol::client_keys keys_of(const config::client_settings& settings);

// What dial() tells as it gets on: a stage that has been passed, and what there is to say of it.
using dial_progress = std::function<void(dial_stage passed, const std::string& detail)>;

// What a dial makes use of; all of it outlives the call.
struct dial_means {
    resolver* names = &system_resolver();
    protocol::key_stock* stock = nullptr;           // if there is one
    cancellation* cancel = nullptr;                 // the same
    const dial_progress* passed = nullptr;          // the same
    observe::handshake_counters* counts = nullptr;  // the same
    const config::uplink* to = nullptr;             // else the first one of the section
    std::optional<clock::duration> connect_time{};  // else the section's connect-timeout
};

// Connects and shakes hands; the server has not heard of a service yet. `settings` and `keys`
// outlive the call. Throws session_end, whose detail says where it stopped and why: connect_failed,
// no_answer, or, where the other end has given a wrong answer, handshake_failed.
awaitable<established> dial(executor ex, const config::client_settings& settings,
                            const protocol::client_keys& keys, dial_means with);

// Names the service that the session is for.
awaitable<void> open_service(established& session, const std::string& service);

// The one text that users see for every way in which no valid message 2 came.
[[nodiscard]] const char* no_valid_answer() noexcept;

}  // namespace culvert::relay
