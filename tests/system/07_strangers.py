"""What somebody without the keys sees of a server: nothing at all, for 10 to 20 seconds."""

import functools
import resource
import select
import socket
import ssl
import statistics
import time

from support import case, culvert1, programs
from support.backends import echo
from support.key_holders import LoneServer, secrets_of
from support.streams import CLEAN, RESET, Received, connect, random_bytes, read_until_end, reset
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
SIZES = (*range(301), 1119, 4096, 100_000)
OPENINGS = {
    **{f"{size} random bytes": random_bytes(size, size) for size in SIZES},
    "HTTP": HTTP, "TLS": client_hello(), "SSH": b"SSH-2.0-OpenSSH_9.2\r\n", "zeros": bytes(500),
}


class Probes:
    """Connections that say something and then only listen, all at once."""

    def __init__(self):
        self._probes = []

    def send(self, server, name, state, opening):
        began = time.monotonic()
        line = server.call()
        line.send(opening)
        line.sock.setblocking(False)
        self._probes.append([name, state, line.sock, began, None])

    def wait_for_ends(self, seconds):
        waiting = {probe[2].fileno(): probe for probe in self._probes}
        poll = select.poll()
        for number in waiting:
            poll.register(number, select.POLLIN)
        deadline = time.monotonic() + seconds
        while waiting and time.monotonic() < deadline:
            for number, _ in poll.poll(100):
                waiting.pop(number)[4] = time.monotonic()  # whatever came is the first
                poll.unregister(number)

    def ends(self):
        for name, _, sock, began, ended in self._probes:
            if ended is None:
                raise AssertionError(f"{name}: nothing has ended it")
            yield name, read_until_end(sock, seconds=5), ended - began

    def times(self):
        times = {}
        for _, state, _, began, ended in self._probes:
            times.setdefault(state, []).append(ended - began)
        return times


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
        """Every length from 0 to 300, and what a holder of the server's public key can reach: no
        byte, no early end, and the same ends over the same times for all of them."""
        backend = self.backend()
        probes = Probes()
        for kind in (TCP, TCP_STATIC):
            server = LoneServer(self, kind, backend.target, server=MANY)
            for name, opening in OPENINGS.items():
                state = "A" if len(opening) < 96 else "S"
                probes.send(server, f"{kind}: {name}", f"{state} by random bytes", opening)
        for number in range(60):
            message = culvert1.Client(secrets_of(TCP_STATIC)).message1
            wrong_b = message[:96] + random_bytes(64, number)
            probes.send(server, f"box A, {number}", "B", message[:96])
            probes.send(server, f"wrong box B, {number}", "S by a wrong box B", wrong_b)
        server = LoneServer(self, WEBSOCKET, backend.target, server=MANY)
        for size in range(301):
            opening = random_bytes(size, size)
            probes.send(server, f"{size} bytes in a message", "behind an upgrade", opening)
        probes.wait_for_ends(25)
        for name, got, seconds in probes.ends():
            self.assertEqual(got, SILENCE, name)
            self.assertTrue(EARLIEST <= seconds <= LATEST, f"{name}: {seconds:.2f} s")
        self.assertTrue(backend.untouched())
        # Uniform over 10 s in each of the states: else the time would tell which it is.
        for state, times in probes.times().items():
            self.assertGreater(len(times), 50)
            self.assertTrue(13 < statistics.fmean(times) < 17, f"{state}: {times}")
            self.assertTrue(2 < statistics.stdev(times) < 4, f"{state}: {times}")

    def test_more_bytes_and_a_reset_tell_nothing_either(self):
        """In A, in B and in S: whatever else a prober does, nothing comes back."""
        backend = self.backend()
        server = LoneServer(self, TCP_STATIC, backend.target, server=MANY)
        message = culvert1.Client(secrets_of(TCP_STATIC)).message1
        states = {"A": message[:50], "B": message[:120],
                  "S": message[:96] + random_bytes(64, "wrong")}
        lines = {}
        for name, opening in states.items():
            for number in range(5):
                lines[name, number] = server.call()
                lines[name, number].send(opening)
        for number in range(5):
            for name in states:
                line = lines[name, number]
                line.sock.setblocking(False)
                with self.assertRaises(BlockingIOError, msg=name):
                    line.sock.recv(1)
                line.sock.setblocking(True)
                if number < 2:
                    reset(line.sock)
                else:
                    line.send(random_bytes(10 ** number, number))
                    line.sock.shutdown(socket.SHUT_WR)
                    self.assertEqual(read_until_end(line.sock, seconds=5), SILENCE)
        self.assertTrue(backend.untouched())

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

    def test_strangers_leave_descriptors_to_clients(self):
        def few_files():
            resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))

        tunnel = self.tunnel(TCP, self.service(echo).target)
        tunnel.server.stop()
        tunnel.start_server(preexec_fn=few_files)
        # More than it has descriptors for, fewer than max-unproven and than one address may have.
        strangers = [connect(tunnel.server_port, source=f"127.0.0.{i % 4 + 2}") for i in range(40)]
        with tunnel.connect() as application:
            application.sendall(b"hello")
            self.assertEqual(application.recv(5), b"hello")
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


    def test_a_replay_after_a_restart_opens_nothing(self):
        """The stated gap: a server that has been restarted answers it. Once, and no record follows."""
        shared_keys()  # not by many threads at once
        together({str(kind): functools.partial(self.replay_after_a_restart, kind)
                  for kind in (TCP, WEBSOCKET, TCP_STATIC)})

    def replay_after_a_restart(self, kind):
        backend = self.backend()
        server = LoneServer(self, kind, backend.target, server=["handshake-timeout = 1s"])
        message = culvert1.Client(secrets_of(kind)).message1
        first = server.call()
        first.send(message)
        self.assertTrue(first.receive())
        first.sock.close()
        server.server.stop()
        server.start_server()
        second, third = server.call(), server.call()
        second.send(message)
        self.assertTrue(second.receive())
        third.send(message)
        for line, end in ((third, CLEAN), (second, RESET)):
            self.assertEqual(read_until_end(line.sock, seconds=20), Received(b"", end))
        self.assertTrue(backend.untouched())


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
        self.assert_one_log_line(tunnel.client, f"handshake failed: {NO_ANSWER}")
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
