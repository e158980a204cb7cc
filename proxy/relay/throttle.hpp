// What a session may move per second, where its client has a rate.
#pragma once

#include "proxy/carrier/net.hpp"
#include "proxy/relay/token_bucket.hpp"

namespace culvert::relay {

// One direction's share of its client's bucket. It takes a portion ahead of each read, and settles
// afterwards what the read has used of it.
class share {
  public:
    // The bucket outlives it. `rate` is in bytes/s.
    share(const carrier::executor& ex, token_bucket& bucket, std::uint64_t rate);
    share(const share&) = delete;
    share& operator=(const share&) = delete;
    ~share() { settle(0); }

    // Bytes that the next read may bring.
    [[nodiscard]] std::size_t portion() const noexcept { return portion_; }
    // From when on; asking again before the read changes nothing.
    [[nodiscard]] carrier::time_point ready(carrier::time_point now) noexcept;
    // After the read.
    void settle(std::size_t used) noexcept;

    carrier::timer pause;  // to wait until then

  private:
    [[nodiscard]] carrier::clock::duration cost(std::size_t bytes) const noexcept;

    token_bucket& bucket_;
    const std::uint64_t rate_;
    const std::size_t portion_;
    carrier::clock::duration taken_{0};
    carrier::time_point ready_{};
};

struct throttle {
    throttle(const carrier::executor& ex, token_bucket& to_tunnel, token_bucket& from_tunnel,
             std::uint64_t rate)
        : out(ex, to_tunnel, rate), in(ex, from_tunnel, rate) {}

    share out;  // plaintext to records
    share in;
};

}  // namespace culvert::relay
