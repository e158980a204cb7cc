#include <algorithm>

#include "proxy/watch/asking.hpp"
#include "proxy/watch/commands.hpp"
#include "proxy/watch/fetch.hpp"
#include "proxy/watch/view.hpp"

namespace culvert::watch {

int status(const std::vector<std::string>& words) {
    return complaining([&] {
        std::vector<std::string> rest = words;
        const bool as_json = std::erase(rest, "--json") > 0;
        if (rest.size() > 1) throw no_place("status takes one file or address, and --json");
        const config::endpoint from = find_admin(rest.empty() ? usual_file : rest.front());
        const std::string told = fetch(from, status_path);
        const reading now = read_status(told);
        if (as_json)
            fmt::print("{}\n", told);
        else
            print(summary(now));
        return now.ready && !now.draining ? 0 : 1;
    });
}

}  // namespace culvert::watch
