#include "bench/plan.hpp"

#include "config/connect.hpp"

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
    return tunnel ? to_text(tunnel->connect.front()) : plain.text();
}

}  // namespace culvert::load
