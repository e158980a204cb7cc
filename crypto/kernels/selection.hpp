// Chooses one kernel from a table: the seam between the portable fronts and the code for one CPU.
//
// A table lists the kernels of one primitive, best first and portable last. The first one that the
// CPU supports and that passes a known-answer test is used. Every kernel does whole runs of whole
// blocks; tails, nonces and limits belong to the fronts.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>

namespace culvert::crypto {

enum class kernel_warning : std::uint8_t {
    none,
    unknown_name,  // the environment names a kernel that the table does not have
    unsupported,   // the environment names a kernel that this CPU cannot run
    failed_test,   // a kernel that the CPU supports gave a wrong answer
};

template <class Kernel>
struct kernel_selection {
    const Kernel* kernel;    // never null
    kernel_warning warning;  // the first thing that went wrong while choosing
    const char* refused;     // the name that the warning is about, "" without one
};

namespace detail {

template <class Kernel>
const Kernel* find_kernel(std::span<const Kernel> table, const char* name) noexcept {
    for (const Kernel& kernel : table) {
        if (std::strcmp(kernel.name, name) == 0) return &kernel;
    }
    return nullptr;
}

template <class Kernel>
class kernel_selector {
  public:
    explicit kernel_selector(bool (*passes_test)(const Kernel&)) noexcept
        : passes_test_(passes_test) {}

    bool accept(const Kernel& kernel) noexcept {
        if (passes_test_(kernel)) {
            chosen_.kernel = &kernel;
            return true;
        }
        warn(kernel_warning::failed_test, kernel.name);
        return false;
    }
    bool accept_forced(std::span<const Kernel> table, const char* name) noexcept {
        if (name == nullptr || *name == '\0') return false;
        const Kernel* kernel = find_kernel(table, name);
        if (kernel == nullptr) return warn(kernel_warning::unknown_name, name);
        if (!kernel->supported()) return warn(kernel_warning::unsupported, name);
        return accept(*kernel);
    }
    [[nodiscard]] kernel_selection<Kernel> chosen() const noexcept { return chosen_; }

  private:
    bool warn(kernel_warning warning, const char* refused) noexcept {
        if (chosen_.warning == kernel_warning::none) {
            chosen_.warning = warning;
            chosen_.refused = refused;
        }
        return false;
    }

    bool (*passes_test_)(const Kernel&);
    kernel_selection<Kernel> chosen_{nullptr, kernel_warning::none, ""};
};

}  // namespace detail

// Takes the kernel named `forced` (null or empty: none named) if it runs and passes, else the best
// that does. Ends the process when none passes: there is no right answer to go on with. `forced`
// must outlive the result.
template <class Kernel>
kernel_selection<Kernel> select_kernel(std::span<const Kernel> table, const char* forced,
                                       bool (*passes_test)(const Kernel&)) noexcept {
    detail::kernel_selector<Kernel> selector(passes_test);
    if (selector.accept_forced(table, forced)) return selector.chosen();
    for (const Kernel& kernel : table) {
        if (kernel.supported() && selector.accept(kernel)) return selector.chosen();
    }
    std::abort();
}

}  // namespace culvert::crypto
