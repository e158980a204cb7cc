// A temporary folder with files, and short ways to load a configuration from it.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "config/load.hpp"

namespace culvert::tests {

// The key whose bytes are 1, 2, … 32.
inline constexpr std::string_view key_hex =
    "0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20";
inline constexpr std::string_view key_base64 = "AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA=";

// Ends with all that is in it.
class folder {
  public:
    folder();
    folder(const folder&) = delete;
    folder& operator=(const folder&) = delete;
    ~folder();

    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
    [[nodiscard]] std::filesystem::path operator/(std::string_view name) const {
        return path_ / name;
    }
    // Gives the path of the file.
    std::filesystem::path write(std::string_view name, std::string_view content,
                                mode_t mode = 0600) const;

  private:
    std::filesystem::path path_;
};

// The whole of a file; fails the test when there is none.
std::string content_of(const std::filesystem::path& file);

// Key files that the texts below may name: a.psk, b.key, clients.pub, clients.psk.
void write_keys(const folder& in);

// Parsed as t.conf of that folder.
config::loaded parse_in(const folder& in, std::string_view text);

// The diagnostics as they would be printed.
std::vector<std::string> texts_of(const config::loaded& loaded);

// With the keys of write_keys; `server_key` is one line for the server section, `client_keys` for
// the client's.
config::loaded parse_with(std::string_view server_line, std::string_view client_line);

// The text of the only diagnostic that such a line leads to, without FILE:LINE; "" when there is
// none, all of them when there are several.
std::string server_says(std::string_view line);
std::string client_says(std::string_view line);

}  // namespace culvert::tests
