// An open file of the process, closed by whoever has it last.
#pragma once

#include <unistd.h>

#include <utility>

namespace culvert::daemon {

class descriptor {
  public:
    explicit descriptor(int fd) noexcept : fd_(fd) {}
    descriptor(descriptor&& other) noexcept : fd_(other.release()) {}
    descriptor& operator=(descriptor&& other) noexcept {
        const descriptor before(std::exchange(fd_, other.release()));
        return *this;
    }
    ~descriptor() {
        if (fd_ >= 0) ::close(fd_);
    }

    [[nodiscard]] int get() const noexcept { return fd_; }
    [[nodiscard]] int release() noexcept { return std::exchange(fd_, -1); }

  private:
    int fd_;
};

}  // namespace culvert::daemon
