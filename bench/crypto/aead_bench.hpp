// ChaCha20-Poly1305: every kernel of culvert and every peer, whole messages and pieces.
#pragma once

#include "bench/crypto/contender.hpp"
#include "bench/crypto/results.hpp"

namespace culvert::bench {

class aead_bench {
  public:
    aead_bench();
    void register_all();
    [[nodiscard]] std::vector<line> lines(const collector& from) const;
    [[nodiscard]] std::vector<bar> bars(const collector& from) const;

  private:
    work work_;
    contenders all_;
};

}  // namespace culvert::bench
