#include "bench/plan.hpp"

namespace culvert::load {

const char* text_of(mode of) noexcept {
    switch (of) {
        case mode::bulk:
            return "bulk";
        case mode::latency:
            return "latency";
        case mode::churn:
            return "churn";
        case mode::idle:
            return "idle";
    }
    return "unknown";
}

const char* text_of(direction of) noexcept {
    switch (of) {
        case direction::up:
            return "up";
        case direction::down:
            return "down";
        case direction::both:
            return "both";
    }
    return "unknown";
}

std::string destination::text() const {
    if (!tunnel) return plain.text();
    const bool is_tcp = tunnel->carrier == config::carrier::tcp;
    return (is_tcp ? "tcp://" : "ws://") + tunnel->connect.text() + (is_tcp ? "" : tunnel->path);
}

}  // namespace culvert::load
