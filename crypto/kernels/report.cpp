#include "crypto/kernels/report.hpp"

#include "crypto/kernels/aead.hpp"
#include "crypto/kernels/chacha20.hpp"
#include "crypto/kernels/keccak.hpp"
#include "crypto/kernels/poly1305.hpp"

namespace culvert::crypto {
namespace {

template <class Kernel>
kernel_choice choice(const char* primitive, const kernel_selection<Kernel>& selection) noexcept {
    return {primitive, selection.kernel->name, selection.warning, selection.refused};
}

}  // namespace

std::array<kernel_choice, 4> kernel_choices() noexcept {
    return {choice("chacha20", chacha20_selection()), choice("poly1305", poly1305_selection()),
            choice("keccak", keccak_selection()), choice("chacha20poly1305", aead_selection())};
}

const char* describe(kernel_warning warning) noexcept {
    switch (warning) {
        case kernel_warning::none:
            return "";
        case kernel_warning::unknown_name:
            return "no kernel of that name";
        case kernel_warning::unsupported:
            return "not supported by this CPU";
        case kernel_warning::failed_test:
            return "failed its known-answer test";
    }
    return "";
}

}  // namespace culvert::crypto
