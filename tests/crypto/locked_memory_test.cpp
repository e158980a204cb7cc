// Where long-lived secrets lie, as the kernel sees it, and what is left when they go.
#include "crypto/locked_memory.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "crypto/secret.hpp"

namespace culvert::tests {
namespace {

using crypto::locked;
using crypto::secret;
namespace locked_memory = crypto::locked_memory;

// An emulator's kernel would be asked about the emulator's memory; sanitizers make nothing of
// mlock.
#if defined(CULVERT_EMULATED) || defined(CULVERT_SANITIZED)
constexpr bool no_real_kernel = true;
#else
constexpr bool no_real_kernel = false;
#endif

secret<32> filled(std::uint8_t with) {
    secret<32> out;
    std::ranges::fill(out.writable(), with);
    return out;
}

bool all_zero(crypto::bytes_view memory) {
    return std::ranges::all_of(memory, [](std::uint8_t b) { return b == 0; });
}

// The flags of the mapping that an address lies in, as the kernel names them: " lo dd ".
std::string flags_of(const void* address) {
    const auto wanted = reinterpret_cast<std::uintptr_t>(address);
    std::ifstream maps("/proc/self/smaps");
    bool inside = false;
    for (std::string line; std::getline(maps, line);) {
        std::uintptr_t first = 0;
        std::uintptr_t last = 0;
        char dash = 0;
        std::istringstream words(line);
        if (words >> std::hex >> first >> dash >> last && dash == '-')
            inside = wanted >= first && wanted < last;
        if (inside && line.starts_with("VmFlags:")) return line.substr(8) + " ";
    }
    return {};
}

// Ends with 0 if `check` holds in a child of ours.
template <class Check>
int in_child(Check check) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(check() ? 0 : 1);
    int status = -1;
    ::waitpid(child, &status, 0);
    return status;
}

TEST_CASE("a secret that moves leaves nothing behind, and lies in locked memory") {
    secret<32> before = filled(7);
    const locked<secret<32>> kept(std::move(before));
    CHECK(before.is_zero());
    CHECK(*kept == filled(7));
    const auto slot = locked_memory::slot_at(&*kept);
    REQUIRE(slot.size() == locked_memory::slot_size);
    CHECK(std::ranges::equal(slot.first<32>(), filled(7).view()));
}

TEST_CASE("a slot is wiped when its secret ends, and given away again") {
    const void* first = nullptr;
    {
        const locked<secret<32>> kept(filled(7));
        first = &*kept;
    }
    const auto slot = locked_memory::slot_at(first);
    // The start of a free slot says where the next one is.
    CHECK(all_zero(slot.subspan(sizeof(void*))));
    const locked<secret<96>> next{secret<96>()};
    CHECK(&*next == first);
    CHECK(next->is_zero());
}

TEST_CASE("empty ones own nothing; a move hands over, an assignment ends what was there") {
    locked<secret<32>> a;
    CHECK_FALSE(a);
    locked<secret<32>> b(filled(1));
    const auto* where = &*b;
    a = std::move(b);
    CHECK_FALSE(b);
    CHECK(&*a == where);
    locked<secret<32>> c(filled(2));
    const auto* old = &*c;
    c = std::move(a);
    CHECK(*c == filled(1));
    CHECK(all_zero(locked_memory::slot_at(old).subspan(sizeof(void*))));
    c = locked<secret<32>>();
    CHECK_FALSE(c);
    CHECK(locked_memory::slot_at(&c).empty());
}

TEST_CASE("no two secrets share a slot, whichever thread takes them") {
    constexpr int threads = 4;
    constexpr int each = 1'000;  // more than a chunk holds
    std::vector<std::vector<locked<secret<32>>>> taken(threads);
    std::vector<std::thread> running;
    for (int t = 0; t < threads; ++t)
        running.emplace_back([&mine = taken[static_cast<std::size_t>(t)], t] {
            for (int i = 0; i < each; ++i) {
                mine.emplace_back(filled(static_cast<std::uint8_t>(t + 1)));
                if (i % 3 == 0) mine.erase(mine.begin());
            }
        });
    for (auto& thread : running) thread.join();
    std::set<const void*> places;
    for (std::size_t t = 0; t < taken.size(); ++t)
        for (const auto& one : taken[t]) {
            CHECK(*one == filled(static_cast<std::uint8_t>(t + 1)));
            CHECK(places.insert(&*one).second);
        }
}

TEST_CASE("the kernel keeps it out of swap, core dumps and forks" * doctest::skip(no_real_kernel)) {
    const locked<secret<32>> kept(filled(7));
    const std::string flags = flags_of(&*kept);
    REQUIRE_FALSE(flags.empty());
    CHECK(flags.find(" dd ") != std::string::npos);
    CHECK(flags.find(" wf ") != std::string::npos);
    CHECK((flags.find(" lo ") != std::string::npos) == locked_memory::all_locked());
    CHECK(in_child([&] { return kept->is_zero(); }) == 0);
}

TEST_CASE("where nothing may be locked, secrets are kept all the same, and that is said" *
          doctest::skip(no_real_kernel)) {
    // A child gives up what root could lock beyond any limit.
    const int status = in_child([] {
        const rlimit none{0, 0};
        if (::setrlimit(RLIMIT_MEMLOCK, &none) != 0) return false;
        if (::geteuid() == 0 && ::setuid(65'534) != 0) return false;
        std::vector<locked<secret<32>>> many;
        for (int i = 0; i < 2'000; ++i) many.emplace_back(filled(9));
        return !locked_memory::all_locked() && *many.front() == filled(9) &&
               flags_of(&*many.back()).find(" dd ") != std::string::npos;
    });
    CHECK(status == 0);
}

}  // namespace
}  // namespace culvert::tests
