#include "proxy/watch/place.hpp"

#include <filesystem>

#include "config/load.hpp"
#include "config/quote.hpp"
#include "proxy/watch/failure.hpp"

namespace culvert::watch {
namespace {

using config::endpoint;
using config::quote;

// Whoever listens on all addresses is to be reached at the loopback.
endpoint reachable(endpoint place) {
    if (place.host == "0.0.0.0") place.host = "127.0.0.1";
    if (place.host == "::") place.host = "::1";
    return place;
}

// Other mistakes of the file don't matter: its keys, for one, may not be the reader's to read.
endpoint admin_of(const std::string& file) {
    const config::loaded loaded = config::load(file);
    if (loaded.value.daemon.admin) return reachable(*loaded.value.daemon.admin);
    for (const auto& said : loaded.diagnostics)
        if (said.line == 0) throw no_place(to_text(said));  // the file itself can't be read
    throw no_place(file +
                   ": [daemon] has no key 'admin', so the daemon tells nobody how it is: add "
                   "admin = 127.0.0.1:7780, or admin = unix:PATH");
}

std::string without_scheme(std::string url) {
    constexpr std::string_view scheme = "http://";
    if (!url.starts_with(scheme)) return url;
    url.erase(0, scheme.size());
    if (url.ends_with('/')) url.pop_back();
    return url;
}

}  // namespace

endpoint find_admin(const std::string& word) {
    std::error_code unknown;
    if (word == usual_file || std::filesystem::exists(word, unknown)) return admin_of(word);
    const auto place =
        config::parse_listen_or_unix(without_scheme(word), std::filesystem::current_path());
    if (place) return reachable(*place);
    throw no_place("there is no file " + quote(word) +
                   ", and it is no address: write FILE, HOST:PORT, http://HOST:PORT or unix:PATH");
}

}  // namespace culvert::watch
