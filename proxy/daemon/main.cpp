// The command line.
#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "config/help.hpp"
#include "config/load.hpp"
#include "config/nearest.hpp"
#include "proxy/daemon/commander.hpp"
#include "proxy/daemon/daemon.hpp"
#include "proxy/daemon/keys.hpp"
#include "proxy/daemon/memory.hpp"
#include "proxy/daemon/probe.hpp"
#include "proxy/observe/log.hpp"
#include "proxy/watch/commands.hpp"

namespace {

using namespace culvert;
using arguments = std::vector<std::string>;

constexpr int usage_error = 2;

constexpr auto usage = R"(culvert: an encrypted tunnel between two hosts

  culvert run [--replace] FILE   the daemon, in the foreground; logs to stderr. With --replace it
                                 takes over from the one that runs, which drains
  culvert reload FILE            has the running daemon read its file again
  culvert check FILE             reports every mistake of a configuration file
  culvert keygen psk FILE        makes a pre-shared key for both ends
  culvert keygen static FILE     makes a key pair, prints the public key
  culvert pubkey FILE            prints the public key of such a file
  culvert probe FILE SECTION     tries a client section and says how far it comes
  culvert status [--json] [AT]   how a running daemon is; AT: its FILE, HOST:PORT or unix:PATH,
                                 of the key `admin`; without, /etc/culvert/culvert.conf
  culvert top [AT]               the same, every second, until q is typed
  culvert version
  culvert help [config]          this text, or every key of the configuration file

The signals SIGINT and SIGTERM let running sessions end first; a second one ends them at once.
SIGHUP has the daemon read its file again, as reload does; reload and --replace find it by the file's
control = unix:PATH in [daemon].
Exit status: 0 good, 1 something failed while running, 2 wrong usage, configuration or key file.
)";

int complain(const std::string& what) {
    fmt::print(stderr, "culvert: {}\n", what);
    return usage_error;
}

// Prints what is to be said about the file; false when it can't be used.
bool report(const config::loaded& loaded) {
    for (const auto& said : loaded.diagnostics) fmt::print(stderr, "{}\n", to_text(said));
    return loaded.ok();
}

int run(const arguments& args) {
    const bool replace = args[0] == "--replace";
    if (replace != (args.size() == 2))
        return complain("run takes FILE, or --replace FILE; see `culvert help`");
    std::signal(SIGPIPE, SIG_IGN);
    observe::never_wait_for_readers();
    daemon::raise_locked_memory_limit();
    const std::string& file = args.back();
    config::loaded loaded = config::load(file);
    if (loaded.ok() && loaded.value.daemon.log_format == config::log_format::json)
        observe::set_log_format(observe::log_format::json);
    for (const auto& said : loaded.diagnostics) observe::write_plain(to_text(said));
    if (!loaded.ok()) return usage_error;
    return daemon::run(std::move(loaded.value), {file, replace});
}

int reload(const arguments& args) {
    const config::loaded loaded = config::load(args[0]);
    if (!report(loaded)) return usage_error;
    const config::endpoint& control = loaded.value.daemon.control;
    if (!control.is_set())
        return complain(args[0] +
                        " has no control = unix:PATH in [daemon] to find the daemon by; a SIGHUP "
                        "does the same");
    auto running = daemon::commander::reach(control.unix_path);
    if (!running) {
        fmt::print(stderr, "culvert: no daemon at {}: {}\n", control.text(), std::strerror(errno));
        return 1;
    }
    return running->reload() ? 0 : usage_error;
}

int check(const arguments& args) {
    if (!report(config::load(args[0]))) return usage_error;
    fmt::print("{}: good\n", args[0]);
    return 0;
}

int keygen(const arguments& args) {
    if (args[0] == "psk") return daemon::make_psk(args[1]);
    if (args[0] == "static") return daemon::make_identity(args[1]);
    return complain("keygen makes a 'psk' or a 'static' key, not '" + args[0] + "'");
}

int pubkey(const arguments& args) {
    return daemon::show_public_key(args[0]);
}

int probe(const arguments& args) {
    const config::loaded loaded = config::load(args[0]);
    if (!report(loaded)) return usage_error;
    const auto& clients = loaded.value.clients;
    std::string name = args[1];
    if (name.starts_with("client.")) name.erase(0, 7);
    const auto at = std::find_if(clients.begin(), clients.end(),
                                 [&](const auto& section) { return section.name == name; });
    if (at != clients.end()) return daemon::probe(*at);
    std::string known;
    for (const auto& section : clients) known += " client." + section.name;
    return complain(args[0] + " has no section [client." + name +
                    "]; it has:" + (known.empty() ? " no client section" : known));
}

int version(const arguments& /*args*/) {
    fmt::print("culvert {} (protocol culvert/1)\n", CULVERT_VERSION);
    return 0;
}

int help(const arguments& args) {
    const bool about_config = !args.empty() && args[0] == "config";
    fmt::print("{}", about_config ? config::help_text() : usage);
    return 0;
}

struct command {
    const char* name;
    std::size_t least;  // arguments
    std::size_t most;
    const char* expects;
    int (*run)(const arguments&);
};

constexpr command commands[] = {
    {"run", 1, 2, "FILE, or --replace FILE", run},
    {"reload", 1, 1, "FILE", reload},
    {"check", 1, 1, "FILE", check},
    {"keygen", 2, 2, "psk FILE, or static FILE", keygen},
    {"pubkey", 1, 1, "FILE", pubkey},
    {"probe", 2, 2, "FILE SECTION", probe},
    {"status", 0, 2, "--json, and FILE or HOST:PORT or unix:PATH", watch::status},
    {"top", 0, 1, "FILE, HOST:PORT or unix:PATH", watch::top},
    {"version", 0, 0, "nothing", version},
    {"help", 0, 1, "nothing, or config", help},
};

int dispatch(std::string name, const arguments& args) {
    if (name == "--help" || name == "-h") name = "help";
    if (name == "--version") name = "version";
    for (const command& c : commands) {
        if (name != c.name) continue;
        if (args.size() < c.least || args.size() > c.most)
            return complain(fmt::format("{} takes {}; see `culvert help`", name, c.expects));
        return c.run(args);
    }
    return complain("there is no command '" + name + "'; see `culvert help`");
}

}  // namespace

int main(int argc, char** argv) {
    daemon::forbid_dumps();
    if (argc < 2) {
        fmt::print(stderr, "{}", usage);
        return usage_error;
    }
    try {
        return dispatch(argv[1], arguments(argv + 2, argv + argc));
    } catch (const std::exception& e) {
        observe::write_plain(std::string("culvert: ") + e.what());
        return 1;
    }
}
