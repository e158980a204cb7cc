#include "tests/crypto/aead_cases.hpp"

#include <sodium.h>

#include "tests/support/vector_file.hpp"

namespace culvert::tests {

aead_case short_nonce::oracle(aead_case c) {
    c.ciphertext.resize(c.plaintext.size());
    c.tag.resize(16);
    crypto_aead_chacha20poly1305_ietf_encrypt_detached(
        address(c.ciphertext), c.tag.data(), nullptr, address(bytes_view(c.plaintext)),
        c.plaintext.size(), address(bytes_view(c.ad)), c.ad.size(), nullptr, c.nonce.data(),
        c.key.data());
    return c;
}

aead_case long_nonce::oracle(aead_case c) {
    c.ciphertext.resize(c.plaintext.size());
    c.tag.resize(16);
    crypto_aead_xchacha20poly1305_ietf_encrypt_detached(
        address(c.ciphertext), c.tag.data(), nullptr, address(bytes_view(c.plaintext)),
        c.plaintext.size(), address(bytes_view(c.ad)), c.ad.size(), nullptr, c.nonce.data(),
        c.key.data());
    return c;
}

std::vector<crypto::aead_kernel> aead_kernel_sets() {
    std::vector<crypto::aead_kernel> kernels;
    for (const auto* kernel : runnable(crypto::aead_kernel_table())) kernels.push_back(*kernel);
    return kernels;
}

std::vector<aead_case> plain_cases(std::string_view path, std::string_view test) {
    std::vector<aead_case> cases;
    for (const vector_record& record : read_vectors(path)) {
        if (record.text("test") != test) continue;
        cases.push_back({record.bytes("key"), record.bytes("nonce"), record.bytes("aad"),
                         record.bytes("plaintext"), record.bytes("ciphertext"),
                         record.bytes("tag")});
    }
    return cases;
}

std::vector<aead_case> wycheproof_cases(std::string_view path, std::size_t nonce_size) {
    std::vector<aead_case> cases;
    for (const vector_record& record : read_vectors(path)) {
        const std::string& result = record.text("result");
        if (result != "valid" && result != "invalid") throw std::runtime_error("result: " + result);
        if (record.bytes("iv").size() != nonce_size) {
            // Nonces of other sizes do not compile; the file must expect them to fail.
            if (result != "invalid") throw std::runtime_error("valid record with an odd nonce");
            continue;
        }
        cases.push_back({record.bytes("key"), record.bytes("iv"), record.bytes("aad"),
                         record.bytes("msg"), record.bytes("ct"), record.bytes("tag"),
                         result == "valid"});
    }
    return cases;
}

std::vector<aead_case> boringssl_cases(std::string_view path) {
    std::vector<aead_case> cases;
    for (const vector_record& record : read_vectors(path)) {
        cases.push_back({record.bytes("KEY"), record.bytes("NONCE"), record.bytes("AD"),
                         record.bytes("IN"), record.bytes("CT"), record.bytes("TAG")});
    }
    return cases;
}

aead_case counting_case(std::size_t nonce_size, std::size_t text_size, std::size_t ad_size) {
    aead_case c{counting(32), buffer(nonce_size), buffer(ad_size), counting(text_size), {}, {}};
    for (std::size_t i = 0; i < ad_size; ++i) c.ad[i] = static_cast<std::uint8_t>(255 - i);
    return c;
}

aead_case random_aead_case(random_source& random, std::size_t nonce_size, std::size_t text_size,
                           std::size_t ad_size) {
    return {random.bytes(32),
            random.bytes(nonce_size),
            random.bytes(ad_size),
            random.bytes(text_size),
            {},
            {}};
}

}  // namespace culvert::tests
