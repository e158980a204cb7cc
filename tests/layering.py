#!/usr/bin/python3
"""Reads the #includes of the tree and names every one that points the wrong way.

    layering.py ROOT           check the tree at ROOT
    layering.py --self-check   check that wrong includes would be found
"""
import re
import sys
import tempfile
from pathlib import Path

# Room: what it may include of ours, and of other projects. A name that ends in / is everything
# below it. Headers of the language and the system are free, sockets apart.
ROOMS = {
    "crypto/": (["crypto/"], []),
    "config/": (["config/", "crypto/"],
                ["boost/program_options", "boost/any.hpp", "boost/system/", "boost/algorithm/",
                 "sys/socket.h", "sys/un.h"]),  # constants and sizes of addresses
    "proxy/protocol/": (["proxy/protocol/", "crypto/"],
                        ["boost/system/", "boost/unordered/", "openssl/"]),
    "proxy/carrier/": (["proxy/carrier/", "proxy/protocol/", "crypto/"],
                       ["boost/", "openssl/", "sockets"]),
    "proxy/observe/": (["proxy/observe/", "crypto/bytes.hpp"],
                       ["boost/", "spdlog/", "fmt/", "sockets"]),
    "proxy/admin/": (["proxy/admin/", "proxy/observe/", "proxy/carrier/net.hpp"],
                     ["boost/", "fmt/", "sockets"]),
    "proxy/relay/": (["proxy/relay/", "proxy/carrier/", "proxy/protocol/", "proxy/observe/",
                      "crypto/", "config/settings.hpp"],
                     ["boost/", "fmt/", "sockets"]),
    "proxy/watch/": (["proxy/watch/", "proxy/observe/printable.hpp", "proxy/daemon/descriptor.hpp",
                      "config/"],
                     ["boost/json/", "boost/system/", "fmt/", "sockets"]),
    "proxy/daemon/": (["proxy/", "crypto/", "config/"],
                      ["boost/", "openssl/", "spdlog/", "fmt/", "sockets"]),
    "proxy/asio.cpp": ([], ["boost/"]),
}

FOREIGN = re.compile(r"(boost|openssl|spdlog|fmt|sodium|benchmark|doctest)\b")
SOCKETS = re.compile(r"(sys/(socket|un|epoll)\.h|netinet/.*|netdb\.h|poll\.h)$")
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)


def is_allowed(header, allowed):
    return any(header == name or header.startswith(name) for name in allowed)


def is_wrong(quote, header, ours, foreign):
    if quote == '"':
        return not is_allowed(header, ours)
    if SOCKETS.match(header):
        return "sockets" not in foreign and not is_allowed(header, foreign)
    return bool(FOREIGN.match(header)) and not is_allowed(header, foreign)


def faults_of(root):
    for path in sorted(p for top in ("crypto", "config", "proxy") for p in (root / top).rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.suffix not in (".cpp", ".hpp"):
            continue
        room = next((room for room in ROOMS if name.startswith(room)), None)
        if room is None:
            yield f"{name}: in no room that this script knows"
            continue
        for quote, header in INCLUDE.findall(path.read_text()):
            if is_wrong(quote, header, *ROOMS[room]):
                yield f"{name}: may not include {header}"


# Files of a small tree, with the includes that are wrong in each and some that are right.
PLANTED = {
    "crypto/a.cpp": (["<boost/asio.hpp>", "<openssl/evp.h>", '"config/settings.hpp"', "<poll.h>"],
                     ["<vector>", '"crypto/kernels/b.hpp"', "<sys/random.h>"]),
    "crypto/kernels/b.hpp": (['"proxy/protocol/record.hpp"'], ['"crypto/bytes.hpp"']),
    "config/c.hpp": (['"proxy/relay/tunnel.hpp"', "<boost/asio/ip/tcp.hpp>"],
                     ['"crypto/secret.hpp"', "<boost/program_options.hpp>"]),
    "proxy/protocol/d.cpp": (["<boost/asio.hpp>", "<boost/beast/core.hpp>", "<sys/socket.h>",
                              '"proxy/carrier/tcp.hpp"', '"config/settings.hpp"'],
                             ["<boost/system/result.hpp>", '"crypto/kmac.hpp"']),
    "proxy/carrier/e.hpp": (['"proxy/relay/tunnel.hpp"', '"config/settings.hpp"'],
                            ["<boost/asio.hpp>", '"proxy/protocol/error.hpp"']),
    "proxy/relay/f.cpp": (['"config/load.hpp"', '"proxy/daemon/listener.hpp"'],
                          ['"config/settings.hpp"', '"proxy/observe/log.hpp"']),
    "proxy/watch/j.cpp": (['"proxy/relay/tunnel.hpp"', "<boost/asio.hpp>"],
                          ['"config/load.hpp"', '"proxy/observe/printable.hpp"', "<poll.h>"]),
    "proxy/observe/g.hpp": (['"proxy/relay/tunnel.hpp"', '"crypto/secret.hpp"'],
                            ["<spdlog/spdlog.h>", '"crypto/bytes.hpp"']),
    "proxy/admin/i.cpp": (['"proxy/daemon/worker.hpp"', '"proxy/relay/tunnel.hpp"'],
                          ['"proxy/observe/status.hpp"', "<boost/beast/http.hpp>"]),
    "proxy/daemon/h.cpp": ([], ['"config/load.hpp"', '"proxy/relay/tunnel.hpp"']),
    "proxy/stray/i.cpp": (None, []),
}


def self_check():
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        expected = set()
        for name, (wrong, right) in PLANTED.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(f"#include {header}\n" for header in (wrong or []) + right))
            expected |= {f"{name}: may not include {header[1:-1]}" for header in wrong or []}
            if wrong is None:
                expected.add(f"{name}: in no room that this script knows")
        found = set(faults_of(root))
        return [f"missed: {fault}" for fault in sorted(expected - found)] + \
               [f"found for nothing: {fault}" for fault in sorted(found - expected)]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    faults = self_check() if sys.argv[1] == "--self-check" else list(faults_of(Path(sys.argv[1])))
    print("\n".join(faults) or "every arrow points the right way")
    sys.exit(1 if faults else 0)


main()
