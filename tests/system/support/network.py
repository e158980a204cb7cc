"""Two hosts with a network between them that a test can spoil: network namespaces and a veth pair.

A namespace lives as long as the descriptor that this process has of it: nothing stays behind.
"""

import concurrent.futures
import ctypes
import os
import subprocess
import sys

from . import programs
from .ports import free_port, is_listening
from .streams import connect
from .tunnel import PATH, shared_keys

CLIENT, SERVER = "10.77.0.1", "10.77.0.2"
_CLONE_NEWNET = 0x40000000
_INSIDE = "CULVERT_TEST_INSIDE"
_SKIPPED = 77  # what ctest takes for a test that was left out
_libc = ctypes.CDLL(None, use_errno=True)


def enter_or_skip():
    """Returns where this process may make networks, which for a user is a namespace of his own: the
    same command line runs there. Where there is none, says so and ends the process."""
    unshare = ["unshare", "--net"]
    if os.geteuid() != 0:
        unshare += ["--user", "--map-root-user"]
    may = subprocess.run([*unshare, "true"], capture_output=True, text=True, check=False)
    if may.returncode != 0:
        _skip(f"network namespaces can't be made here: {may.stderr.strip()}")
    if os.geteuid() != 0 and not os.environ.get(_INSIDE):
        inside = subprocess.run([*unshare, sys.executable, "-B", *sys.argv], check=False,
                                env={**os.environ, _INSIDE: "1"})
        sys.exit(inside.returncode)
    _try_tools()


def _try_tools():
    """What needs the kernel's help, tried once."""
    host = Host()
    host.run("ip", "link", "add", "left", "type", "veth", "peer", "name", "right")
    trials = {
        "nft, package nftables": [programs.find("nft", "nftables"), "add table inet t; "
                                  "add set inet t s { type inet_service; flags dynamic,timeout; }; "
                                  "add chain inet t c { type filter hook input priority 0; }; "
                                  "add rule inet t c numgen random mod 100 < 5 drop"],
        "tc, package iproute2": ["tc", "qdisc", "add", "dev", "left", "root", "tbf",
                                 "rate", "1mbit", "burst", "16kb", "latency", "100ms"],
    }
    for what, command in trials.items():
        try:
            host.run(*command)
        except RuntimeError as why:
            _skip(f"the kernel does not do what is asked of {what}: {why}")


def _skip(why):
    print(f"SKIPPED, nothing was tested: {why}")
    sys.exit(_SKIPPED)


class Host:
    """A network namespace."""

    def __init__(self):
        self._descriptor = _in_thread(self._make)

    @staticmethod
    def _make():
        _check(_libc.unshare(_CLONE_NEWNET))
        return os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)

    @property
    def path(self):
        return f"/proc/{os.getpid()}/fd/{self._descriptor}"

    def call(self, function, *arguments, **options):
        """What the function returns when it runs on this host: its sockets are of this host."""

        def there():
            _check(_libc.setns(self._descriptor, _CLONE_NEWNET))
            return function(*arguments, **options)

        return _in_thread(there)

    def command(self, *words):
        return ["nsenter", f"--net={self.path}", *words]

    def run(self, *words):
        done = subprocess.run(self.command(*words), capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(words)}: {done.stderr.strip()}")

    def close(self):
        os.close(self._descriptor)


def _in_thread(function):
    # A thread of its own, since a namespace is a thread's.
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result()


def _check(result):
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


class Network:
    """Two hosts, `client` and `server`, with a cable between them."""

    def __init__(self, test):
        self.client, self.server = Host(), Host()
        test.addCleanup(self.server.close)
        test.addCleanup(self.client.close)
        self.client.run("ip", "link", "add", "cable", "type", "veth", "peer", "name", "cable",
                        "netns", self.server.path)
        for host, address in ((self.client, CLIENT), (self.server, SERVER)):
            host.run("ip", "link", "set", "lo", "up")
            host.run("ip", "address", "add", f"{address}/24", "dev", "cable")
            host.run("ip", "link", "set", "cable", "up")

    @property
    def hosts(self):
        return self.client, self.server

    def filter(self, host, rules):
        """From now on these rules, of input, decide what the cable brings to the host."""
        self.clear(host)
        host.run("nft", "add table inet fault; add chain inet fault input "
                        "{ type filter hook input priority 0; }")
        for rule in rules:
            host.run("nft", f"add rule inet fault input iifname cable {rule}")

    def clear(self, host):
        host.run("nft", "add table inet fault; delete table inet fault")

    def lose(self, *hosts):
        """These hear nothing any more."""
        for host in hosts:
            self.filter(host, ["drop"])

    def heal(self):
        for host in self.hosts:
            self.clear(host)

    def limit(self, rate):
        """Both hosts send at this rate at most."""
        for host in self.hosts:
            host.run("tc", "qdisc", "add", "dev", "cable", "root", "tbf", "rate", rate,
                     "burst", "16kb", "latency", "400ms")


class NetworkTunnel:
    """A daemon on each host. `server` and `client` are lines that their sections get as well."""

    def __init__(self, test, network, kind, target, *, server=(), client=()):
        self._test, self._network = test, network
        self.folder = test.make_folder()
        self.server_port, self.client_port = free_port(), free_port()
        head = ["[daemon]", "drain = 1s"]
        path = PATH if kind.carrier == "ws" else ""
        self.server = self._start("server", network.server, self.server_port, [
            *head, "[server.edge]", f"listen = {SERVER}:{self.server_port}",
            f"carrier = {kind.carrier}", *([f"path = {path}"] if path else []),
            *shared_keys().server_lines(kind.keys), f"service = it {target}", *server])
        self.client = self._start("client", network.client, self.client_port, [
            *head, "[client.app]", f"listen = 127.0.0.1:{self.client_port}",
            f"connect = {kind.carrier}://{SERVER}:{self.server_port}{path}", "service = it",
            *shared_keys().client_lines(kind.keys), *client])

    def _start(self, name, host, port, lines):
        file = self.folder / f"{name}.conf"
        file.write_text("\n".join([*lines, ""]))
        daemon = self._test.start_daemon(file, name, [], prefix=host.command())
        daemon.wait_until_ready(lambda: is_listening(port, daemon.pid))
        return daemon

    def connect(self, seconds=20):
        """An application's connection into the tunnel."""
        application = self._network.client.call(connect, self.client_port, seconds=seconds)
        self._test.addCleanup(application.close)
        return application

    def open(self, backend):
        """A connection through the tunnel: the application's end and the backend's."""
        application = self.connect()
        service = backend.accept()
        self._test.addCleanup(service.close)
        return application, service
