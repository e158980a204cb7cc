#include "bench/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace culvert::load {

progress::progress() : terminal_(::isatty(STDERR_FILENO) == 1) {}

void progress::show(const totals& now) {
    const std::string text = line(++second_, before_, now);
    fmt::print(stderr, "{}{}{}", terminal_ ? "\r" : "", text, terminal_ ? "\x1b[K" : "\n");
    std::fflush(stderr);
    before_ = now;
}

void progress::finish() {
    if (terminal_ && second_ > 0) fmt::print(stderr, "\n");
}

std::string progress::line(unsigned second, const totals& before, const totals& now) {
    return fmt::format(
        "{:4} s   up {:8.1f} MiB/s   down {:8.1f} MiB/s   {:8} requests/s   {:5} open   {} failed",
        second, in_mebibytes(now.sent - before.sent), in_mebibytes(now.received - before.received),
        now.requests - before.requests, now.open, now.failures);
}

}  // namespace culvert::load
