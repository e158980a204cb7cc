// SHAKE, cSHAKE and KMAC, in pieces by any kernel, against one call of the portable one.
#include <utility>

#include "crypto/cshake.hpp"
#include "crypto/kernels/portable.hpp"
#include "crypto/kmac.hpp"
#include "crypto/shake.hpp"
#include "tests/fuzz/input.hpp"

namespace culvert::fuzz {
namespace {

using crypto::keccak_portable;

template <class Sponge>
void absorb(input& in, Sponge& sponge, bytes_view message) {
    in.in_pieces(message, [&](const buffer& piece) { sponge.absorb(piece); });
}

template <class Sponge>
void require_output(input& in, Sponge& sponge, bytes_view expected) {
    in.in_pieces(expected, [&](const buffer& piece) {
        buffer out(piece.size());
        sponge.squeeze(out);
        require(out == piece);
    });
}

// `by_kernel` and `portable` are the same function.
template <class Xof>
void compare(input& in, Xof by_kernel, Xof portable, bytes_view message) {
    buffer expected(in.up_to(1'000));
    portable.absorb(message);
    portable.squeeze(expected);
    absorb(in, by_kernel, message);
    require_output(in, by_kernel, expected);
    require(by_kernel.absorb(message) == expected.empty());
    by_kernel.reset();
    absorb(in, by_kernel, message);
    require_output(in, by_kernel, expected);
}

template <class Mac>
void compare_macs(input& in, const crypto::keccak_kernel& kernel, bytes_view s,
                  bytes_view message) {
    const buffer key = in.message(400), other_key = in.message(400);
    const typename Mac::customised custom(s, kernel), portable(s, keccak_portable);
    buffer expected(in.up_to(400)), made(expected.size()), second(33), xof_output(500);
    Mac reference(portable, key), other(portable, other_key);
    reference.absorb(message);
    other.absorb(s);
    Mac(reference).xof().squeeze(xof_output);
    std::move(reference).finish(expected);
    std::move(other).finish(second);

    Mac mac(custom, key);
    absorb(in, mac, message);
    auto stream = Mac(mac).xof();
    require_output(in, stream, xof_output);
    std::move(mac).finish(made);
    require(made == expected);
    buffer two_a(expected.size()), two_b(second.size());
    Mac::mac_two(custom, {key, message}, two_a, custom, {other_key, s}, two_b);
    require(two_a == expected && two_b == second);
}

template <std::size_t Rate>
void compare_all(input& in, const crypto::keccak_kernel& kernel) {
    const buffer n = in.message(300), s = in.message(300), message = in.message(3'000);
    using cshake = crypto::cshake<Rate>;
    compare(in, cshake(n, s, kernel), cshake(n, s, keccak_portable), message);
    using shake = crypto::shake<Rate>;
    compare<crypto::xof>(in, cshake({}, {}, kernel), shake(keccak_portable), message);
    compare_macs<crypto::kmac<Rate>>(in, kernel, s, message);
}

void run(input in) {
    const auto& kernel = in.kernel(crypto::keccak_kernels());
    if (in.flag()) {
        compare_all<crypto::xof::rate_128>(in, kernel);
    } else {
        compare_all<crypto::xof::rate_256>(in, kernel);
    }
}

}  // namespace
}  // namespace culvert::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    culvert::fuzz::run({data, size});
    return 0;
}
