#include "tests/bench/free_port.hpp"

#include <unistd.h>

#include <random>

#include "bench/failure.hpp"
#include "bench/listener.hpp"

namespace culvert::load::testing {

config::endpoint free_address() {
    static std::mt19937 generator(std::random_device{}());
    std::uniform_int_distribution<int> ports(20'000, 32'000);
    for (;;) {
        const config::endpoint at{"127.0.0.1", static_cast<std::uint16_t>(ports(generator)), {}};
        try {
            ::close(listen_at(at).descriptor);
            return at;
        } catch (const failure&) {
            continue;  // taken
        }
    }
}

serve_plan on_free_port() {
    serve_plan plan;
    plan.listen = free_address();
    plan.quiet = true;
    return plan;
}

}  // namespace culvert::load::testing
