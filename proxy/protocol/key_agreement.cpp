#include "proxy/protocol/key_agreement.hpp"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>

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

// libcrypto keeps private keys in its secure heap, which is locked and not dumped, if there is one
// before the first key is made. Without it, or once it is full, they are wiped all the same.
void begin_secure_heap() {
    constexpr std::size_t heap_size = 16 * 1024;  // one key a thread at a time
    constexpr std::size_t smallest = 32;
    static const int begun = CRYPTO_secure_malloc_init(heap_size, smallest);
    static_cast<void>(begun);
}

// Of this thread: libcrypto looks the algorithm up once, not for each key.
EVP_PKEY_CTX* importing() {
    begin_secure_heap();
    thread_local const evp_context context = [] {
        evp_context made(EVP_PKEY_CTX_new_from_name(nullptr, "X25519", nullptr));
        require(made != nullptr && EVP_PKEY_fromdata_init(made.get()) == 1);
        return made;
    }();
    return context.get();
}

OSSL_PARAM octets(const char* name, crypto::block_view<32> value) {
    // fromdata copies it; the parameter's type is for both ways.
    return OSSL_PARAM_construct_octet_string(name, const_cast<std::uint8_t*>(value.data()),
                                             value.size());
}

evp_key public_from(const public_key& shared) {
    std::array<OSSL_PARAM, 2> values{octets(OSSL_PKEY_PARAM_PUB_KEY, shared),
                                     OSSL_PARAM_construct_end()};
    EVP_PKEY* key = nullptr;
    require(EVP_PKEY_fromdata(importing(), &key, EVP_PKEY_PUBLIC_KEY, values.data()) == 1);
    return evp_key(key);
}

// With both halves given libcrypto does not compute the public one again, which would cost as much
// as the Diffie-Hellman operation itself.
evp_key pair_from(const key_pair& pair) {
    std::array<OSSL_PARAM, 3> values{octets(OSSL_PKEY_PARAM_PUB_KEY, pair.shared),
                                     octets(OSSL_PKEY_PARAM_PRIV_KEY, pair.secret->view()),
                                     OSSL_PARAM_construct_end()};
    EVP_PKEY* key = nullptr;
    require(EVP_PKEY_fromdata(importing(), &key, EVP_PKEY_KEYPAIR, values.data()) == 1);
    return evp_key(key);
}

}  // namespace

public_key public_key_of(const private_key& secret) {
    begin_secure_heap();
    const auto view = secret.view();
    const evp_key key(
        EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, nullptr, view.data(), view.size()));
    public_key out{};
    std::size_t size = out.size();
    require(key != nullptr && EVP_PKEY_get_raw_public_key(key.get(), out.data(), &size) == 1);
    return out;
}

key_pair key_pair_of(private_key secret) {
    const public_key shared = public_key_of(secret);
    return {crypto::locked(std::move(secret)), shared};
}

shared_secret agree(const key_pair& ours, const public_key& theirs) {
    const evp_key own = pair_from(ours);
    const evp_key peer = public_from(theirs);
    const evp_context context(EVP_PKEY_CTX_new(own.get(), nullptr));
    // There is nothing to be validated in an X25519 key that the derivation does not see.
    constexpr int no_validation = 0;
    require(context != nullptr && EVP_PKEY_derive_init(context.get()) == 1 &&
            EVP_PKEY_derive_set_peer_ex(context.get(), peer.get(), no_validation) == 1);
    shared_secret out;
    std::size_t size = out.view().size();
    // libcrypto refuses the all-zero result by failing; a zeroed value says the same to the caller.
    if (EVP_PKEY_derive(context.get(), out.writable().data(), &size) != 1) return shared_secret{};
    return out;
}

}  // namespace culvert::protocol
