#include "config/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <system_error>

namespace culvert::config {
namespace {

constexpr std::size_t largest_text = std::size_t{16} << 20;

}  // namespace

file_descriptor::~file_descriptor() {
    if (number_ >= 0) ::close(number_);
}

reason system_reason(int error_number) {
    return reason{std::generic_category().message(error_number)};
}

result<regular_file> open_regular(const std::filesystem::path& path) {
    if (path.native().find('\0') != std::string::npos) return reason{"the path holds a NUL byte"};
    // O_NONBLOCK: the open of a FIFO would wait for its writer.
    file_descriptor descriptor(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
    if (descriptor.number() < 0) return system_reason(errno);
    struct stat status {};
    if (::fstat(descriptor.number(), &status) != 0) return system_reason(errno);
    if (S_ISDIR(status.st_mode)) return reason{"is a directory, not a file"};
    if (!S_ISREG(status.st_mode)) return reason{"is not a regular file"};
    return regular_file{std::move(descriptor), status.st_mode & 07777U};
}

result<std::size_t> read_some(const regular_file& file, crypto::bytes out) {
    std::size_t filled = 0;
    while (filled < out.size()) {
        const ssize_t got =
            ::read(file.descriptor.number(), out.data() + filled, out.size() - filled);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return system_reason(errno);
        if (got == 0) break;
        filled += static_cast<std::size_t>(got);
    }
    return filled;
}

result<std::string> read_text(const std::filesystem::path& path) {
    const result<regular_file> file = open_regular(path);
    if (!file) return file.error();
    std::string text;
    std::array<std::uint8_t, 4096> piece{};
    while (true) {
        const result<std::size_t> got = read_some(*file, piece);
        if (!got) return got.error();
        text.append(piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(*got));
        if (*got < piece.size()) return {boost::system::in_place_value, std::move(text)};
        if (text.size() > largest_text) return reason{"is larger than 16 MiB"};
    }
}

}  // namespace culvert::config
