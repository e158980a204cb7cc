// replay_cache against the plainest thing that does the same: a list that is searched.
#include "proxy/protocol/replay_cache.hpp"

#include <deque>

#include "tests/fuzz/input.hpp"

namespace culvert::fuzz {
namespace {

using protocol::replay_cache;
using verdict = replay_cache::verdict;
using salt = std::array<std::uint8_t, 16>;

class model {
  public:
    explicit model(std::size_t capacity) : capacity_(capacity) {}

    verdict insert(const salt& s, std::uint64_t expiry, std::uint64_t now) {
        while (!entries_.empty() && entries_.front().expiry + replay_cache::grace < now)
            entries_.pop_front();
        for (const entry& e : entries_)
            if (e.what == s) return verdict::replayed;
        const bool full = entries_.size() == capacity_;
        if (full) entries_.pop_front();
        entries_.push_back({s, expiry});
        return full ? verdict::fresh_with_eviction : verdict::fresh;
    }
    [[nodiscard]] std::size_t size() const { return entries_.size(); }

  private:
    struct entry {
        salt what;
        std::uint64_t expiry;
    };
    std::size_t capacity_;
    std::deque<entry> entries_;
};

void run(input in) {
    const std::size_t capacity = 1 + in.up_to(20);
    replay_cache cache(capacity);
    model expected(capacity);
    std::uint64_t now = 1'000;
    while (!in.used_up()) {
        // Few salts, so that they come again; alike but for one byte at the front or the end.
        salt s{};
        s[in.flag() ? 0 : 15] = static_cast<std::uint8_t>(in.up_to(31));
        now += in.up_to(3) == 0 ? in.up_to(200) : 0;
        if (in.up_to(15) == 0) now -= std::min<std::uint64_t>(now, in.up_to(200));  // set back
        const std::uint64_t expiry = now + in.up_to(240);
        require(cache.insert(s, expiry, now) == expected.insert(s, expiry, now));
        require(cache.size() == expected.size() && cache.size() <= capacity);
    }
}

}  // namespace
}  // namespace culvert::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    culvert::fuzz::run({data, size});
    return 0;
}
