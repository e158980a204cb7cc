"""Signals: how a daemon stops, and what it does to those who are busy."""

import functools
import signal
import socket
import time

from support import case
from support.ports import is_listening
from support.streams import (
    CLEAN, RESET, Background, Received, connect, flood, random_bytes, read_exactly, read_until_end,
)
from support.tunnel import BOTH_CARRIERS, FOUR_KINDS
from support.waiting import together, until

MIB = 1 << 20
ENDS = ("server", "client")


class Stopping(case.SystemTest):
    def port_of(self, tunnel, end):
        return tunnel.server_port if end == "server" else tunnel.client_port

    @case.for_kinds(*FOUR_KINDS)
    def test_running_transfers_end_first(self, kind):
        together({
            f"{end}, {number.name}": functools.partial(self.drain_well, kind, end, number)
            for end in ENDS for number in (signal.SIGTERM, signal.SIGINT)
        })

    def drain_well(self, kind, end, number):
        backend = self.backend()
        tunnel = self.tunnel(kind, backend.target, daemon=["threads = 2", "drain = 20s"])
        pairs = [tunnel.open(backend) for _ in range(10)]
        data = random_bytes(2 * MIB, "drain")
        for _, service in pairs:
            service.sendall(data[:1000])
        daemon = getattr(tunnel, end)
        daemon.send_signal(number)
        began = time.monotonic()
        until(lambda: not is_listening(self.port_of(tunnel, end)), 2, "the listener is closed")
        # In a quiet house it takes no 100 ms.
        self.assertLess(time.monotonic() - began, 5)
        with self.assertRaises(ConnectionRefusedError):
            connect(self.port_of(tunnel, end))

        for application, service in pairs:
            application.sendall(b"go on")
            self.assertEqual(read_exactly(service, 5), b"go on")
            Background(lambda service=service: (service.sendall(data[1000:]), service.close()))
        for application, _ in pairs:
            got = read_until_end(application)
            self.assertEqual(got.end, CLEAN)
            self.assert_same_bytes(got.data, data)
            self.assertTrue(daemon.running(), "it did not wait")
            application.close()
        self.assertEqual(daemon.wait(5), 0)
        daemon.wait_for_log("stopped: all sessions have ended")
        self.assertEqual(daemon.log_lines(" (error|warning) "), [])

    @case.for_kinds(*FOUR_KINDS)
    def test_the_limit_cuts_what_is_left(self, kind):
        together({end: functools.partial(self.cut_at_the_limit, kind, end) for end in ENDS})

    def cut_at_the_limit(self, kind, end):
        backend = self.backend()
        tunnel = self.tunnel(kind, backend.target, daemon=["drain = 2s"])
        idle, busy, short = (tunnel.open(backend) for _ in range(3))
        Background(flood, busy[1])
        Background(lambda: [None for _ in iter(lambda: busy[0].recv(MIB), b"")])
        daemon = getattr(tunnel, end)
        began = time.monotonic()
        daemon.send_signal(signal.SIGTERM)
        short[1].sendall(b"done")
        for one in short:
            one.shutdown(socket.SHUT_WR)
        self.assertEqual(read_until_end(short[0]), Received(b"done", CLEAN))
        for one in idle:
            self.assertEqual(read_until_end(one), Received(b"", RESET))
        self.assertEqual(daemon.wait(8), 1)
        self.assertTrue(1.8 <= time.monotonic() - began <= 6)
        daemon.wait_for_log("stopped: 2 sessions were cut")
        other = tunnel.client if end == "server" else tunnel.server
        other.wait_for_log("the other end is shutting down")

    @case.for_kinds(*BOTH_CARRIERS)
    def test_a_second_signal_ends_at_once(self, kind):
        for end in ENDS:
            for second in (signal.SIGTERM, signal.SIGINT):
                with self.subTest(end, second=second.name):
                    backend = self.backend()
                    tunnel = self.tunnel(kind, backend.target, daemon=["drain = 60s"])
                    application, service = tunnel.open(backend)
                    Background(flood, service)
                    read_exactly(application, MIB)
                    daemon = getattr(tunnel, end)
                    daemon.send_signal(signal.SIGTERM)
                    until(lambda: not is_listening(self.port_of(tunnel, end)), 2, "it stops")
                    daemon.send_signal(second)
                    began = time.monotonic()
                    self.assertEqual(daemon.wait(5), 1)
                    self.assertLess(time.monotonic() - began, 1)
                    self.assertEqual(read_until_end(application).end, RESET)
                    daemon.wait_for_log("stopped: 1 sessions were cut")

    @case.for_kinds(*BOTH_CARRIERS)
    def test_without_sessions_it_stops_at_once(self, kind):
        tunnel = self.tunnel(kind, "127.0.0.1:1", daemon=["drain = 60s"])
        files = tunnel.server.open_files()
        strangers = [connect(tunnel.server_port) for _ in range(5)]
        until(lambda: tunnel.server.open_files() >= files + 5, 10, "they are accepted")
        for end in ENDS:
            daemon = getattr(tunnel, end)
            began = time.monotonic()
            daemon.send_signal(signal.SIGTERM)
            self.assertEqual(daemon.wait(5), 0, end)
            self.assertLess(time.monotonic() - began, 1)
        for stranger in strangers:
            self.assertEqual(read_until_end(stranger), Received(b"", CLEAN))
            stranger.close()

    @case.for_kinds(*BOTH_CARRIERS)
    def test_sighup_cuts_nobody(self, kind):
        backend = self.backend()
        tunnel = self.tunnel(kind, backend.target)
        application, service = tunnel.open(backend)
        for daemon in (tunnel.server, tunnel.client):
            daemon.send_signal(signal.SIGHUP)
            daemon.wait_for_log("reloaded: 1 sections as they were")
        application.sendall(b"hello")
        self.assertEqual(read_exactly(service, 5), b"hello")
        tunnel.open(backend)

        # While it stops there is nothing to reload.
        tunnel.server.send_signal(signal.SIGTERM)
        until(lambda: not is_listening(tunnel.server_port), 2, "the listener is closed")
        tunnel.server.send_signal(signal.SIGHUP)
        service.sendall(b"still here")
        self.assertEqual(read_exactly(application, 10), b"still here")
        self.assertEqual(len(tunnel.server.log_lines("reload")), 1)


if __name__ == "__main__":
    case.main()
