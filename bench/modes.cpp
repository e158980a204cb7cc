#include "bench/modes.hpp"

namespace culvert::load {

void start_mode(worker& on) {
    switch (on.plan().mode) {
        case mode::bulk:
            return start_bulk(on);
        case mode::latency:
            return start_latency(on);
        case mode::churn:
            return start_churn(on);
        case mode::idle:
            return start_idle(on);
    }
}

}  // namespace culvert::load
