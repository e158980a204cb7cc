// A folder with key files for configurations to name. Gone when the program ends.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "config/key_file.hpp"
#include "tests/fuzz/input.hpp"

namespace culvert::fuzz {

class key_folder {
  public:
    key_folder() {
        std::string made =
            (std::filesystem::temp_directory_path() / "culvert-fuzz-XXXXXX").native();
        require(::mkdtemp(made.data()) != nullptr);
        path_ = made;
        add_key("psk", 1);
        add_key("id", 2);
        const std::string line = "laptop " + std::string(64, '3') + " rate=1M\n";
        std::ofstream(path_ / "clients") << line;
        const auto psks =
            file_with({reinterpret_cast<const std::uint8_t*>(line.data()), line.size()});
        std::filesystem::rename(psks, path_ / "psks");
    }
    key_folder(const key_folder&) = delete;
    ~key_folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

    // A file of mode 0600 that holds these bytes.
    [[nodiscard]] std::filesystem::path file_with(bytes_view contents) const {
        const auto path = path_ / "contents";
        std::ofstream out(path, std::ios::binary | std::ios::trunc);
        out.write(reinterpret_cast<const char*>(contents.data()),
                  static_cast<std::streamsize>(contents.size()));
        out.close();
        std::filesystem::permissions(
            path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
        return path;
    }

  private:
    void add_key(const char* name, std::uint8_t fill) {
        const std::vector<std::uint8_t> raw(32, fill);
        const config::key key(bytes_view(raw).first<32>());
        require(config::create_key_file(path_ / name, key).has_value());
    }

    std::filesystem::path path_;
};

inline const key_folder& folder() {
    static const key_folder made;
    return made;
}

}  // namespace culvert::fuzz
