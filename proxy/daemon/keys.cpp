#include "proxy/daemon/keys.hpp"

#include <fmt/core.h>

#include "config/key_file.hpp"
#include "crypto/random.hpp"
#include "proxy/protocol/key_agreement.hpp"

namespace culvert::daemon {
namespace {

config::key random_key() {
    config::key made;
    crypto::fill_random(made.writable());
    return made;
}

int complain(const std::string& what) {
    fmt::print(stderr, "culvert: {}\n", what);
    return 2;
}

int write_key(const std::filesystem::path& file, const config::key& made) {
    const auto written = config::create_key_file(file, made);
    return written ? 0 : complain(written.error().text);
}

void print_public_key(const config::key& identity) {
    for (const unsigned byte : protocol::public_key_of(identity)) fmt::print("{:02x}", byte);
    fmt::print("\n");
}

}  // namespace

int make_psk(const std::filesystem::path& file) {
    return write_key(file, random_key());
}

int make_identity(const std::filesystem::path& file) {
    const config::key made = random_key();
    const int status = write_key(file, made);
    if (status == 0) print_public_key(made);
    return status;
}

int show_public_key(const std::filesystem::path& file) {
    const auto identity = config::read_secret_key(file);
    if (!identity) return complain(identity.error().text);
    print_public_key(*identity);
    return 0;
}

}  // namespace culvert::daemon
