// The choice among kernels, with tables made for the purpose and with the real ones.
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>

#include "crypto/kernels/aead.hpp"
#include "crypto/kernels/chacha20.hpp"
#include "crypto/kernels/keccak.hpp"
#include "crypto/kernels/poly1305.hpp"
#include "crypto/kernels/report.hpp"
#include "tests/crypto/testing.hpp"

namespace culvert::tests {
namespace {

using crypto::kernel_warning;

struct fake_kernel {
    const char* name;
    bool (*supported)() noexcept;
    bool right;
};

bool yes() noexcept {
    return true;
}
bool no() noexcept {
    return false;
}
bool passes(const fake_kernel& kernel) noexcept {
    return kernel.right;
}

constexpr std::array table{
    fake_kernel{"foreign", no, true},
    fake_kernel{"broken", yes, false},
    fake_kernel{"good", yes, true},
    fake_kernel{"portable", yes, true},
};

auto choose(std::span<const fake_kernel> from, const char* forced) {
    return crypto::select_kernel<fake_kernel>(from, forced, passes);
}

template <class Kernel>
void check_real_table(std::span<const Kernel> kernels, const Kernel& best) {
    REQUIRE_FALSE(kernels.empty());
    CHECK(std::string_view(kernels.back().name) == "portable");
    CHECK(kernels.back().supported());
    CHECK(best.supported());
    for (const Kernel* kernel : runnable(kernels)) {
        CAPTURE(std::string(kernel->name));
        CHECK(passes_test(*kernel));
        CHECK(crypto::detail::find_kernel(kernels, kernel->name) == kernel);
    }
}

}  // namespace

TEST_CASE("the first kernel that the CPU supports is used, without a warning") {
    for (const char* forced : {static_cast<const char*>(nullptr), ""}) {
        const auto chosen = choose(std::span(table).subspan(2), forced);
        CHECK(std::string_view(chosen.kernel->name) == "good");
        CHECK(chosen.warning == kernel_warning::none);
        CHECK(std::string_view(chosen.refused).empty());
    }
}

TEST_CASE("a kernel with wrong answers is passed over with a warning") {
    const auto chosen = choose(table, nullptr);
    CHECK(std::string_view(chosen.kernel->name) == "good");
    CHECK(chosen.warning == kernel_warning::failed_test);
    CHECK(std::string_view(chosen.refused) == "broken");
}

TEST_CASE("the environment can name any kernel that works") {
    const auto chosen = choose(table, "portable");
    CHECK(std::string_view(chosen.kernel->name) == "portable");
    CHECK(chosen.warning == kernel_warning::none);
}

TEST_CASE("a name that cannot be used leads to a warning and the best kernel") {
    const struct {
        const char* name;
        kernel_warning warning;
    } cases[] = {
        {"misspelt", kernel_warning::unknown_name},
        {"foreign", kernel_warning::unsupported},
        {"broken", kernel_warning::failed_test},
    };
    for (const auto& [name, warning] : cases) {
        const auto chosen = choose(table, name);
        CHECK(std::string_view(chosen.kernel->name) == "good");
        CHECK(chosen.warning == warning);
        CHECK(std::string_view(chosen.refused) == name);
    }
}

TEST_CASE("every kernel of the build has a name of its own and passes its known-answer test") {
    check_real_table(crypto::aead_kernel_table(), crypto::best_aead_kernel());
    check_real_table(crypto::chacha20_kernels(), crypto::best_chacha20_kernel());
    check_real_table(crypto::poly1305_kernels(), crypto::best_poly1305_kernel());
    check_real_table(crypto::keccak_kernels(), crypto::best_keccak_kernel());
}

TEST_CASE("a kernel that is wrong does not pass its known-answer test") {
    crypto::chacha20_kernel chacha = crypto::chacha20_kernels().back();
    chacha.xor_blocks = [](crypto::chacha20_words& state, const std::uint8_t* in, std::uint8_t* out,
                           std::size_t blocks) noexcept {
        crypto::chacha20_kernels().back().xor_blocks(state, in, out, blocks);
        out[64 * blocks - 1] ^= 1;
    };
    CHECK_FALSE(passes_test(chacha));
    chacha.xor_blocks = [](crypto::chacha20_words& state, const std::uint8_t* in, std::uint8_t* out,
                           std::size_t blocks) noexcept {
        crypto::chacha20_kernels().back().xor_blocks(state, in, out, blocks);
        ++state[13];  // a carry out of the block counter
    };
    CHECK_FALSE(passes_test(chacha));

    crypto::poly1305_kernel poly = crypto::poly1305_kernels().back();
    poly.mac_blocks = [](crypto::poly1305_state& state, const std::uint8_t* in,
                         std::size_t blocks) noexcept {
        crypto::poly1305_kernels().back().mac_blocks(state, in, blocks - 1);
    };
    CHECK_FALSE(passes_test(poly));

    crypto::aead_kernel aead = crypto::aead_kernel_table().back();
    aead.authenticate = [](crypto::aead_state& state, const std::uint8_t* in,
                           std::size_t blocks) noexcept {
        crypto::aead_kernel_table().back().authenticate(state, in, blocks - 1);
    };
    CHECK_FALSE(passes_test(aead));
    aead = crypto::aead_kernel_table().back();
    aead.renew = [](crypto::aead_state& state, const std::uint8_t* pending,
                    std::uint8_t* stream) noexcept {
        crypto::aead_kernel_table().back().renew(state, pending, stream);
        stream[crypto::aead_run - 1] ^= 1;
    };
    CHECK_FALSE(passes_test(aead));

    crypto::keccak_kernel keccak = crypto::keccak_kernels().back();
    keccak.permute = [](crypto::keccak_lanes& lanes) noexcept { ++lanes[0]; };
    CHECK_FALSE(passes_test(keccak));
    keccak = crypto::keccak_kernels().back();
    keccak.permute_n = [](std::uint64_t* lanes, std::size_t states) noexcept {
        crypto::keccak_kernels().back().permute_n(lanes, states & ~std::size_t{1});
    };
    CHECK_FALSE(passes_test(keccak));
}

// CULVERT_TEST_KERNELS has all of them, as printed here: for runs that are about one kind of CPU.
TEST_CASE("the kernels in use are those that the run is meant for") {
    std::string in_use;
    for (const auto& choice : crypto::kernel_choices()) {
        if (!in_use.empty()) in_use += ' ';
        in_use += std::string(choice.primitive) + '=' + choice.kernel;
    }
    std::printf("CULVERT_TEST_KERNELS='%s'\n", in_use.c_str());
    const char* meant = std::getenv("CULVERT_TEST_KERNELS");
    if (meant != nullptr) CHECK(in_use == std::string(meant));
}

TEST_CASE("the report names the kernels in use") {
    const auto choices = crypto::kernel_choices();
    CHECK(std::string_view(choices[0].primitive) == "chacha20");
    CHECK(choices[0].kernel == crypto::best_chacha20_kernel().name);
    CHECK(choices[1].kernel == crypto::best_poly1305_kernel().name);
    CHECK(choices[2].kernel == crypto::best_keccak_kernel().name);
    CHECK(std::string_view(choices[3].primitive) == "chacha20poly1305");
    CHECK(choices[3].kernel == crypto::best_aead_kernel().name);
    CHECK(std::string_view(crypto::describe(kernel_warning::none)).empty());
    CHECK_FALSE(std::string_view(crypto::describe(kernel_warning::unknown_name)).empty());
}

}  // namespace culvert::tests
