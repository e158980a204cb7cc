"""`fallback`: whoever is no client of a server section meets an ordinary server behind it."""

import hashlib
import socket
import ssl
import subprocess
import time

from support import case, culvert1, programs
from support.backends import Service, echo, say
from support.key_holders import LoneServer, secrets_of
from support.ports import free_port
from support.streams import (CLEAN, RESET, Background, Received, connect, random_bytes, read_exactly,
                             read_until_end, reset)
from support.tunnel import BOTH_CARRIERS, PATH, TCP, TCP_STATIC, WEBSOCKET, shared_keys
from support.waiting import together, until
from support.websocket import BINARY, frame, open_websocket, read_head, upgrade_request

MIB = 1 << 20
HTTP = b"GET /index HTTP/1.1\r\nHost: a\r\n\r\n"  # shorter than a gate
AT_ONCE = 2  # seconds, on a busy machine


def site(connection):
    """A web server that answers each request with its own bytes, and closes when it is told so."""
    held = b""
    while piece := connection.recv(1 << 16):
        held += piece
        while b"\r\n\r\n" in held:
            head, _, held = held.partition(b"\r\n\r\n")
            answer = b"the site: " + head.split(b"\r\n")[0]
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s"
                               % (len(answer), answer))
            if b"Connection: close" in head:
                connection.shutdown(socket.SHUT_WR)


def answer_to(request, port):
    with connect(port) as visitor:
        visitor.sendall(request)
        status, fields, rest = read_head(visitor)
        return status, rest + read_exactly(visitor, int(fields["content-length"]) - len(rest))


class FallbackTest(case.SystemTest):
    def serve(self, kind, fallback, *lines, target=None):
        """A tunnel to an echo whose server has the fallback; returns it."""
        target = target or self.service(echo).target
        return self.tunnel(kind, target, server=[f"fallback = {fallback}", *lines])

    def assert_tunnel_works(self, tunnel):
        with tunnel.connect() as application:
            application.sendall(b"by the tunnel")
            application.shutdown(socket.SHUT_WR)
            self.assertEqual(read_until_end(application), Received(b"by the tunnel", CLEAN))

    def assert_within(self, began, seconds):
        self.assertLess(time.monotonic() - began, seconds)


class Openings(FallbackTest):
    """What strangers begin with, and that the fallback hears exactly that."""

    @case.for_kinds(*BOTH_CARRIERS)
    def test_a_web_site_and_a_tunnel_on_one_port(self, kind):
        tunnel = self.serve(kind, self.service(site).target)
        for number in range(3):
            began = time.monotonic()
            status, body = answer_to(HTTP, tunnel.server_port)
            self.assertEqual((status, body), ("HTTP/1.1 200 OK", b"the site: GET /index HTTP/1.1"))
            self.assert_within(began, AT_ONCE)
            self.assert_tunnel_works(tunnel)
        self.assertEqual(tunnel.server.log_lines("warning"), [])
        self.assertTrue(tunnel.server.log_lines("info .*for the fallback"))

    @case.for_kinds(*BOTH_CARRIERS)
    def test_openings_of_every_kind(self, kind):
        """All bytes, at once where they can't be a client's, else soon."""
        backend = self.backend()
        tunnel = self.serve(kind, backend.target, "max-unproven-per-address = 1000")
        right_start = f"GET {PATH} HTTP/1.1\r\n".encode()
        for name, opening in {
            **{f"{size} random bytes": b"\x16" + random_bytes(size - 1, size)
               for size in (1, 95, 96, 97, 160, 500, 4096, 20_000)},
            "a short request": b"GET / HTTP/1.0\r\n\r\n", "another method": b"POST / HTTP/1.1\r\n",
            "SSH": b"SSH-2.0-OpenSSH_9.2\r\n", "a lone byte": b"G",
            "the right path by another method": right_start.replace(b"GET", b"PUT"),
            "the right path and no more": right_start + b"Host: a\r\n",
            "the right path and no upgrade": right_start + b"Host: a\r\n\r\nbody",
            "another path": upgrade_request("/other", 80),
            "another version": upgrade_request(PATH, 80).replace(b": 13", b": 8"),
            "a large header": right_start + b"Cookie: " + b"x" * 30_000,
        }.items():
            with self.subTest(name), connect(tunnel.server_port) as visitor:
                began = time.monotonic()
                visitor.sendall(opening)
                fallback = backend.accept()
                with fallback:
                    self.assertEqual(read_exactly(fallback, len(opening)), opening)
                    slow = kind is WEBSOCKET and right_start.startswith(opening) \
                        or kind is WEBSOCKET and name == "the right path and no more"
                    self.assert_within(began, 3 + AT_ONCE if slow else AT_ONCE)
                    visitor.sendall(b"more")
                    self.assertEqual(read_exactly(fallback, 4), b"more")
                    fallback.sendall(b"heard")
                    self.assertEqual(read_exactly(visitor, 5), b"heard")

    @case.for_kinds(*BOTH_CARRIERS)
    def test_somebody_who_says_nothing(self, kind):
        """A server that speaks first is heard, and one that waits is left to wait."""
        tunnel = self.serve(kind, self.service(say(b"220 hello\r\n")).target)
        with connect(tunnel.server_port) as visitor:
            self.assertEqual(read_until_end(visitor), Received(b"220 hello\r\n", CLEAN))
        with connect(tunnel.server_port) as visitor:
            visitor.shutdown(socket.SHUT_WR)
            began = time.monotonic()
            self.assertEqual(read_until_end(visitor), Received(b"220 hello\r\n", CLEAN))
            self.assert_within(began, AT_ONCE)

    def test_a_request_in_drops(self):
        tunnel = self.serve(WEBSOCKET, self.service(site).target)
        with connect(tunnel.server_port) as visitor:
            for byte in HTTP[:-1]:
                visitor.sendall(bytes([byte]))
            visitor.sendall(HTTP[-1:])
            self.assertIn(" 200 ", read_head(visitor)[0])

    def test_tls(self):
        """A site over TLS, with a client that looks closely."""
        folder = self.make_folder()
        subprocess.run([programs.find("openssl", "openssl"), "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:P-256", "-nodes", "-keyout", folder / "key", "-out",
                        folder / "cert", "-subj", "/CN=site.example", "-addext",
                        "subjectAltName=DNS:site.example"],
                       check=True, capture_output=True, timeout=30)
        server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        server.load_cert_chain(folder / "cert", folder / "key")
        client = ssl.create_default_context(cafile=folder / "cert")

        def serve(connection):
            with server.wrap_socket(connection, server_side=True) as tls:
                site(tls)

        tunnel = self.serve(TCP, self.service(serve).target)
        with client.wrap_socket(connect(tunnel.server_port), server_hostname="site.example") as tls:
            tls.sendall(HTTP)
            self.assertIn(" 200 ", read_head(tls)[0])
        self.assert_tunnel_works(tunnel)

    def test_first_messages_that_are_no_good(self):
        """A replay, a wrong psk, an unknown client, a wrong clock: all of them visit."""
        backend = self.backend()
        for kind in (TCP, TCP_STATIC):
            tunnel = self.serve(kind, backend.target)
            good = culvert1.Client(secrets_of(kind)).message1
            with connect(tunnel.server_port) as client:
                client.sendall(good)
                self.assertGreaterEqual(len(read_exactly(client, 112)), 112)  # message 2
            damaged = {"replay": good, "box A": b"x" + culvert1.Client(secrets_of(kind)).message1[1:]}
            if kind is TCP_STATIC:
                fresh = culvert1.Client(secrets_of(kind)).message1
                damaged["box B"] = fresh[:96] + random_bytes(64, "b") + fresh[160:]
            for name, message in damaged.items():
                with self.subTest(kind=kind, name=name), connect(tunnel.server_port) as stranger:
                    stranger.sendall(message)
                    with backend.accept() as fallback:
                        self.assertEqual(read_exactly(fallback, len(message)), message)
                        fallback.sendall(b"400")
                        self.assertEqual(read_exactly(stranger, 3), b"400")
            self.assertTrue(tunnel.server.log_lines("warning .*replayed first message: for the fallback"))


class VisitTest(FallbackTest):
    def visit(self, kind=TCP, *lines, **options):
        """Both ends of one: the stranger's and the fallback's."""
        backend = self.backend(**options)
        tunnel = self.serve(kind, backend.target, *lines)
        return tunnel, *self.another(tunnel, backend)

    def another(self, tunnel, backend):
        visitor = connect(tunnel.server_port)
        self.addCleanup(visitor.close)
        visitor.sendall(HTTP)
        fallback = backend.accept()
        self.addCleanup(fallback.close)
        self.assertEqual(read_exactly(fallback, len(HTTP)), HTTP)
        return visitor, fallback


class Visits(VisitTest):
    """What happens between the stranger and the fallback is what would happen without culvert."""

    @case.for_kinds(*BOTH_CARRIERS)
    def test_half_closes(self, kind):
        for first in (0, 1):
            _, *ends = self.visit(kind)
            near, far = ends[first], ends[1 - first]
            near.shutdown(socket.SHUT_WR)
            self.assertEqual(far.recv(1), b"")
            far.sendall(b"still here")
            far.shutdown(socket.SHUT_WR)
            self.assertEqual(read_until_end(near), Received(b"still here", CLEAN))
            for end in (near, far):
                self.assertEqual(end.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR), 0)

    @case.for_kinds(*BOTH_CARRIERS)
    def test_resets(self, kind):
        for first in (0, 1):
            for half_closed in (False, True):
                with self.subTest(first=first, half_closed=half_closed):
                    _, *ends = self.visit(kind)
                    near, far = ends[first], ends[1 - first]
                    if half_closed:
                        near.shutdown(socket.SHUT_WR)
                        self.assertEqual(far.recv(1), b"")
                    reset(near)
                    if half_closed:  # behind an end only the socket's error tells
                        until(lambda: far.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR), 10, "a reset")
                    else:
                        self.assertEqual(read_until_end(far), Received(b"", RESET))

    def test_much_both_ways(self):
        for options in ({}, {"family": socket.AF_UNIX, "address": str(self.make_folder() / "site")}):
            fallback = self.service(echo, **options)
            tunnel = self.serve(TCP, fallback.target)
            content = HTTP + random_bytes(24 * MIB, "much")
            with connect(tunnel.server_port) as visitor:
                sending = Background(self.send_and_end, visitor, content)
                got = read_until_end(visitor, sending=sending)
            self.assertEqual(got.end, CLEAN)
            self.assertEqual(hashlib.sha256(got.data).digest(), hashlib.sha256(content).digest())

    @staticmethod
    def send_and_end(visitor, content):
        visitor.sendall(content)
        visitor.shutdown(socket.SHUT_WR)

    def test_slow_readers_cost_little(self):
        """A flood to twenty visitors of whom none reads."""
        flooding = self.service(lambda connection: self.flood_after_request(connection))
        tunnel = self.serve(TCP, flooding.target)
        before = tunnel.server.memory()
        visitors = [connect(tunnel.server_port) for _ in range(20)]
        for visitor in visitors:
            self.addCleanup(visitor.close)
            visitor.sendall(HTTP)
        until(lambda: flooding.connections == 20, 10, "all are there")
        self.assert_tunnel_works(tunnel)
        self.assertLess(tunnel.server.memory() - before, 6 * MIB)
        for visitor in visitors[:3]:
            self.assertEqual(len(read_exactly(visitor, 2 * MIB)), 2 * MIB)

    @staticmethod
    def flood_after_request(connection):
        read_exactly(connection, len(HTTP))
        while True:
            connection.sendall(bytes(1 << 16))

    def test_visitors_are_capped(self):
        """Whoever has shown no key counts, be it at the fallback: the oldest has to go."""
        backend = self.backend()
        tunnel = self.serve(TCP, backend.target, "max-unproven-per-address = 3")
        visits = [self.another(tunnel, backend) for _ in range(5)]
        for visitor, fallback in visits[:2]:
            for end in (visitor, fallback):
                self.assertEqual(read_until_end(end), Received(b"", RESET))
        for visitor, fallback in visits[2:]:
            fallback.sendall(b"still here")
            self.assertEqual(read_exactly(visitor, 10), b"still here")
        self.assert_tunnel_works(tunnel)

    def test_a_killed_daemon_resets_both(self):
        tunnel, visitor, fallback = self.visit()
        tunnel.server.kill()
        for end in (visitor, fallback):
            self.assertEqual(read_until_end(end), Received(b"", RESET))


class WhatTakesTime(VisitTest):
    """All at once: each waits for a deadline of some seconds."""

    def test_all(self):
        together({what.__name__: what for what in (
            self.half_a_first_message_is_waited_for, self.behind_a_101_nobody_visits,
            self.nothing_moves_for_dead_peer, self.visits_outlive_the_deadline_and_a_drain,
            self.silence_where_it_is_unreachable)})

    def half_a_first_message_is_waited_for(self):
        """Box A has opened: a client, or somebody who has met one."""
        backend = self.backend()
        tunnel = self.serve(TCP, backend.target, "handshake-timeout = 1s")
        message = culvert1.Client(secrets_of(TCP), pad=b"pad").message1
        with connect(tunnel.server_port) as client:
            client.sendall(message[:96])
            self.assertEqual(read_until_end(client), Received(b"", CLEAN))
        self.assertTrue(backend.untouched())

    def behind_a_101_nobody_visits(self):
        backend = self.backend()
        tunnel = self.serve(WEBSOCKET, backend.target, "handshake-timeout = 1s")
        with open_websocket(tunnel.server_port, PATH) as stranger:
            stranger.sendall(frame(BINARY, random_bytes(500, "wrong")))
            self.assertEqual(read_until_end(stranger), Received(b"", CLEAN))
        self.assertTrue(backend.untouched())

    def nothing_moves_for_dead_peer(self):
        tunnel, visitor, fallback = self.visit(TCP, "dead-peer = 10s", "keepalive = 5s")
        began = time.monotonic()
        for end in (visitor, fallback):
            self.assertEqual(read_until_end(end, seconds=25).end, RESET)
        self.assertGreater(time.monotonic() - began, 9)

    def visits_outlive_the_deadline_and_a_drain(self):
        backend = self.backend()
        tunnel = self.tunnel(TCP, "127.0.0.1:1", daemon=["drain = 20s"],
                             server=[f"fallback = {backend.target}", "handshake-timeout = 1s"])
        visitor, fallback = self.another(tunnel, backend)
        tunnel.server.send_signal(15)
        tunnel.server.wait_for_log("stopping: 1 sessions")
        for _ in range(12):  # longer than the deadline and what is added to it
            time.sleep(1)
            fallback.sendall(b"tick")
            self.assertEqual(read_exactly(visitor, 4), b"tick")
        fallback.close()
        self.assertEqual(read_until_end(visitor), Received(b"", CLEAN))
        visitor.close()
        self.assertEqual(tunnel.server.wait(10), 0)

    def silence_where_it_is_unreachable(self):
        tunnel = self.serve(TCP, f"127.0.0.1:{free_port()}", "handshake-timeout = 1s")
        together({str(len(opening)): lambda opening=opening: self.silence(tunnel, opening)
                  for opening in (b"", HTTP, random_bytes(200, "long"))})
        tunnel.server.wait_for_log(r"warning .*the fallback 127\.0\.0\.1:\d+ can't be reached: "
                                   "Connection refused")
        with connect(tunnel.server_port) as stranger:  # an end is answered with one, as ever
            stranger.shutdown(socket.SHUT_WR)
            began = time.monotonic()
            self.assertEqual(read_until_end(stranger), Received(b"", CLEAN))
            self.assert_within(began, AT_ONCE)
        self.assert_tunnel_works(tunnel)

    def silence(self, tunnel, opening):
        with connect(tunnel.server_port) as stranger:
            began = time.monotonic()
            stranger.sendall(opening)
            self.assertEqual(read_until_end(stranger), Received(b"", CLEAN))
            self.assertGreater(time.monotonic() - began, 0.9)


class Unreachable(FallbackTest):
    def test_a_404_as_without(self):
        tunnel = self.serve(WEBSOCKET, f"127.0.0.1:{free_port()}")
        for request in (HTTP.replace(b"/index", PATH.encode()), HTTP):
            with connect(tunnel.server_port) as stranger:
                stranger.sendall(request)
                stranger.shutdown(socket.SHUT_WR)
                got = read_until_end(stranger)
                self.assertEqual(got.end, CLEAN)
                self.assertTrue(got.data.startswith(b"HTTP/1.1 404 "), got.data)
        self.assert_tunnel_works(tunnel)

    def test_it_comes_back(self):
        port = free_port()
        tunnel = self.serve(TCP, f"127.0.0.1:{port}")
        with connect(tunnel.server_port) as stranger:
            stranger.sendall(HTTP)
            tunnel.server.wait_for_log("can't be reached")
        fallback = Service(site, port=port)
        self.addCleanup(fallback.close)
        self.assertIn(" 200 ", answer_to(HTTP, tunnel.server_port)[0])


if __name__ == "__main__":
    case.main()
