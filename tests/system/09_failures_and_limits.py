"""Backends that refuse, hang or reset; services that do not exist; limits that are reached."""

import functools
import socket
import time

from support import case
from support.backends import echo
from support.ports import free_port
from support.streams import (
    CLEAN, RESET, Received, random_bytes, read_exactly, read_until_end, reset,
)
from support.tunnel import BOTH_CARRIERS, FOUR_KINDS
from support.waiting import together, until

NOTHING_BUT_A_RESET = Received(b"", RESET)


class Backends(case.SystemTest):
    def reset_comes_within(self, seconds, tunnel, opening=b""):
        began = time.monotonic()
        self.assertEqual(tunnel.outcome(opening), NOTHING_BUT_A_RESET)
        self.assertLess(time.monotonic() - began, seconds)

    @case.for_kinds(*FOUR_KINDS)
    def test_a_backend_that_refuses(self, kind):
        port = free_port()
        tunnel = self.tunnel(kind, f"127.0.0.1:{port}")
        for opening in (b"", b"hello"):
            self.reset_comes_within(1, tunnel, opening)
        tunnel.server.wait_for_log(f"backend unreachable: 127.0.0.1:{port}: Connection refused")
        tunnel.client.wait_for_log("ended by the other end: backend unreachable")

    @case.for_kinds(*FOUR_KINDS)
    def test_a_unix_backend_that_is_not_there(self, kind):
        path = self.make_folder() / "none.sock"
        tunnel = self.tunnel(kind, f"unix:{path}")
        self.reset_comes_within(1, tunnel)
        tunnel.server.wait_for_log("backend unreachable: .*No such file")

    @case.for_kinds(*FOUR_KINDS)
    def test_an_unknown_service(self, kind):
        tunnel = self.tunnel(kind, "127.0.0.1:1", service="other")
        self.reset_comes_within(1, tunnel)
        tunnel.server.wait_for_log("service other: service refused: there is no such service")
        tunnel.client.wait_for_log("no such service, or not for this client")

    @case.for_kinds(*FOUR_KINDS)
    def test_the_default_service_is_the_first(self, kind):
        service = self.service(lambda connection: connection.sendall(b"first"))
        tunnel = self.tunnel(kind, service.target, service="", server=["service = z 127.0.0.1:1"])
        self.assertEqual(tunnel.outcome(), Received(b"first", CLEAN))

    @case.for_kinds(*BOTH_CARRIERS)
    def test_a_backend_that_does_not_answer(self, kind):
        # A listener whose queue is full drops what comes.
        full = socket.create_server(("127.0.0.1", free_port()), backlog=0)
        self.addCleanup(full.close)
        for _ in range(4):
            waiting = socket.socket()
            waiting.setblocking(False)
            waiting.connect_ex(full.getsockname())
            self.addCleanup(waiting.close)
        target = f"127.0.0.1:{full.getsockname()[1]}"
        tunnel = self.tunnel(kind, target, server=["connect-timeout = 2s"])
        began = time.monotonic()
        self.assertEqual(tunnel.outcome(), NOTHING_BUT_A_RESET)
        self.assertTrue(1.8 <= time.monotonic() - began <= 3.5)
        tunnel.client.wait_for_log("ended by the other end: timeout")

    @case.for_kinds(*FOUR_KINDS)
    def test_a_backend_that_resets_after_a_thousand_bytes(self, kind):
        backend = self.backend()
        tunnel = self.tunnel(kind, backend.target)
        thousand = random_bytes(1000, 1)
        for _ in range(20):
            application, service = tunnel.open(backend)
            application.sendall(b"?")  # the tunnel stands
            self.assertEqual(service.recv(1), b"?")
            service.sendall(thousand)
            reset(service)
            self.assertEqual(read_until_end(application), Received(thousand, RESET))

    @case.for_kinds(*BOTH_CARRIERS)
    def test_a_backend_that_resets_before_anybody_has_looked(self, kind):
        """Its bytes are there before the server has noticed that the connection is."""
        thousand = random_bytes(1000, 2)
        service = self.service(lambda connection: (connection.sendall(thousand), reset(connection)))
        tunnel = self.tunnel(kind, service.target)

        def ask():
            for _ in range(50):
                self.assertEqual(tunnel.outcome(), Received(thousand, RESET))

        together({f"application {number}": ask for number in range(4)})

    @case.for_kinds(*FOUR_KINDS)
    def test_an_application_that_resets(self, kind):
        backend = self.backend()
        tunnel = self.tunnel(kind, backend.target)
        for half_closed in (False, True):
            application, service = tunnel.open(backend)
            application.sendall(b"hello")
            self.assertEqual(read_exactly(service, 5), b"hello")
            if half_closed:
                service.shutdown(socket.SHUT_WR)
                self.assertEqual(application.recv(1), b"")
            reset(application)
            self.assertEqual(read_until_end(service), NOTHING_BUT_A_RESET)

    @case.for_kinds(*BOTH_CARRIERS)
    def test_a_reset_of_a_half_closed_application(self, kind):
        # Nobody reads its socket any more, and still the service has to hear of it.
        backend = self.backend()
        tunnel = self.tunnel(kind, backend.target)
        application, service = tunnel.open(backend)
        application.shutdown(socket.SHUT_WR)
        self.assertEqual(service.recv(1), b"")
        reset(application)

        def refused():
            try:
                service.sendall(b"x")
            except (ConnectionResetError, BrokenPipeError):
                return True
            return False

        until(refused, 5, "a reset of the service's connection")

    @case.for_kinds(*BOTH_CARRIERS)
    def test_ends_and_resets_are_never_mixed_up(self, kind):
        def answer(connection):
            order = connection.recv(1)
            connection.sendall(bytes(1000))
            if order == b"r":
                reset(connection)

        service = self.service(answer)
        tunnel = self.tunnel(kind, service.target, daemon=["threads = 2"])

        def ask(order, expected):
            for _ in range(125):
                with tunnel.connect() as application:
                    application.sendall(order)
                    self.assertEqual(read_until_end(application), Received(bytes(1000), expected))

        together({
            f"{order} {number}": functools.partial(ask, order, expected)
            for order, expected in ((b"r", RESET), (b"e", CLEAN)) for number in range(4)
        })

    @case.for_kinds(*BOTH_CARRIERS)
    def test_a_server_that_is_not_there(self, kind):
        tunnel = self.tunnel(kind, "127.0.0.1:1")
        tunnel.server.stop()
        self.reset_comes_within(1, tunnel)
        tunnel.client.wait_for_log("server unreachable: .*Connection refused")

    @case.for_kinds(*BOTH_CARRIERS)
    def test_a_server_that_comes_back(self, kind):
        service = self.service(echo)
        tunnel = self.tunnel(kind, service.target)
        for _ in range(3):
            with tunnel.connect() as application:
                application.sendall(b"hello")
                self.assertEqual(read_exactly(application, 5), b"hello")
                tunnel.server.kill()
                self.assertEqual(read_until_end(application), NOTHING_BUT_A_RESET)
            tunnel.start_server()


class Limits(case.SystemTest):
    @case.for_kinds(*FOUR_KINDS)
    def test_max_connections_of_a_client(self, kind):
        self.sixth_is_refused(kind, client=["max-connections = 5"])

    @case.for_kinds(*FOUR_KINDS)
    def test_max_connections_of_a_server(self, kind):
        self.sixth_is_refused(kind, server=["max-connections = 5"])

    def sixth_is_refused(self, kind, **limit):
        service = self.service(echo)
        tunnel = self.tunnel(kind, service.target, **limit)
        five = [tunnel.connect() for _ in range(5)]
        for application in five:
            self.assert_echo(application)
        for _ in range(30):
            began = time.monotonic()
            self.assertEqual(tunnel.outcome(), NOTHING_BUT_A_RESET)
            self.assertLess(time.monotonic() - began, 1)
        self.assertEqual(service.connections, 5)
        limiting = tunnel.client if "client" in limit else tunnel.server
        lines = limiting.log_lines("max-connections|limit of connections")
        self.assertTrue(1 <= len(lines) <= 20, limiting.log())

        for application in five:
            self.assert_echo(application)
        five.pop().close()

        def works_again():
            try:
                with tunnel.connect() as application:
                    self.assert_echo(application)
            except ConnectionResetError:
                return False
            return True

        until(works_again, 2, "a place is free again")

    def assert_echo(self, application):
        application.sendall(b"hello")
        self.assertEqual(read_exactly(application, 5), b"hello")

    def test_connections_that_carry_nothing(self):
        def idle(kind, side):
            backend = self.backend()
            limits = {side: ["idle-timeout = 3s"]}
            tunnel = self.tunnel(kind, backend.target, **limits)
            application, service = tunnel.open(backend)
            busy, partner = tunnel.open(backend)
            began = time.monotonic()
            while time.monotonic() - began < 6:
                busy.sendall(b"x")
                self.assertEqual(partner.recv(1), b"x")
                time.sleep(0.5)
            for end in (application, service):
                self.assertEqual(read_until_end(end, seconds=0.5), NOTHING_BUT_A_RESET)
            getattr(tunnel, side).wait_for_log("idle for too long")
            other = tunnel.client if side == "server" else tunnel.server
            other.wait_for_log("ended by the other end: timeout")

        together({f"{kind}, limit of the {side}": functools.partial(idle, kind, side)
                  for kind in BOTH_CARRIERS for side in ("server", "client")})

    def test_connections_that_grow_old(self):
        def old(kind, side):
            service = self.service(echo)
            tunnel = self.tunnel(kind, service.target, **{side: ["max-age = 3s"]})
            with tunnel.connect() as application:
                began = time.monotonic()
                try:
                    while time.monotonic() - began < 10:
                        self.assert_echo(application)
                        time.sleep(0.1)
                except ConnectionResetError:
                    pass
                self.assertTrue(2.8 <= time.monotonic() - began <= 4.5)
            getattr(tunnel, side).wait_for_log("older than max-age")
            with tunnel.connect() as application:
                self.assert_echo(application)

        together({f"{kind}, limit of the {side}": functools.partial(old, kind, side)
                  for kind in BOTH_CARRIERS for side in ("server", "client")})


if __name__ == "__main__":
    case.main()
