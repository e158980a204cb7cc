#include "proxy/protocol/key_agreement.hpp"

#include <openssl/evp.h>

#include <memory>
#include <stdexcept>
#include <utility>

namespace culvert::protocol {
namespace {

struct key_deleter {
    void operator()(EVP_PKEY* key) const noexcept { EVP_PKEY_free(key); }
};
struct context_deleter {
    void operator()(EVP_PKEY_CTX* context) const noexcept { EVP_PKEY_CTX_free(context); }
};
using evp_key = std::unique_ptr<EVP_PKEY, key_deleter>;
using evp_context = std::unique_ptr<EVP_PKEY_CTX, context_deleter>;

// libcrypto fails here only for lack of memory or a build without X25519.
void require(bool ok) {
    if (!ok) throw std::runtime_error("libcrypto: X25519 is not available");
}

evp_key private_from(const private_key& secret) {
    const auto view = secret.view();
    evp_key key(EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, nullptr, view.data(), view.size()));
    require(key != nullptr);
    return key;
}

}  // namespace

public_key public_key_of(const private_key& secret) {
    public_key out{};
    std::size_t size = out.size();
    require(EVP_PKEY_get_raw_public_key(private_from(secret).get(), out.data(), &size) == 1);
    return out;
}

key_pair key_pair_of(private_key secret) {
    const public_key shared = public_key_of(secret);
    return {std::move(secret), shared};
}

shared_secret agree(const private_key& ours, const public_key& theirs) {
    const evp_key own = private_from(ours);
    const evp_key peer(
        EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, nullptr, theirs.data(), theirs.size()));
    require(peer != nullptr);
    const evp_context context(EVP_PKEY_CTX_new(own.get(), nullptr));
    require(context != nullptr && EVP_PKEY_derive_init(context.get()) == 1 &&
            EVP_PKEY_derive_set_peer(context.get(), peer.get()) == 1);
    shared_secret out;
    std::size_t size = out.view().size();
    // libcrypto refuses the all-zero result by failing; a zeroed value says the same to the caller.
    if (EVP_PKEY_derive(context.get(), out.writable().data(), &size) != 1) return shared_secret{};
    return out;
}

}  // namespace culvert::protocol
