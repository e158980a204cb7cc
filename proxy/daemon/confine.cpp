#include "proxy/daemon/confine.hpp"

#include <unistd.h>

#include <filesystem>
#include <iterator>
#include <system_error>

#include "proxy/daemon/landlock.hpp"
#include "proxy/daemon/memory.hpp"
#include "proxy/daemon/privileges.hpp"
#include "proxy/daemon/seccomp.hpp"
#include "proxy/observe/log.hpp"

namespace culvert::daemon {
namespace {

using observe::log;
using observe::log_level;

#ifdef CULVERT_SANDBOX
constexpr bool built_in = true;
#else
constexpr bool built_in = false;
#endif

constexpr std::uint16_t dns = 53;

// What name lookups read, and where the libraries are that they may load. The folders, not the
// files: those are replaced when the machine changes its network.
constexpr const char* lookup_folders[] = {"/etc",
                                          "/lib",
                                          "/lib64",
                                          "/usr/lib",
                                          "/usr/lib64",
                                          "/usr/local/lib",
                                          "/usr/share/zoneinfo",
                                          "/run/systemd/resolve",
                                          "/run/resolvconf",
                                          "/run/NetworkManager",
                                          "/run/nscd"};

// These may lead elsewhere.
constexpr const char* lookup_files[] = {"/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf",
                                        "/etc/localtime"};

std::vector<std::string> readable_folders() {
    std::vector<std::string> folders(std::begin(lookup_folders), std::end(lookup_folders));
    for (const char* const file : lookup_files) {
        std::error_code missing;
        const auto leads_to = std::filesystem::canonical(file, missing);
        if (!missing) folders.push_back(leads_to.parent_path().native());
    }
    return folders;
}

void drop_rights(const config::daemon_settings& options, const needs& sections) {
    if (options.user) {
        const auto group = options.group.value_or(options.user->group);
        if (::geteuid() == 0)
            for (const auto& place : sections.listen)
                if (place.is_unix())
                    give_socket(place.unix_path, place.access.user.value_or(options.user->user),
                                place.access.group.value_or(group));
        become(*options.user, group);
    } else if (::geteuid() == 0) {
        log(log_level::info, "runs as root: name a user = in [daemon] that it shall become");
    }
    drop_capabilities();
    forbid_new_privileges();
}

// Reload, once there is one, needs more: the folders of the configuration and the keys here, the
// right to listen here and in the filter.
reachable places_of(const needs& sections) {
    reachable places{readable_folders(), {}, {dns}};
    for (const auto& place : sections.listen)
        if (place.is_unix())
            places.removable.push_back(
                std::filesystem::absolute(place.unix_path).parent_path().native());
    for (const auto& place : sections.connect)
        if (!place.is_unix()) places.connect.push_back(place.port);
    return places;
}

// Landlock first: its own calls are not among those that are left.
void enter_sandbox(const needs& sections) {
    const reachable places = places_of(sections);
    const int version = restrict_to(places);
    const bool filtered = allow_only_relay_calls({.unlink = !places.removable.empty()});
    log(log_level::info, "confined: system calls {}, files and ports {}",
        filtered ? "filtered" : "not filtered, this kernel has no seccomp",
        version > 0 ? fmt::format("by Landlock {}", version)
                    : "not restricted, this kernel has no Landlock");
}

}  // namespace

void confine(const config::daemon_settings& options, const needs& sections) {
    drop_rights(options, sections);
    if (!options.sandbox) {
        allow_dumps();
        log(log_level::info, "sandbox = off: not confined, and open to debuggers");
        return;
    }
    forbid_dumps();  // again: the kernel forgets it when the user changes
    if (built_in)
        enter_sandbox(sections);
    else
        log(log_level::info, "not confined: this build has no sandbox");
}

}  // namespace culvert::daemon
