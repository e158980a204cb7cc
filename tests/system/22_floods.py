"""Many strangers, or few loud ones: clients still get in, memory and time stay bounded."""

import fcntl
import functools
import sys
import termios
import threading
import time

from support import case, culvert1
from support.backends import echo
from support.culvert1 import ALERT, OPEN, PAD, Record
from support.key_holders import LoneClient, LoneServer, secrets_of, switching_protocols
from support.streams import CLEAN, RESET, Received, connect, random_bytes, read_until_end
from support.tunnel import BOTH_CARRIERS, PATH, TCP, TCP_STATIC, WEBSOCKET
from support.waiting import together, until
from support.websocket import BINARY, PING, PONG, frame, open_websocket, upgrade_request

MIB = 1 << 20
IN_GOOD_TIME = 5  # seconds; a few ms on a machine that has nothing else to do


class Flood:
    """A few connections that send without a pause."""

    def __init__(self, sockets, piece):
        self._sockets, self.sent = sockets, 0
        for sock in sockets:
            threading.Thread(target=self._send, args=(sock, piece), daemon=True).start()
        until(lambda: self.sent > len(piece), 10, "the flood has begun")

    def _send(self, sock, piece):
        try:
            while True:
                self.sent += sock.send(piece)
        except OSError:
            pass

    def close(self):
        for sock in self._sockets:
            sock.close()


class Loud(case.SystemTest):
    """Peers that never pause. With a thread to themselves they would hold up everybody on it."""

    LOUD = 4

    def others_get_through(self, tunnel, flood):
        for _ in range(10):
            began = time.monotonic()
            with tunnel.connect() as application:
                application.sendall(b"hello")
                self.assertEqual(application.recv(5), b"hello")
            self.assertLess(time.monotonic() - began, IN_GOOD_TIME)
        flood.close()

    def strangers(self, kind, make, piece):
        tunnel = self.tunnel(kind, self.service(echo).target)
        sockets = [make(tunnel.server_port) for _ in range(self.LOUD)]
        flood = Flood(sockets, piece)
        self.others_get_through(tunnel, flood)

    def test_random_bytes(self):
        self.strangers(TCP, connect, random_bytes(MIB, "loud"))

    def test_random_bytes_in_messages(self):
        upgraded = functools.partial(open_websocket, path=PATH)
        self.strangers(WEBSOCKET, upgraded, frame(BINARY, random_bytes(100_000, "loud")))

    def test_pings(self):
        upgraded = functools.partial(open_websocket, path=PATH)
        self.strangers(WEBSOCKET, upgraded, frame(PING, b"are you there?") * 5000)

    def test_frames_without_a_payload(self):
        upgraded = functools.partial(open_websocket, path=PATH)
        self.strangers(WEBSOCKET, upgraded, frame(PONG) * 50_000)

    def test_bytes_behind_a_404(self):
        def ask(port):
            sock = connect(port)
            sock.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            return sock

        self.strangers(WEBSOCKET, ask, bytes(MIB))

    @case.for_kinds(*BOTH_CARRIERS)
    def test_a_loud_client_that_opens_nothing(self, kind):
        server = LoneServer(self, kind, self.service(echo).target)
        for _ in range(self.LOUD):
            loud = server.dial()
            threading.Thread(target=self.send_pads, args=(loud,), daemon=True).start()
            self.addCleanup(loud.line.sock.close)
        for _ in range(10):
            began = time.monotonic()
            peer = server.dial()
            peer.send(OPEN)
            peer.send(culvert1.DATA, b"hello")
            self.assertEqual(peer.next_record(), Record(culvert1.DATA, b"hello"))
            self.assertLess(time.monotonic() - began, IN_GOOD_TIME)
            peer.line.sock.close()

    @staticmethod
    def send_pads(peer):
        try:
            while True:
                peer.line.send(b"".join(peer.sealer.seal(PAD) for _ in range(50)))
        except OSError:
            pass

    @case.for_kinds(*BOTH_CARRIERS)
    def test_a_loud_client_behind_an_alert(self, kind):
        """It is read for 2 s, and not for longer."""
        server = LoneServer(self, kind, "127.0.0.1:1")
        peer = server.dial()
        peer.send(OPEN, b"nosuch")
        self.assertEqual(peer.next_record(), Record(ALERT, b"\x05"))
        piece = frame(BINARY, bytes(MIB)) if kind.carrier == "ws" else bytes(MIB)
        began = time.monotonic()
        flood = Flood([peer.line.sock], piece)
        server.server.wait_for_log("service refused", seconds=20)
        self.assertGreater(time.monotonic() - began, 1.5)
        flood.close()

    def test_a_loud_server(self):
        """A client that meets one gives up after 15 s, and its other connections notice nothing."""
        client = LoneClient(self, WEBSOCKET)
        good = client.connect()
        peer = client.serve()
        victims = [client.connect() for _ in range(self.LOUD)]
        began = time.monotonic()
        sockets = [client.accept().sock for _ in victims]
        flood = Flood(sockets, frame(PING, b"are you there?", masked=False) * 5000)
        peer.next_record()
        for _ in range(10):
            asked = time.monotonic()
            good.sendall(b"hello")
            self.assertEqual(peer.next_record(), Record(culvert1.DATA, b"hello"))
            self.assertLess(time.monotonic() - asked, IN_GOOD_TIME)
        for victim in victims:
            self.assertEqual(read_until_end(victim, 30), Received(b"", RESET))
        self.assertTrue(14.5 <= time.monotonic() - began <= 25)
        flood.close()


class Many(case.SystemTest):
    def attempt(self, tunnel):
        with tunnel.connect() as application:
            application.sendall(b"hello")
            self.assertEqual(application.recv(5), b"hello")

    @case.for_kinds(*BOTH_CARRIERS)
    def test_five_hundred_silent_and_five_hundred_that_drip(self, kind):
        tunnel = self.tunnel(kind, self.service(echo).target)
        message = culvert1.Client(secrets_of(kind), pad=bytes(1000)).message1
        says = upgrade_request(PATH, tunnel.server_port) if kind.carrier == "ws" else message
        strangers = [connect(tunnel.server_port, source=f"127.0.0.{i % 40 + 2}")
                     for i in range(1000)]
        dripping = strangers[::2]
        for sock in strangers:
            sock.setblocking(False)
        began, said, slowest = time.monotonic(), 0, 0
        while time.monotonic() - began < 4:
            for sock in dripping:
                try:
                    sock.send(says[said : said + 1])
                except OSError:
                    pass  # over a cap
            said += 1
            asked = time.monotonic()
            self.attempt(tunnel)
            slowest = max(slowest, time.monotonic() - asked)
        self.assertLess(slowest, IN_GOOD_TIME)
        for sock in strangers:
            sock.close()

    @case.for_kinds(*BOTH_CARRIERS)
    def test_five_hundred_clients_at_once_all_get_in(self, kind):
        """From one address; the cap on unproven ones counts none of them."""
        tunnel = self.tunnel(kind, self.service(echo).target)
        applications = [tunnel.connect() for _ in range(500)]
        for application in applications:
            application.sendall(b"hello")
        for application in applications:
            self.assertEqual(application.recv(5), b"hello")
        self.assertEqual(tunnel.server.log_lines("too many"), [])

    def test_over_the_cap_of_an_address_the_oldest_goes_whatever_its_state(self):
        """A, B and S by turns: the ages alone decide."""
        server = LoneServer(self, TCP_STATIC, "127.0.0.1:1",
                            server=["max-unproven-per-address = 6", "handshake-timeout = 60s"])

        def enter(number):
            message = culvert1.Client(secrets_of(TCP_STATIC)).message1
            opening = (message[:40], message[:100], message[:96] + bytes(64))[number % 3]
            line = server.call()
            line.send(opening)
            line.sock.setblocking(False)
            return line.sock

        sockets = [enter(number) for number in range(14)]
        elsewhere = server.call(source="127.0.0.9")
        elsewhere.sock.setblocking(False)

        def stay():
            return [number for number, sock in enumerate(sockets) if not _ended(sock)]

        # Nobody is counted before 2 s; then the youngest six stay.
        self.assertEqual(stay(), list(range(14)))
        until(lambda: len(stay()) <= 6, 10, "the others are gone")
        self.assertEqual(stay(), list(range(8, 14)))
        self.assertFalse(_ended(elsewhere.sock))
        server.server.wait_for_log("connections without a handshake closed: too many of them")

    def test_over_the_cap_of_all_the_oldest_goes_whatever_its_address(self):
        server = LoneServer(self, TCP, "127.0.0.1:1", server=[
            "max-unproven = 50", "max-unproven-per-address = 40", "handshake-timeout = 60s",
            "proxy-address = 127.0.1.0/24"])
        listed = [server.call(source="127.0.1.7").sock for _ in range(45)]  # no cap of its own
        others = [server.call(source=f"127.0.2.{i + 1}").sock for i in range(30)]
        sockets = listed + others
        for sock in sockets:
            sock.setblocking(False)

        def stay():
            return [number for number, sock in enumerate(sockets) if not _ended(sock)]

        until(lambda: len(stay()) <= 50, 10, "the others are gone")
        self.assertEqual(stay(), list(range(25, 75)))

    def test_the_memory_of_a_stranger(self):
        """8 KiB over TCP and 24 KiB over WebSocket, in each of the states that a stranger reaches."""

        def upgrading(server, _):
            sock = connect(server.server_port)
            sock.sendall(upgrade_request(PATH, server.server_port, "X: " + 7000 * "x")[:-2])
            return sock

        def said(size):
            def enter(server, number):
                line = server.call()
                line.send(random_bytes(size, number))
                return line.sock

            return enter

        for kind, state, enter, most in (
            (TCP, "A, silent", said(0), 8), (TCP, "A", said(95), 8), (TCP, "S", said(3000), 8),
            (WEBSOCKET, "half a request", upgrading, 24), (WEBSOCKET, "A", said(95), 24),
            (WEBSOCKET, "S", said(3000), 24),
        ):
            with self.subTest(f"{kind}, {state}"):
                self.assertLess(self.memory_of_each(kind, enter), most * 1024)

    def memory_of_each(self, kind, enter, count=800):
        server = LoneServer(self, kind, "127.0.0.1:1",
                            server=["max-unproven-per-address = 2000", "handshake-timeout = 60s"])
        process = server.server
        sockets = [enter(server, number) for number in range(100)]  # what is needed once
        until(lambda: process.open_files() >= 100, 20, "the first are in")
        before, files = process.memory(), process.open_files()
        sockets += [enter(server, number) for number in range(count)]
        until(lambda: process.open_files() >= files + count, 20, "all are in")
        until(lambda: all(_sent(sock) for sock in sockets), 20, "all that they said is taken")
        each = (process.memory() - before) // count
        print(f"{kind}: {each} bytes for each stranger")
        for sock in sockets:
            sock.close()
        return each


def _sent(sock):
    """Whether the other end's kernel has taken all that was sent."""
    waiting = fcntl.ioctl(sock, termios.TIOCOUTQ, bytes(4))
    return int.from_bytes(waiting, sys.byteorder) == 0


def _ended(sock):
    try:
        return sock.recv(1) == b""
    except BlockingIOError:
        return False


if __name__ == "__main__":
    case.main()
