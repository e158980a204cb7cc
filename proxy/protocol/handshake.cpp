#include "proxy/protocol/handshake.hpp"

#include <algorithm>

#include "crypto/random.hpp"

namespace culvert::protocol {
namespace {

class kernel_random final : public random_source {
    void fill(bytes out) override { crypto::fill_random(out); }
};

bool all_zero(bytes_view in) noexcept {
    return std::all_of(in.begin(), in.end(), [](std::uint8_t b) { return b == 0; });
}

}  // namespace

random_source& system_random() {
    static kernel_random instance;
    return instance;
}

void hello::write(block<hello_size> out) const noexcept {
    std::fill(out.begin(), out.end(), std::uint8_t{0});
    crypto::store64_le(out.data(), time);
    crypto::store16_le(out.data() + 8, pad_length);
}

std::optional<hello> hello::read(block_view<hello_size> in) noexcept {
    const hello out{crypto::load64_le(in.data()), crypto::load16_le(in.data() + 8)};
    if (out.pad_length > max_pad || !all_zero(in.last<6>())) return std::nullopt;
    return out;
}

void write_pad_length(block<16> out, std::uint16_t pad_length) noexcept {
    std::fill(out.begin(), out.end(), std::uint8_t{0});
    crypto::store16_le(out.data(), pad_length);
}

std::optional<std::uint16_t> read_pad_length(block_view<16> in) noexcept {
    const std::uint16_t length = crypto::load16_le(in.data());
    if (length > max_pad || !all_zero(in.last<14>())) return std::nullopt;
    return length;
}

}  // namespace culvert::protocol
