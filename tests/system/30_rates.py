"""Rates of clients: bytes a second, shared by a client's connections, and nobody else's concern."""

import contextlib
import threading
import time

from support import case
from support.backends import Service
from support.streams import flood
from support.team import Team
from support.tunnel import TCP, TCP_STATIC, WEBSOCKET
from support.waiting import together

MEBI = 1 << 20
SECONDS = 4


class Meter:
    """Counts what comes on any of its sockets, each read in a thread until it fails or ends."""

    def __init__(self):
        self._lock = threading.Lock()
        self.bytes = 0

    def read(self, sock):
        with contextlib.suppress(OSError):
            while piece := sock.recv(1 << 16):
                with self._lock:
                    self.bytes += len(piece)

    def rate(self, seconds=SECONDS):
        """Bytes a second from now on."""
        before, began = self.bytes, time.monotonic()
        time.sleep(seconds)
        return (self.bytes - before) / (time.monotonic() - began)

    def wait(self, size, seconds=20):
        deadline = time.monotonic() + seconds
        while self.bytes < size:
            if time.monotonic() > deadline:
                raise AssertionError(f"only {self.bytes} of {size} bytes within {seconds} s")
            time.sleep(0.02)


class Rates(case.SystemTest):
    def setUp(self):
        self.uploads = Meter()
        self.source = Service(flood)
        self.sink = Service(self.uploads.read)
        for service in (self.source, self.sink):
            self.addCleanup(service.close)

    def team(self, kind, members):
        return Team(self, kind, {"source": self.source.target, "sink": self.sink.target}, members,
                    daemon=["threads = 2"])

    def in_background(self, function, sock):
        def run():
            with contextlib.suppress(OSError):
                function(sock)

        threading.Thread(target=run, daemon=True).start()

    def download(self, team, name, connections=1):
        meter = Meter()
        for _ in range(connections):
            self.in_background(meter.read, team.connect(name, "source"))
        return meter

    def assert_rate(self, measured, expected):
        self.assertGreater(measured, 0.8 * expected)
        self.assertLess(measured, 1.2 * expected)

    @case.for_kinds(TCP, WEBSOCKET, TCP_STATIC)
    def test_each_direction_has_the_rate(self, kind):
        team = self.team(kind, {"alice": "rate=2M"})
        down = self.download(team, "alice")
        self.in_background(flood, team.connect("alice", "sink"))
        for meter in (down, self.uploads):
            meter.wait(MEBI)  # past the burst of the beginning
        rates = together({"down": down.rate, "up": self.uploads.rate})
        self.assert_rate(rates["down"], 2 * MEBI)
        self.assert_rate(rates["up"], 2 * MEBI)

    def test_clients_do_not_disturb_each_other(self):
        team = self.team(TCP, {"alice": "rate=1M", "bob": "rate=3M", "carol": ""})
        meters = {"alice": self.download(team, "alice", connections=5),
                  "bob": self.download(team, "bob")}
        for meter in meters.values():
            meter.wait(MEBI)
        carol = self.download(team, "carol")
        carol.wait(MEBI)
        rates = together({name: meter.rate for name, meter in {**meters, "carol": carol}.items()})
        self.assert_rate(rates["alice"], MEBI)
        self.assert_rate(rates["bob"], 3 * MEBI)
        self.assertGreater(rates["carol"], 2 * (rates["alice"] + rates["bob"]))

    def test_the_connections_of_a_client_get_a_share_each(self):
        team = self.team(TCP, {"alice": "rate=2M"})
        meters = [self.download(team, "alice") for _ in range(4)]
        for meter in meters:
            meter.wait(MEBI // 4)
        rates = together({f"{n}": meter.rate for n, meter in enumerate(meters)})
        self.assert_rate(sum(rates.values()), 2 * MEBI)
        for rate in rates.values():
            self.assertGreater(rate, MEBI / 4)

    def test_a_daemon_that_holds_back_does_nothing_meanwhile(self):
        team = self.team(TCP, {"alice": "rate=64K"})
        down = self.download(team, "alice", connections=8)
        down.wait(64 << 10)
        before = team.server.cpu_seconds()
        down.rate()
        self.assertLess(team.server.cpu_seconds() - before, 0.1 * SECONDS)

    def test_who_is_held_back_is_neither_idle_nor_dead(self):
        team = Team(self, TCP, {"source": self.source.target, "sink": self.sink.target},
                    {"alice": "rate=4K"}, server=["idle-timeout = 1s", "dead-peer = 10s", "keepalive = 5s"],
                    client=["dead-peer = 10s", "keepalive = 5s"])
        down = self.download(team, "alice")
        self.in_background(flood, team.connect("alice", "sink"))  # records of up to 64 KiB: 16 s
        for _ in range(6):
            before = down.bytes
            time.sleep(2)
            self.assertGreater(down.bytes, before)
        self.assertEqual(team.server.log_lines("service s.*(idle|nothing heard)"), [])
        self.assertEqual(team.client.log_lines("idle|nothing heard|ended by"), [])


if __name__ == "__main__":
    case.main()
