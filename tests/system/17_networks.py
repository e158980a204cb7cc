"""Real networks at fault: packets lost, paths that end, narrow and forgetful ones.

Each test has two hosts of its own, network namespaces with a cable between them.
"""

import concurrent.futures
import functools
import signal
import socket
import time

from support import case, network
from support.backends import Backend
from support.network import Network, NetworkTunnel
from support.streams import (
    CLEAN, RESET, Background, Received, random_bytes, read_exactly, read_until_end,
)
from support.tunnel import BOTH_CARRIERS
from support.waiting import together

KIB, MIB = 1 << 10, 1 << 20
# The shortest that can be set.
SHORT = ["keepalive = 5s", "dead-peer = 10s"]
KEEPALIVE, DEAD_PEER = 5, 10
# For a machine that is busy with other tests.
PATIENCE = 10


class Networks(case.SystemTest):
    def make(self, kind, server=(), client=()):
        net = Network(self)
        backend = net.server.call(Backend)
        self.addCleanup(backend.close)
        tunnel = NetworkTunnel(self, net, kind, backend.target, server=[*SHORT, *server],
                               client=[*SHORT, *client])
        return net, backend, tunnel

    # ---- what passes ----

    def assert_passes(self, source, sink, size, seconds=40):
        data = random_bytes(size, size)
        source.settimeout(seconds)
        Background(lambda: (source.sendall(data), source.shutdown(socket.SHUT_WR)))
        got = read_until_end(sink, seconds)
        self.assertEqual(got.end, CLEAN)
        self.assert_same_bytes(got.data, data)

    def assert_both_ways(self, application, service, size):
        together({"up": lambda: self.assert_passes(application, service, size),
                  "down": lambda: self.assert_passes(service, application, size)})

    def loses_packets(self, kind):
        net, backend, tunnel = self.make(kind)
        for host in net.hosts:
            net.filter(host, ["numgen random mod 100 < 7 drop"])
        for _ in range(3):
            self.assert_both_ways(*tunnel.open(backend), 512 * KIB)

    def has_short_packets(self, kind):
        net, backend, tunnel = self.make(kind)
        for host in net.hosts:
            host.run("ip", "link", "set", "cable", "mtu", "576")
        self.assert_both_ways(*tunnel.open(backend), 4 * MIB)

    def is_narrow(self, kind, rate, size):
        """A transfer takes many times the limit of the dead peer; each byte is life."""
        net, backend, tunnel = self.make(kind)
        net.limit(rate)
        application, service = tunnel.open(backend)
        began = time.monotonic()
        self.assert_passes(service, application, size)
        self.assertGreater(time.monotonic() - began, DEAD_PEER, "the path was not narrow")
        self.assert_passes(application, service, 10 * KIB)

    def heals_in_time(self, kind):
        net, backend, tunnel = self.make(kind)
        application, service = tunnel.open(backend)
        net.limit("16mbit")
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            passing = pool.submit(self.assert_both_ways, application, service, 3 * MIB)
            time.sleep(0.3)
            net.lose(*net.hosts)
            time.sleep(2)
            self.assertFalse(passing.done(), "all had passed before the path was lost")
            net.heal()
            passing.result(60)
        for daemon in (tunnel.server, tunnel.client):
            daemon.wait_for_log(": ended; 3072 KiB")

    # ---- what forgets connections that are quiet ----

    def put_forgetful_box_before(self, net, seconds):
        """Drops what belongs to no connection that was heard of for so long."""
        known = f"{{ tcp sport timeout {seconds}s }}"
        answered = f"{{ tcp dport timeout {seconds}s }}"
        net.server.run("nft", "add table inet box; add set inet box known "
                              "{ type inet_service; flags dynamic,timeout; }; "
                              "add chain inet box in { type filter hook input priority 0; }; "
                              "add chain inet box out { type filter hook output priority 0; }")
        for rule in (f"in iifname cable tcp flags syn update @known {known}",
                     f"in iifname cable tcp sport @known update @known {known} accept",
                     "in iifname cable drop",
                     f"out oifname cable tcp dport @known update @known {answered} accept",
                     "out oifname cable drop"):
            net.server.run("nft", f"add rule inet box {rule}")

    def outlives_a_forgetful_box(self, kind):
        net, backend, tunnel = self.make(kind)
        self.put_forgetful_box_before(net, 8)
        application, service = tunnel.open(backend)
        time.sleep(25)
        self.assert_both_ways(application, service, 100 * KIB)

    def is_forgotten_without_keepalive(self, kind):
        """That there is such a box: what says less is cut off, and hears of it."""
        rare = ["keepalive = 60s", "dead-peer = 15s"]
        net, backend, tunnel = self.make(kind)
        tunnel = NetworkTunnel(self, net, kind, backend.target, server=rare, client=rare)
        self.put_forgetful_box_before(net, 5)
        application, service = tunnel.open(backend)
        time.sleep(8)
        application.sendall(b"anybody there?")
        together({"application": lambda: self.assert_reset(application, b""),
                  "service": lambda: self.assert_reset(service, b"")})

    def assert_reset(self, end, said):
        self.assertEqual(read_until_end(end, seconds=30), Received(said, RESET))

    # ---- paths that end ----

    def hears_of_it(self, end, began):
        self.assert_reset(end, b"")
        seconds = time.monotonic() - began
        # The clock began with the last byte that came, up to a keepalive ago.
        self.assertGreater(seconds, DEAD_PEER - KEEPALIVE - 0.5)
        self.assertLess(seconds, DEAD_PEER + KEEPALIVE + PATIENCE)

    def assert_works_at_once(self, tunnel, backend):
        began = time.monotonic()
        application, service = tunnel.open(backend)
        application.sendall(b"hello")
        self.assertEqual(read_exactly(service, 5), b"hello")
        self.assertLess(time.monotonic() - began, 5)

    def goes_dark(self, kind, deaf):
        # One connection is all that the server has room for.
        net, backend, tunnel = self.make(kind, server=["max-connections = 1"])
        application, service = tunnel.open(backend)
        began = time.monotonic()
        net.lose(*(getattr(net, host) for host in deaf))
        together({"application": lambda: self.hears_of_it(application, began),
                  "service": lambda: self.hears_of_it(service, began)})
        net.heal()
        self.assert_works_at_once(tunnel, backend)

    def loses_its_address(self, kind):
        net, backend, tunnel = self.make(kind, client=["connect-timeout = 2s"])
        application, service = tunnel.open(backend)
        began = time.monotonic()
        net.server.run("ip", "address", "del", f"{network.SERVER}/24", "dev", "cable")
        meanwhile = tunnel.connect()
        self.assert_reset(meanwhile, b"")
        together({"application": lambda: self.hears_of_it(application, began),
                  "service": lambda: self.hears_of_it(service, began)})
        net.server.run("ip", "address", "add", f"{network.SERVER}/24", "dev", "cable")
        self.assert_works_at_once(tunnel, backend)

    def stops(self, kind, victim):
        _, backend, tunnel = self.make(kind)
        application, service = tunnel.open(backend)
        living, other = (application, service) if victim == "server" else (service, application)
        stopped = getattr(tunnel, victim)
        began = time.monotonic()
        stopped.send_signal(signal.SIGSTOP)
        try:
            self.hears_of_it(living, began)
        finally:
            stopped.send_signal(signal.SIGCONT)
        self.assert_reset(other, b"")
        self.assert_works_at_once(tunnel, backend)

    def test_all(self):
        cases = {
            "packets are lost": self.loses_packets,
            "packets are short": self.has_short_packets,
            "2 Mbit/s": functools.partial(self.is_narrow, rate="2mbit", size=5 * MIB),
            "160 kbit/s": functools.partial(self.is_narrow, rate="160kbit", size=400 * KIB),
            "a path comes back in time": self.heals_in_time,
            "a forgetful box": self.outlives_a_forgetful_box,
            "a forgetful box, and keepalives too rare": self.is_forgotten_without_keepalive,
            "dark both ways": functools.partial(self.goes_dark, deaf=("client", "server")),
            "dark to the server": functools.partial(self.goes_dark, deaf=("server",)),
            "dark to the client": functools.partial(self.goes_dark, deaf=("client",)),
            "the server's address goes and returns": self.loses_its_address,
            "the server stops": functools.partial(self.stops, victim="server"),
            "the client stops": functools.partial(self.stops, victim="client"),
        }
        together({f"{kind}: {name}": functools.partial(run, kind)
                  for kind in BOTH_CARRIERS for name, run in cases.items()})


if __name__ == "__main__":
    network.enter_or_skip()
    case.main()
