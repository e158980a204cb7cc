// encryptor and decryptor, a message in pieces by any kernel, against the message sealed as a
// whole.
#include <utility>

#include "tests/fuzz/aead.hpp"

namespace culvert::fuzz {
namespace {

// What `object` makes of one piece: in place, or apart after a refused call that changes nothing.
template <class Object>
buffer updated(input& in, Object& object, buffer piece) {
    if (in.flag()) {
        require(object.update(piece, piece) == status::ok);
        return piece;
    }
    buffer out(piece.size());
    if (!out.empty()) {
        const auto short_output = crypto::bytes(out).first(out.size() - 1);
        require(object.update(piece, short_output) == status::short_output);
        require(out == buffer(out.size()));
    }
    require(object.update(piece, out) == status::ok);
    return out;
}

template <class Object>
buffer processed(input& in, Object& object, bytes_view ad, bytes_view text) {
    add_ad(in, object, ad);
    buffer all;
    in.in_pieces(text, [&](buffer piece) {
        const buffer out = updated(in, object, std::move(piece));
        all.insert(all.end(), out.begin(), out.end());
    });
    return all;
}

void run(input in) {
    const auto& kernel = in.kernel(crypto::aead_kernel_table());
    sealed_message m(in);

    aead::encryptor encryptor(m.key, m.nonce, kernel);
    require(processed(in, encryptor, m.ad, m.text) == m.sealed);
    std::array<std::uint8_t, 16> tag{};
    std::move(encryptor).finish(tag);
    require(tag == m.tag);

    // One call of the same kernel, in place.
    buffer sealed = m.text;
    require(aead::seal(m.key, m.nonce, m.ad, sealed, sealed, tag, kernel));
    require(sealed == m.sealed && tag == m.tag);

    const bool changed = tamper(in, m.sealed) || tamper(in, m.ad) || tamper(in, m.tag);
    aead::decryptor decryptor(m.key, m.nonce, kernel);
    const buffer opened = processed(in, decryptor, m.ad, m.sealed);
    require(std::move(decryptor).finish(m.tag) == !changed);
    require(changed || opened == m.text);
    require(aead::open(m.key, m.nonce, m.ad, m.sealed, m.tag, m.sealed, kernel) == !changed);
    require(m.sealed == (changed ? buffer(m.text.size()) : m.text));
}

}  // namespace
}  // namespace culvert::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    culvert::fuzz::run({data, size});
    return 0;
}
