// The demo backend: takes connections and serves each as its request asks.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "bench/served.hpp"
#include "bench/units.hpp"
#include "bench/wire.hpp"
#include "config/endpoint.hpp"
#include "proxy/carrier/net.hpp"

namespace culvert::load {

struct serve_plan {
    config::endpoint listen;    // port 0: any free one
    std::optional<kind> fixed;  // the connections bring no request and get no verdict: echo, sink
                                // or source
    unsigned threads = 1;
    bool quiet = false;  // no line for a stream that arrived wrong
};

// Listens from its construction to its end, on threads of its own.
class backend {
  public:
    // Throws `failure` when it cannot listen, saying why.
    explicit backend(const serve_plan& plan);
    // Cuts what is still open.
    ~backend();

    // Where it listens, with the port that it got.
    [[nodiscard]] const config::endpoint& address() const noexcept { return address_; }
    [[nodiscard]] const load::served& served() const noexcept { return served_; }

  private:
    class lane;

    config::endpoint address_;
    load::served served_;
    std::vector<std::unique_ptr<lane>> lanes_;
    std::vector<std::thread> threads_;
};

}  // namespace culvert::load
