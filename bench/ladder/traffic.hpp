// An application that writes and a service that reads, on threads of their own.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <thread>

namespace culvert::ladder {

// Two ends of a new TCP connection over the loopback. Throws std::system_error.
struct tcp_pair {
    tcp_pair();
    int near = -1;
    int far = -1;
};

// The processor time that a running thread has used.
double cpu_seconds_of(std::thread& thread);

class traffic {
  public:
    // Writes at `into` and reads at `out_of` until finish(); owns both.
    traffic(int into, int out_of);
    ~traffic() { finish(); }

    [[nodiscard]] std::uint64_t arrived() const noexcept { return arrived_; }
    [[nodiscard]] double cpu_seconds() { return cpu_seconds_of(writer_) + cpu_seconds_of(reader_); }

    // Ends the stream up, and when it has arrived the one down; returns when both have.
    void finish();

  private:
    void write_until_stopped(int fd);
    void read_to_end(int fd);

    std::atomic<bool> stopped_{false};
    std::atomic<std::uint64_t> arrived_{0};
    std::thread writer_;
    std::thread reader_;
};

}  // namespace culvert::ladder
