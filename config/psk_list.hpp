// The file that lists the clients of a server in psk mode: a name, a psk and rights a line.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "config/diagnostic.hpp"
#include "config/reason.hpp"
#include "config/settings.hpp"

namespace culvert::config {

inline constexpr std::size_t most_psks = 16;  // each is tried on a stranger's first bytes

struct psk_list {
    std::vector<named_client> holders;  // their keys are the marks of the psks
    std::vector<key> psks;              // of the holders, in their order
    std::vector<diagnostic> mistakes;   // with this file's own name and lines
};

// The same lines as in a list of clients, with a psk as keygen makes it in the place of the public
// key. Neither a name nor a psk may stand there twice. The mistakes show nothing of the file but
// the values of rights; no copy of a psk is left in memory.
psk_list parse_psk_list(std::string_view text, const std::filesystem::path& file);

// Refused like a key file: what everyone may read or write, too, and a file above 64 KiB.
result<psk_list> read_psk_list(const std::filesystem::path& file);

}  // namespace culvert::config
