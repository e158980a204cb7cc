#include "config/key_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <system_error>

#include "config/file.hpp"
#include "config/key_text.hpp"

namespace culvert::config {
namespace {

constexpr std::size_t largest_file = 1024;  // a key, and white space around it
constexpr mode_t of_everyone = S_IROTH | S_IWOTH;

std::string octal(mode_t mode) {
    std::string text = "0000";
    for (std::size_t i = text.size(); i-- > 0; mode >>= 3) {
        text[i] = static_cast<char>('0' + (mode & 7));
    }
    return text;
}

reason about(const std::filesystem::path& path, const std::string& what) {
    return reason{path.native() + ": " + what};
}

std::string advice(const std::filesystem::path& path) {
    std::error_code error;
    const bool is_missing =
        std::filesystem::status(path, error).type() == std::filesystem::file_type::not_found;
    return is_missing ? "; culvert keygen makes key files" : "";
}

std::string_view without_frame(std::string_view text) noexcept {
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    constexpr std::string_view blanks = " \t\r\n";
    if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
    const std::size_t first = text.find_first_not_of(blanks);
    if (first == text.npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) + 1 - first);
}

result<void> write_all(int descriptor, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(descriptor, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return system_reason(errno);
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
}

result<void> fill_key_file(int descriptor, const key& to_write) {
    const crypto::secret<64> hex = to_hex(to_write);
    const std::string_view text(reinterpret_cast<const char*>(hex.view().data()),
                                hex.view().size());
    // The umask may have taken more than the mode of the open asked for.
    if (::fchmod(descriptor, S_IRUSR | S_IWUSR) != 0) return system_reason(errno);
    if (const auto done = write_all(descriptor, text); !done) return done;
    if (const auto done = write_all(descriptor, "\n"); !done) return done;
    if (::fsync(descriptor) != 0) return system_reason(errno);
    return {};
}

// The new name is on the disk when its folder is. Some file systems cannot do this for a folder;
// the key itself is safe by then.
void flush_folder(const std::filesystem::path& path) noexcept {
    const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
    const file_descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (descriptor.number() >= 0) ::fsync(descriptor.number());
}

}  // namespace

result<std::size_t> read_secret_file(const std::filesystem::path& path, crypto::bytes out) {
    const result<regular_file> file = open_regular(path);
    if (!file) return about(path, file.error().text + advice(path));
    if ((file->mode & of_everyone) != 0) {
        return about(path, "is open to everyone (mode " + octal(file->mode) + "): chmod 600 it");
    }
    const result<std::size_t> size = read_some(*file, out);
    if (!size) return about(path, size.error().text);
    if (*size == out.size()) return about(path, "is too long for a key file");
    return *size;
}

result<key> read_secret_key(const std::filesystem::path& path) {
    crypto::secret<largest_file + 1> content;  // wiped when it ends
    const result<std::size_t> size = read_secret_file(path, content.writable());
    if (!size) return size.error();
    const std::string_view text(reinterpret_cast<const char*>(content.view().data()), *size);
    result<key> parsed = parse_secret_key(without_frame(text));
    if (!parsed) return about(path, parsed.error().text);
    return parsed;
}

result<void> create_key_file(const std::filesystem::path& path, const key& to_write) {
    const file_descriptor descriptor(::open(
        path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (descriptor.number() < 0 && errno == EEXIST) {
        return about(path, "exists already, and a key is never overwritten");
    }
    if (descriptor.number() < 0) return about(path, system_reason(errno).text);
    const result<void> done = fill_key_file(descriptor.number(), to_write);
    if (!done) {
        ::unlink(path.c_str());
        return about(path, done.error().text);
    }
    flush_folder(path);
    return {};
}

}  // namespace culvert::config
