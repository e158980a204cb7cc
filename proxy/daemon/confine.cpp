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
                if (place.is_unix()) give_socket(place.unix_path, *options.user, group);
        become(*options.user, group);
    } else if (::geteuid() == 0) {
        log(log_level::info, "runs as root: name a user = in [daemon] that it shall become");
    }
    drop_capabilities();
    forbid_new_privileges();
}

std::string folder_of(const std::filesystem::path& file) {
    return std::filesystem::absolute(file).parent_path().native();
}

reachable places_of(const needs& sections, bool reloads) {
    reachable places{readable_folders(), {}, {dns}, reloads};
    // Not the files: whoever changes one most often puts another in its place.
    if (reloads)
        for (const auto& file : sections.files) places.read_only.push_back(folder_of(file));
    for (const auto& place : sections.listen)
        if (place.is_unix()) places.sockets.push_back(folder_of(place.unix_path));
    for (const auto& place : sections.connect)
        if (!place.is_unix()) places.connect.push_back(place.port);
    return places;
}

// Landlock first: its own calls are not among those that are left.
void enter_sandbox(const needs& sections, bool reloads) {
    const reachable places = places_of(sections, reloads);
    const int version = restrict_to(places);
    const bool filtered =
        allow_only_relay_calls({.unlink = !places.sockets.empty(), .listen = reloads});
    log(log_level::info, "confined: system calls {}, {} {}",
        filtered ? "filtered" : "not filtered, this kernel has no seccomp",
        reloads ? "files" : "files and ports",
        version > 0 ? fmt::format("by Landlock {}", version)
                    : "not restricted, this kernel has no Landlock");
}

}  // namespace

void confine(const config::daemon_settings& options, const needs& sections) {
    drop_rights(options, sections);
    if (options.sandbox == config::sandbox::off) {
        allow_dumps();
        log(log_level::info, "sandbox = off: not confined, and open to debuggers");
        return;
    }
    forbid_dumps();  // again: the kernel forgets it when the user changes
    if (built_in)
        enter_sandbox(sections, options.sandbox == config::sandbox::on);
    else
        log(log_level::info, "not confined: this build has no sandbox");
}

}  // namespace culvert::daemon
