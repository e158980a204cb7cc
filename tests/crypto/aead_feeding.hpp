// Messages driven through the piecewise AEADs.
#pragma once

#include <doctest/doctest.h>

#include <utility>

#include "tests/crypto/aead_cases.hpp"

namespace culvert::tests {

// The object fed in pieces of the given sizes, additional data first, in place.
template <class Object>
buffer feed(Object& object, const buffer& ad, const std::vector<std::size_t>& ad_sizes, buffer text,
            const std::vector<std::size_t>& sizes) {
    std::size_t at = 0;
    for (const std::size_t size : ad_sizes) {
        REQUIRE(object.add_ad(bytes_view(ad).subspan(at, size)) == crypto::status::ok);
        at += size;
    }
    at = 0;
    for (const std::size_t size : sizes) {
        const crypto::bytes piece = crypto::bytes(text).subspan(at, size);
        REQUIRE(object.update(piece, piece) == crypto::status::ok);
        at += size;
    }
    return text;
}

template <class Encryptor>
buffer tag_of(Encryptor encryptor) {
    buffer tag(16);
    std::move(encryptor).finish(crypto::bytes(tag).first<16>());
    return tag;
}

template <class Aead>
aead_case sealed_case(std::size_t text_size, std::size_t ad_size) {
    return Aead::oracle(counting_case(Aead::nonce_size, text_size, ad_size));
}

}  // namespace culvert::tests
