"""What somebody without the keys sees of a server: nothing at all, for 10 to 20 seconds."""

import functools
import socket
import ssl
import time

from support import case, programs
from support.backends import echo
from support.streams import CLEAN, RESET, Received, connect, random_bytes, read_until_end
from support.tunnel import (
    BOTH_CARRIERS, FOUR_KINDS, PATH, TCP, TCP_STATIC, WEBSOCKET, WEBSOCKET_STATIC, make_keys,
    shared_keys,
)
from support.waiting import together, until
from support.websocket import open_websocket, upgrade_request

# The server's deadline, and what the measuring may add.
EARLIEST, LATEST = 9.8, 20.8
MANY = ["max-unproven-per-address = 1000"]
NO_ANSWER = ("no valid answer: wrong key, wrong address, clocks more than 120 s apart, or not a "
             "culvert server")

SILENCE = Received(b"", CLEAN)


def client_hello():
    """What a TLS client says first."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = ssl.create_default_context().wrap_bio(incoming, outgoing, server_hostname="example.org")
    try:
        tls.do_handshake()
    except ssl.SSLWantReadError:
        pass
    return outgoing.read()


HTTP = b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n"
SIZES = (0, 1, 2, 31, 32, 63, 64, 95, 96, 97, 159, 160, 161, 300, 1119, 4096, 100_000)
OPENINGS = {
    **{f"{size} random bytes": random_bytes(size, size) for size in SIZES},
    "HTTP": HTTP, "TLS": client_hello(), "SSH": b"SSH-2.0-OpenSSH_9.2\r\n", "zeros": bytes(500),
}


class Probing(case.SystemTest):
    def silence(self, port, opening, reaction=None):
        """Sends the opening and sees nothing until the deadline."""
        began = time.monotonic()
        with connect(port) as sock:
            sock.sendall(opening)
            if reaction:
                reaction(sock)
            got = read_until_end(sock, seconds=25)
        self.assertEqual(got, SILENCE)
        seconds = time.monotonic() - began
        self.assertTrue(EARLIEST <= seconds <= LATEST, f"{seconds:.2f} s")
        return seconds

    def test_every_wrong_opening_looks_alike(self):
        backend = self.backend()
        ports = {
            str(kind): self.tunnel(kind, backend.target, server=MANY).server_port
            for kind in (TCP, TCP_STATIC)
        }
        times = together({
            f"{name} to {kind}": functools.partial(self.silence, port, opening)
            for kind, port in ports.items() for name, opening in OPENINGS.items()
        })
        self.assertTrue(backend.untouched())
        # Drawn anew for each connection: a fixed deadline would be a mark.
        self.assertGreater(max(times.values()) - min(times.values()), 2)

    def test_the_deadline_counts_from_the_accept(self):
        def drip(sock):
            piece = iter(random_bytes(100, "drip"))
            while True:
                try:
                    sock.sendall(bytes([next(piece)]))
                    sock.settimeout(0.5)
                    if sock.recv(1) == b"":
                        return
                except TimeoutError:
                    continue
                except OSError:
                    return

        backend = self.backend()
        tcp = self.tunnel(TCP, backend.target, server=MANY).server_port
        ws = self.tunnel(WEBSOCKET, backend.target, server=MANY).server_port
        request = upgrade_request(PATH, ws)
        together({
            "TCP": lambda: self.silence(tcp, b"", drip),
            "a slow HTTP request": lambda: self.silence(ws, b"GET ", drip),
            "half an HTTP request": lambda: self.silence(ws, request[:50]),
            "no HTTP request": lambda: self.silence(ws, b""),
        })

    @case.for_kinds(TCP, TCP_STATIC)
    def test_a_fin_is_answered_at_once(self, kind):
        port = self.tunnel(kind, self.backend().target).server_port
        for name, opening in OPENINGS.items():
            with self.subTest(name), connect(port) as sock:
                sock.sendall(opening)
                time.sleep(0.02)
                began = time.monotonic()
                sock.shutdown(socket.SHUT_WR)
                self.assertEqual(read_until_end(sock, seconds=5), SILENCE)
                self.assertLess(time.monotonic() - began, 1)

    @case.for_kinds(WEBSOCKET, WEBSOCKET_STATIC)
    def test_a_fin_behind_an_upgrade_is_answered_at_once(self, kind):
        port = self.tunnel(kind, self.backend().target).server_port
        with open_websocket(port, PATH) as sock:
            began = time.monotonic()
            sock.shutdown(socket.SHUT_WR)
            self.assertEqual(read_until_end(sock, seconds=5), SILENCE)
            self.assertLess(time.monotonic() - began, 1)

    def test_the_log_stays_small(self):
        tunnel = self.tunnel(TCP, self.backend().target)
        for _ in range(300):
            with connect(tunnel.server_port) as sock:
                sock.sendall(HTTP)
        time.sleep(0.5)
        lines = tunnel.server.log_lines("no session")
        self.assertTrue(1 <= len(lines) < 20, tunnel.server.log())
        self.assertEqual(tunnel.server.log_lines(" error "), [])

    @case.for_kinds(*BOTH_CARRIERS)
    def test_five_hundred_strangers_do_not_hold_up_a_client(self, kind):
        service = self.service(echo)
        tunnel = self.tunnel(kind, service.target)
        strangers = [connect(tunnel.server_port, source=f"127.0.0.{i % 4 + 2}") for i in range(500)]
        for number, stranger in enumerate(strangers):
            stranger.sendall(b"G" * (number % 2))
        deadline = time.monotonic() + 4
        while time.monotonic() < deadline:
            began = time.monotonic()
            with tunnel.connect() as application:
                application.sendall(b"hello")
                self.assertEqual(application.recv(5), b"hello")
            self.assertLess(time.monotonic() - began, 1)

        # Of each address 64 may stay, and the youngest of them do.
        alive = [number for number, stranger in enumerate(strangers) if not is_gone(stranger)]
        self.assertEqual(len(alive), 4 * 64)
        self.assertEqual(alive, list(range(500 - 4 * 64, 500)))
        for stranger in strangers:
            stranger.close()


    def test_the_cap_of_an_address_is_not_for_proxies(self):
        tunnel = self.tunnel(TCP, self.backend().target, server=[
            "max-unproven-per-address = 2", "proxy-address = 127.0.0.2", "handshake-timeout = 60s"])
        behind_a_proxy, others = (
            [connect(tunnel.server_port, source=source) for _ in range(8)]
            for source in ("127.0.0.2", "127.0.0.3"))

        def alive(strangers):
            return [number for number, stranger in enumerate(strangers) if not is_gone(stranger)]

        until(lambda: len(alive(others)) <= 2, 50, "all but two are closed")
        self.assertEqual(alive(others), [6, 7])
        self.assertEqual(alive(behind_a_proxy), list(range(8)))
        for stranger in behind_a_proxy + others:
            stranger.close()


def is_gone(stranger):
    stranger.setblocking(False)
    try:
        return stranger.recv(1) == b""
    except BlockingIOError:
        return False


class Replays(case.SystemTest):
    def first_flight(self, tunnel, withhold=False):
        """What a client sends first. Withheld, the server has not seen it."""
        flight = []

        def capture(link):
            link.up.edit_piece(lambda piece: flight.append(piece) or (b"" if withhold else piece))

        tunnel.relay.on_link = capture
        application = tunnel.connect()
        until(lambda: flight, 5, "the first flight")
        return flight[0], application

    def send(self, port, flight, pieces=False):
        with connect(port) as sock:
            if pieces:
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                for byte in flight:
                    sock.sendall(bytes([byte]))
            else:
                sock.sendall(flight)
            began = time.monotonic()
            got = read_until_end(sock, seconds=25)
        return got, time.monotonic() - began

    def test_replays_of_a_session_are_met_with_silence(self):
        def replay(kind):
            backend = self.backend()
            tunnel = self.tunnel(kind, backend.target, relay=True, server=MANY)
            flight, application = self.first_flight(tunnel)
            service = backend.accept()
            ways = {f"socket {number}": False for number in range(50)}
            ways["one byte a time"] = True
            results = together({
                name: functools.partial(self.send, tunnel.server_port, flight, pieces)
                for name, pieces in ways.items()
            })
            for got, seconds in results.values():
                self.assertEqual(got, SILENCE)
                self.assertTrue(EARLIEST - 1 <= seconds <= LATEST, f"{seconds:.2f} s")
            self.assertTrue(backend.untouched())
            tunnel.server.wait_for_log("replayed first message")
            # The session they were taken from has not noticed.
            application.sendall(b"hello")
            self.assertEqual(service.recv(5), b"hello")

        together({str(kind): lambda kind=kind: replay(kind) for kind in (TCP, TCP_STATIC)})

    def test_copies_that_come_together_get_one_answer(self):
        def race(kind, copies):
            backend = self.backend()
            tunnel = self.tunnel(kind, backend.target, relay=True, server=MANY,
                                 daemon=["threads = 2"])
            flight, _ = self.first_flight(tunnel, withhold=True)
            results = together({
                f"copy {number}": functools.partial(self.send, tunnel.server_port, flight)
                for number in range(copies)
            })
            answered = [got for got, _ in results.values() if got.data]
            self.assertEqual(len(answered), 1)
            # Whoever has only copied gets no further: no record comes, so it is reset.
            self.assertEqual(answered[0].end, RESET)
            self.assertTrue(112 <= len(answered[0].data) <= 112 + 1023)
            self.assertTrue(backend.untouched())

        together({
            f"{copies} copies, {kind}": functools.partial(race, kind, copies)
            for kind in (TCP, TCP_STATIC) for copies in (2, 50)
        })


class WrongClients(case.SystemTest):
    """Clients with a daemon of their own, but not with what it takes."""

    def gives_up(self, tunnel, reason, least=EARLIEST, most=15.8):
        """The application gets a reset and both logs say why."""
        began = time.monotonic()
        got = tunnel.outcome(seconds=25)
        seconds = time.monotonic() - began
        self.assertEqual(got, Received(b"", RESET))
        # After 15 s the client gives up; the server may have closed before.
        self.assertTrue(least <= seconds <= most, f"{seconds:.2f} s")
        self.assert_one_log_line(tunnel.client, NO_ANSWER)
        if reason:
            self.assert_one_log_line(tunnel.server, reason)

    def test_wrong_keys(self):
        def attempt(kind):
            backend = self.backend()
            tunnel = self.tunnel(kind, backend.target, client_keys=make_keys())
            self.gives_up(tunnel, "wrong key or not a culvert peer")
            self.assertTrue(backend.untouched())

        together({str(kind): functools.partial(attempt, kind) for kind in FOUR_KINDS})

    def test_a_client_that_is_not_in_the_list(self):
        def attempt(kind):
            backend = self.backend()
            strangers = make_keys()
            tunnel = self.tunnel(kind, backend.target)
            known, unknown = (keys.folder / "client.key" for keys in (shared_keys(), strangers))
            tunnel.replace_client(lambda text: text.replace(str(known), str(unknown)))
            self.gives_up(tunnel, "client key not in the list")
            self.assertTrue(backend.untouched())

        together({str(kind): functools.partial(attempt, kind)
                  for kind in (TCP_STATIC, WEBSOCKET_STATIC)})

    def test_wrong_clocks(self):

        def attempt(kind, offset, said):
            backend = self.backend()
            tunnel = self.tunnel(kind, backend.target)
            tunnel.replace_client(env=programs.with_clock(offset))
            # libfaketime refuses a timer that is due at once, as Asio sets it, when the clock is
            # ahead (timerfd_settime: EINVAL). Rarely the client's is one; the server ends it then.
            self.gives_up(tunnel, rf"clocks too far apart \(the client's is {said} s ahead\)",
                          most=20.8)
            self.assertTrue(backend.untouched())

        together({
            f"{kind}, {offset}": functools.partial(attempt, kind, offset, said)
            for kind in FOUR_KINDS
            for offset, said in (("-130s", r"-1(29|30|31)"), ("+130s", r"1(29|30|31)"))
        })

    def test_clocks_that_are_less_apart(self):
        service = self.service(echo)
        for offset in ("-110s", "+110s"):
            with self.subTest(offset):
                tunnel = self.tunnel(TCP, service.target)
                tunnel.replace_client(env=programs.with_clock(offset))
                with tunnel.connect() as application:
                    application.sendall(b"hello")
                    self.assertEqual(application.recv(5), b"hello")

    def test_servers_that_are_none(self):
        def silent(connection):
            connection.recv(1)
            time.sleep(30)

        def chatty(connection):
            connection.sendall(random_bytes(2000, "chatty"))
            time.sleep(30)

        def attempt(handler, least):
            impostor = self.service(handler)
            tunnel = self.tunnel(TCP, "127.0.0.1:1")
            tunnel.replace_client(lambda text: text.replace(tunnel.server_url(),
                                                            f"tcp://{impostor.target}"))
            self.gives_up(tunnel, None, least)

        together({"silent": lambda: attempt(silent, 14.8), "chatty": lambda: attempt(chatty, 0)})


if __name__ == "__main__":
    case.main()
