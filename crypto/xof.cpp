#include "crypto/xof.hpp"

namespace culvert::crypto {

bool xof::absorb(bytes_view in) noexcept {
    if (squeezing_) return false;
    sponge_.absorb(in);
    return true;
}

void xof::squeeze(bytes out) noexcept {
    if (out.empty()) return;
    if (!squeezing_) sponge_.pad(suffix_);
    squeezing_ = true;
    sponge_.squeeze(out);
}

void xof::reset() noexcept {
    sponge_ = begin_;
    squeezing_ = false;
}

}  // namespace culvert::crypto
