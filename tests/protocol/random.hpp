// Random bytes that a test can dictate or repeat.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <random>
#include <stdexcept>
#include <vector>

#include "proxy/protocol/handshake.hpp"

namespace culvert::tests {

// Hands out the given bytes in order, and no more.
class scripted_random final : public protocol::random_source {
  public:
    scripted_random(std::initializer_list<std::vector<std::uint8_t>> parts) {
        for (const auto& part : parts) script_.insert(script_.end(), part.begin(), part.end());
    }
    void fill(crypto::bytes out) override {
        if (script_.size() - used_ < out.size()) throw std::out_of_range("the script is too short");
        std::copy_n(script_.data() + used_, out.size(), out.data());
        used_ += out.size();
    }
    [[nodiscard]] bool used_up() const { return used_ == script_.size(); }

  private:
    std::vector<std::uint8_t> script_;
    std::size_t used_ = 0;
};

// The same bytes for the same seed.
class seeded_random final : public protocol::random_source {
  public:
    explicit seeded_random(std::uint64_t seed) : engine_(seed) {}
    void fill(crypto::bytes out) override {
        for (auto& byte : out) byte = static_cast<std::uint8_t>(engine_() >> 32);
    }
    std::size_t up_to(std::size_t most) {
        return std::uniform_int_distribution<std::size_t>(0, most)(engine_);
    }
    std::vector<std::uint8_t> bytes(std::size_t size) {
        std::vector<std::uint8_t> out(size);
        fill(out);
        return out;
    }

  private:
    std::mt19937_64 engine_;
};

inline std::uint64_t fresh_seed() {
    return std::random_device{}();
}

}  // namespace culvert::tests
