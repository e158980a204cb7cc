// What the kernel knows of this process.
#pragma once

#include "proxy/observe/status.hpp"

namespace culvert::observe {

// Opens what it reads when it is made: a confined process could not any more.
class process_reader {
  public:
    process_reader() noexcept;
    process_reader(const process_reader&) = delete;
    process_reader& operator=(const process_reader&) = delete;
    ~process_reader();

    // What can't be found out is 0.
    [[nodiscard]] process_status read() const noexcept;

  private:
    int memory_;  // /proc/self/statm
    int files_;   // /proc/self/fd
};

}  // namespace culvert::observe
