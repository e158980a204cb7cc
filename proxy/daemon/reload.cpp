#include "proxy/daemon/reload.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "config/load.hpp"
#include "proxy/observe/log.hpp"

namespace culvert::daemon {
namespace {

bool same_user(const std::optional<config::account>& a, const std::optional<config::account>& b) {
    return a.has_value() == b.has_value() && (!a || a->user == b->user);
}

void warn_of_fixed(const config::daemon_settings& running, const config::daemon_settings& wanted) {
    const auto warn_if = [](bool differs, const char* key) {
        if (differs)
            observe::log(observe::log_level::warning,
                         "reload: {} in [daemon] counts from the next start on", key);
    };
    warn_if(wanted.threads != running.threads, "threads");
    warn_if(!same_user(wanted.user, running.user), "user");
    warn_if(wanted.group != running.group, "group");
    warn_if(wanted.sandbox != running.sandbox, "sandbox");
    warn_if(!(wanted.control == running.control), "control");
    warn_if(wanted.log_format != running.log_format, "log-format");
    warn_if(wanted.admin != running.admin || wanted.admin_open != running.admin_open, "admin");
}

}  // namespace

std::optional<config::settings> read_again(const std::filesystem::path& file,
                                           const config::daemon_settings& running,
                                           std::vector<std::string>& mistakes) {
    if (running.sandbox == config::sandbox::strict) {
        mistakes.emplace_back(
            "sandbox = strict leaves nothing to read files with: culvert run --replace FILE starts "
            "another daemon in this one's place");
        return std::nullopt;
    }
    config::loaded read = config::load(file);
    for (const auto& said : read.diagnostics)
        if (said.severity == config::severity::error) mistakes.push_back(to_text(said));
    if (!read.ok()) return std::nullopt;
    warn_of_fixed(running, read.value.daemon);
    return std::move(read.value);
}

std::string advice_on(const std::vector<std::string>& mistakes) {
    const char* const denied = std::strerror(EACCES);
    const bool any =
        std::any_of(mistakes.begin(), mistakes.end(),
                    [denied](const std::string& text) { return text.find(denied) != text.npos; });
    if (!any) return {};
    return fmt::format(
        "the daemon has given up root's rights: it may read what user {} may, in the folders where "
        "its files were when it started, and listen on ports from 1024 on; culvert run --replace "
        "FILE starts another one in its place",
        ::geteuid());
}

}  // namespace culvert::daemon
