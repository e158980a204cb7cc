// Opening and reading a regular file, and nothing but a regular file.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>

#include "config/reason.hpp"
#include "crypto/bytes.hpp"

namespace culvert::config {

// Owns a file descriptor.
class file_descriptor {
  public:
    explicit file_descriptor(int number) noexcept : number_(number) {}
    file_descriptor(file_descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    file_descriptor& operator=(file_descriptor&&) = delete;
    ~file_descriptor();

    [[nodiscard]] int number() const noexcept { return number_; }

  private:
    int number_;
};

struct regular_file {
    file_descriptor descriptor;
    mode_t mode;  // permission bits only
};

// None of the reasons here names the file.
reason system_reason(int error_number);

// Never waits: a FIFO, a device, a directory and a socket are refused.
result<regular_file> open_regular(const std::filesystem::path& path);

// Fills `out` as far as the file goes; gives the bytes read.
result<std::size_t> read_some(const regular_file& file, crypto::bytes out);

// The whole of a file that holds no secrets; larger than 16 MiB is refused.
result<std::string> read_text(const std::filesystem::path& path);

}  // namespace culvert::config
