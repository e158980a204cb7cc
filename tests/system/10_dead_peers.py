"""Paths that go dark, peers that stop, and quiet connections that must live on."""

import functools
import signal
import socket
import time

from support import case
from support.backends import echo
from support.streams import (
    CLEAN, RESET, Background, Received, flood, random_bytes, read_exactly, read_until_end,
)
from support.tunnel import BOTH_CARRIERS, FOUR_KINDS
from support.waiting import together

# The shortest that can be set.
SHORT = ["keepalive = 5s", "dead-peer = 10s"]
DEAD_PEER = 10
MIB = 1 << 20


class Silence(case.SystemTest):
    def make(self, kind, target):
        return self.tunnel(kind, target, relay=True, server=SHORT, client=SHORT)

    def hears_of_it(self, end, began, sending=None):
        """A reset, once nothing was heard for the limit."""
        got = read_until_end(end, seconds=20, sending=sending)
        self.assertEqual(got.end, RESET)
        seconds = time.monotonic() - began
        # The clock began with the last byte that came, up to a keepalive ago.
        self.assertTrue(DEAD_PEER - 5.5 <= seconds <= DEAD_PEER + 2, f"{seconds:.1f} s")

    def goes_dark(self, kind, busy):
        backend = self.backend()
        tunnel = self.make(kind, backend.target)
        application, service = tunnel.open(backend)
        sending = None
        if busy:
            sending = Background(flood, service)
            read_exactly(application, MIB)
        began = time.monotonic()
        tunnel.relay.go_dark()
        together({"application": lambda: self.hears_of_it(application, began),
                  "service": lambda: self.hears_of_it(service, began, sending)})
        for daemon in (tunnel.server, tunnel.client):
            self.assert_one_log_line(daemon, "nothing heard from the other end")

        # Old connections are gone; when the path is back, new ones work at once.
        tunnel.relay.light_up()
        application, service = tunnel.open(backend)
        application.sendall(b"hello")
        self.assertEqual(read_exactly(service, 5), b"hello")

    def stops(self, kind, victim):
        backend = self.backend()
        tunnel = self.make(kind, backend.target)
        application, service = tunnel.open(backend)
        stopped = getattr(tunnel, victim)
        began = time.monotonic()
        stopped.send_signal(signal.SIGSTOP)
        try:
            self.hears_of_it(application if victim == "server" else service, began)
        finally:
            stopped.send_signal(signal.SIGCONT)
        # Awake again, it finds the tunnel gone.
        other = service if victim == "server" else application
        self.assertEqual(read_until_end(other), Received(b"", RESET))

    def stays_dark_for_a_client(self, kind):
        backend = self.backend()
        tunnel = self.make(kind, backend.target)
        tunnel.relay.go_dark()
        began = time.monotonic()
        self.assertEqual(tunnel.outcome(), Received(b"", RESET))
        self.assertLess(time.monotonic() - began, 16)

    def test_all(self):
        tasks = {}
        for kind in BOTH_CARRIERS:
            tasks[f"{kind}, dark when idle"] = functools.partial(self.goes_dark, kind, False)
            tasks[f"{kind}, dark when busy"] = functools.partial(self.goes_dark, kind, True)
            tasks[f"{kind}, server stopped"] = functools.partial(self.stops, kind, "server")
            tasks[f"{kind}, client stopped"] = functools.partial(self.stops, kind, "client")
            tasks[f"{kind}, dark from the start"] = functools.partial(
                self.stays_dark_for_a_client, kind)
        together(tasks)


class QuietLife(case.SystemTest):
    """What looks like death and is none, each for several times the limit."""

    LENGTH = 30

    def ends(self, kind, **options):
        backend = self.backend()
        tunnel = self.tunnel(kind, backend.target, server=SHORT, client=SHORT, **options)
        return tunnel, *tunnel.open(backend)

    def one_way(self, kind, direction):
        _, application, service = self.ends(kind)
        source, sink = (application, service) if direction == "up" else (service, application)
        until = time.monotonic() + self.LENGTH
        number = 0
        while time.monotonic() < until:
            sent = random_bytes(5000, number)
            source.sendall(sent)
            self.assert_same_bytes(read_exactly(sink, len(sent)), sent)
            time.sleep(0.1)
            number += 1
        source.shutdown(socket.SHUT_WR)
        self.assertEqual(read_until_end(sink), Received(b"", CLEAN))

    def idle(self, kind):
        gaps = {"up": [], "down": []}

        def watch(link):
            for name, seen in gaps.items():
                # Middle boxes cut what is quiet for long.
                getattr(link, name).transform = (
                    lambda data, seen=seen: seen.append(time.monotonic()) or data)

        backend = self.backend()
        tunnel = self.tunnel(kind, backend.target, relay=True, server=SHORT, client=SHORT)
        tunnel.relay.on_link = watch
        application, service = tunnel.open(backend)
        time.sleep(self.LENGTH)
        application.sendall(b"still here")
        self.assertEqual(read_exactly(service, 10), b"still here")
        for name, seen in gaps.items():
            pauses = [later - earlier for earlier, later in zip(seen, seen[1:])]
            self.assertLess(max(pauses), 5.5, name)
            # Neither an exact beacon.
            quiet = [pause for pause in pauses if pause > 1]
            self.assertGreater(max(quiet) - min(quiet), 0.05, name)

    def stalled(self, kind, sleeper):
        """Whoever does not read holds reading up all the way; that is no death either."""
        _, application, service = self.ends(kind)
        source, sink = ((service, application) if sleeper == "application"
                        else (application, service))
        data = random_bytes(24 * MIB, "stalled")
        source.settimeout(None)
        Background(lambda: (source.sendall(data), source.shutdown(socket.SHUT_WR)))
        time.sleep(self.LENGTH)
        got = read_until_end(sink)
        self.assertEqual(got.end, CLEAN)
        self.assert_same_bytes(got.data, data)

    def test_all(self):
        tasks = {}
        for kind in FOUR_KINDS:
            tasks[f"{kind}, idle"] = functools.partial(self.idle, kind)
            for direction in ("up", "down"):
                tasks[f"{kind}, one way {direction}"] = functools.partial(
                    self.one_way, kind, direction)
            for sleeper in ("application", "service"):
                tasks[f"{kind}, {sleeper} does not read"] = functools.partial(
                    self.stalled, kind, sleeper)
        together(tasks)

    def test_a_new_connection_works_at_once(self):
        for kind in BOTH_CARRIERS:
            with self.subTest(kind):
                tunnel = self.tunnel(kind, self.service(echo).target)
                began = time.monotonic()
                with tunnel.connect() as application:
                    application.sendall(b"hello")
                    read_exactly(application, 5)
                self.assertLess(time.monotonic() - began, 1)


if __name__ == "__main__":
    case.main()
