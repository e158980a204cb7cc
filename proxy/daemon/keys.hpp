// The commands that make and show keys.
#pragma once

#include <filesystem>
#include <string>

namespace culvert::daemon {

// Both write a new file of mode 0600 and never touch one that exists. Return the exit status, 0 or
// 2; what went wrong stands on stderr.
int make_psk(const std::filesystem::path& file);
int make_identity(const std::filesystem::path& file);  // prints the public key on stdout

// Prints the public key of an identity file.
int show_public_key(const std::filesystem::path& file);

}  // namespace culvert::daemon
