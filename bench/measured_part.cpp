#include "bench/measured_part.hpp"

#include <sys/resource.h>

#include <iostream>

namespace culvert::load {

double cpu_seconds_so_far() noexcept {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

void measured_part::begin() {
    const std::lock_guard held(mutex_);
    if (++begun_ != threads_) return;
    began_ = ended_ = carrier::clock::now();
    cpu_at_begin_ = cpu_at_end_ = cpu_seconds_so_far();
    tell("begin");
}

void measured_part::end() {
    const std::lock_guard held(mutex_);
    if (begun_ < threads_ || over_) return;
    over_ = true;
    ended_ = carrier::clock::now();
    cpu_at_end_ = cpu_seconds_so_far();
    tell("end");
}

void measured_part::tell(const char* line) const {
    if (tell_) std::cerr << line << std::endl;
}

}  // namespace culvert::load
