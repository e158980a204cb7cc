#include "crypto/locked_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>

#include "crypto/secret.hpp"

namespace culvert::crypto::locked_memory {
namespace {

constexpr std::size_t chunk_size = 64 * 1024;  // of pages that hold slots
constexpr std::size_t slots_a_chunk = chunk_size / slot_size;

struct chunk {
    std::uint8_t* slots;
    chunk* before;
};

// A free slot holds nothing but the way to the next.
struct free_slot {
    free_slot* next;
};

// Pages of their own between two that fault. nullptr when there are none to be had.
std::uint8_t* map_guarded() noexcept {
    const auto guard = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    void* const all = ::mmap(nullptr, chunk_size + 2 * guard, PROT_NONE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED) return nullptr;
    auto* const inside = static_cast<std::uint8_t*>(all) + guard;
    if (::mprotect(inside, chunk_size, PROT_READ | PROT_WRITE) == 0) return inside;
    ::munmap(all, chunk_size + 2 * guard);
    return nullptr;
}

// Never given back to the kernel: it lasts as long as the process, and so do the chunks.
class arena {
  public:
    static arena& instance() noexcept {
        static arena one;
        return one;
    }

    void* take() {
        const std::scoped_lock lock(mutex_);
        if (free_ == nullptr) grow();
        free_slot* const taken = free_;
        free_ = taken->next;
        taken->next = nullptr;  // all zero now
        return taken;
    }

    void give_back(void* slot) noexcept {
        wipe({static_cast<std::uint8_t*>(slot), slot_size});
        const std::scoped_lock lock(mutex_);
        free_ = new (slot) free_slot{free_};
    }

    bool all_locked() noexcept {
        const std::scoped_lock lock(mutex_);
        return all_locked_;
    }

    bytes_view slot_at(const void* address) noexcept {
        const std::scoped_lock lock(mutex_);
        const auto* const at = static_cast<const std::uint8_t*>(address);
        for (const chunk* c = newest_; c != nullptr; c = c->before) {
            if (at < c->slots || at >= c->slots + slots_a_chunk * slot_size) continue;
            const auto offset = static_cast<std::size_t>(at - c->slots);
            return {c->slots + offset / slot_size * slot_size, slot_size};
        }
        return {};
    }

  private:
    void grow() {
        std::uint8_t* const memory = map_guarded();
        if (memory == nullptr) throw std::bad_alloc();
        if (::mlock(memory, chunk_size) != 0) all_locked_ = false;
        ::madvise(memory, chunk_size, MADV_DONTDUMP);
        ::madvise(memory, chunk_size, MADV_WIPEONFORK);
        for (std::size_t i = slots_a_chunk; i-- > 1;)
            free_ = new (memory + i * slot_size) free_slot{free_};
        // The first slot is the chunk's own entry.
        newest_ = new (memory) chunk{memory, newest_};
    }

    std::mutex mutex_;
    free_slot* free_ = nullptr;
    chunk* newest_ = nullptr;
    bool all_locked_ = true;
};

}  // namespace

void* take() {
    return arena::instance().take();
}

void give_back(void* slot) noexcept {
    arena::instance().give_back(slot);
}

bool all_locked() noexcept {
    return arena::instance().all_locked();
}

bytes_view slot_at(const void* address) noexcept {
    return arena::instance().slot_at(address);
}

}  // namespace culvert::crypto::locked_memory
