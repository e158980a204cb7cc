#include "crypto/random.hpp"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

namespace culvert::crypto {

void fill_random(bytes out) noexcept {
    while (!out.empty()) {
        const ssize_t got = ::getrandom(out.data(), out.size(), 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) ::abort();
        out = out.subspan(static_cast<std::size_t>(got));
    }
}

}  // namespace culvert::crypto
