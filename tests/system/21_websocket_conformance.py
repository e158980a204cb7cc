"""The WebSocket of both daemons, along the sections of the Autobahn test-suite: what RFC 6455 and
proxy/PROTOCOL.md section 4 demand of an endpoint whose stream is binary and whose streams' borders
mean nothing. Each case is played three times: by somebody without a key before message 2, by a
client in a session with the real server, and by a server in a session with the real client.

Section 6, UTF-8, has nothing to test: a text message is refused whatever it holds."""

import dataclasses
import functools
import random
import select
import socket
import time
from collections.abc import Callable

from support import case
from support.culvert1 import DATA, HEADER, TAG
from support.key_holders import (
    LoneClient, LoneServer, Seen, WebSocketLine, switching_protocols,
)
from support.scenes import AtClient, AtServer
from support.streams import (
    CLEAN, RESET, Background, Received, connect, flood, random_bytes, read_until_end,
)
from support.tunnel import PATH, WEBSOCKET, shared_keys
from support.waiting import together
from support.websocket import (
    BINARY, CLOSE, CONTINUATION, PING, PONG, TEXT, FrameParser, frame, new_key, read_head,
    upgrade_request,
)

GOOD, CLOSES = "good", "closes"
NO_ANSWER = "no valid answer: wrong key"
# What the log says of a fault.
RESERVED = "reserved bit set"
OPCODE = "unknown opcode"
TEXT_MESSAGE = "text message"
MASKING = "frame masked the wrong way"
LENGTH = "frame length not allowed"
CONTROL = "control frame fragmented or too long"
FRAGMENTS = "fragments out of order"
CLOSE_PAYLOAD = "malformed Close frame"


class Player:
    """Puts frames on the wire. `stream` gives bytes of the protocol's stream, so many."""

    def __init__(self, sock, make_frame, stream):
        self._sock, self.frame, self.stream = sock, make_frame, stream
        self.pings = []

    def send(self, *frames, pieces=None):
        """All at once, or in pieces of so many bytes."""
        data = b"".join(frames)
        for at in range(0, len(data), pieces or len(data)):
            self._sock.sendall(data[at : at + (pieces or len(data))])

    def binary(self, size, **form):
        return self.frame(BINARY, self.stream(size), **form)

    def ping(self, payload=b"", **form):
        self.pings.append(payload)
        return self.frame(PING, payload, **form)

    def fragments(self, size, each, between=lambda: b""):
        """A message of `size` bytes in fragments."""
        rest, frames = self.stream(size), []
        while rest:
            piece, rest = rest[:each], rest[each:]
            opcode = CONTINUATION if frames else BINARY
            frames.append(self.frame(opcode, piece, final=not rest) + (between() if rest else b""))
        return b"".join(frames)


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    play: Callable  # with a Player
    outcome: str  # GOOD, CLOSES or a fault


CHOPPED, OCTETS = 997, 1


def framing():
    for number, size in enumerate((0, 125, 126, 127, 128, 65535, 65536), 1):
        yield Case(f"1.1.{number} text of {size}", lambda p, n=size: p.send(p.frame(TEXT, bytes(n))),
                   TEXT_MESSAGE)
        yield Case(f"1.2.{number} binary of {size}", lambda p, n=size: p.send(p.binary(n)), GOOD)
    yield Case("1.2.8 binary of 65536, chopped",
               lambda p: p.send(p.binary(65536), pieces=CHOPPED), GOOD)


def pings():
    yield Case("2.1 without a payload", lambda p: p.send(p.ping()), GOOD)
    yield Case("2.2 a short one", lambda p: p.send(p.ping(b"Hello, world!")), GOOD)
    yield Case("2.3 no text", lambda p: p.send(p.ping(b"\x00\xff\xfe\xfd\xfc\xfb\x00\xff")), GOOD)
    yield Case("2.4 of 125 bytes", lambda p: p.send(p.ping(bytes(range(125)))), GOOD)
    yield Case("2.5 of 126 bytes", lambda p: p.send(p.frame(PING, bytes(126))), CONTROL)
    yield Case("2.6 of 125 bytes, by octets",
               lambda p: p.send(p.ping(bytes(range(125))), pieces=OCTETS), GOOD)
    yield Case("2.7 a pong that nobody asked for", lambda p: p.send(p.frame(PONG)), GOOD)
    yield Case("2.8 the same with a payload", lambda p: p.send(p.frame(PONG, b"unasked")), GOOD)
    yield Case("2.9 a pong, then a ping",
               lambda p: p.send(p.frame(PONG, b"unasked"), p.ping(b"asked")), GOOD)
    yield Case("2.10 ten pings", lambda p: p.send(*(p.ping(b"%d" % i) for i in range(10))), GOOD)
    yield Case("2.11 ten pings, by octets",
               lambda p: p.send(*(p.ping(b"%d" % i) for i in range(10)), pieces=OCTETS), GOOD)


def reserved_bits():
    for bits in range(1, 8):
        for opcode in (BINARY, CONTINUATION, PING, PONG, CLOSE, TEXT):
            yield Case(f"3.{bits} with opcode {opcode}",
                       lambda p, o=opcode, r=bits: p.send(p.binary(50), p.frame(o, b"xx", reserved=r)),
                       RESERVED)
    yield Case("3.8 by octets", lambda p: p.send(p.frame(BINARY, b"x", reserved=4)[:2], pieces=OCTETS),
               RESERVED)


def opcodes():
    for section, unknown in ((1, range(3, 8)), (2, range(11, 16))):
        for number, opcode in enumerate(unknown, 1):
            for payload in (b"", b"with a payload"):
                yield Case(f"4.{section}.{number} opcode {opcode}, {len(payload)} bytes",
                           lambda p, o=opcode, d=payload: p.send(p.binary(50), p.frame(o, d)), OPCODE)


def fragmentation():
    halves = lambda p: (p.frame(BINARY, p.stream(50), final=False),  # noqa: E731
                        p.frame(CONTINUATION, p.stream(50)))

    yield Case("5.1 a ping in fragments",
               lambda p: p.send(p.frame(PING, b"a", final=False), p.frame(CONTINUATION, b"b")), CONTROL)
    yield Case("5.2 a pong in fragments",
               lambda p: p.send(p.frame(PONG, b"a", final=False), p.frame(CONTINUATION, b"b")), CONTROL)
    yield Case("5.3 a message in two", lambda p: p.send(*halves(p)), GOOD)
    yield Case("5.4 in two writes", lambda p: [p.send(half) for half in halves(p)], GOOD)
    yield Case("5.5 by octets", lambda p: p.send(*halves(p), pieces=OCTETS), GOOD)
    for name, pieces in (("5.6", None), ("5.7", 7), ("5.8", OCTETS)):
        yield Case(f"{name} a ping between the fragments, pieces of {pieces}",
                   lambda p, n=pieces: p.send(p.fragments(100, 50, lambda: p.ping(b"between")), pieces=n),
                   GOOD)
    for final in (True, False):
        for name, pieces in (("5.9", None), ("5.10", 7), ("5.11", OCTETS)):
            yield Case(f"{name} a continuation of nothing, final {final}, pieces of {pieces}",
                       lambda p, f=final, n=pieces: p.send(p.frame(CONTINUATION, b"x", final=f)[:2], pieces=n),
                       FRAGMENTS)
    yield Case("5.15 a continuation behind a whole message",
               lambda p: p.send(*halves(p), p.frame(CONTINUATION, b"x")), FRAGMENTS)
    yield Case("5.16 a continuation behind a control frame",
               lambda p: p.send(p.ping(), p.frame(CONTINUATION, b"x")), FRAGMENTS)
    yield Case("5.18 a message within a message",
               lambda p: p.send(p.frame(BINARY, p.stream(50), final=False), p.frame(BINARY, b"x")),
               FRAGMENTS)
    yield Case("5.18 a text within a message",
               lambda p: p.send(p.frame(BINARY, p.stream(50), final=False), p.frame(TEXT, b"x")),
               TEXT_MESSAGE)
    yield Case("5.19 six fragments, pings between them",
               lambda p: p.send(p.fragments(300, 50, lambda: p.ping(b"again"))), GOOD)
    yield Case("5.20 fragments of nothing",
               lambda p: p.send(p.frame(BINARY, b"", final=False), p.frame(CONTINUATION, b"", final=False),
                                p.frame(CONTINUATION, p.stream(50))), GOOD)


def text():
    for name, payload in {"6.1 none": b"", "6.2 valid": "Ελλάδα".encode(), "6.3 invalid": b"\xce\xba\xff",
                          "6.4 cut": b"\xce"}.items():
        for final in (True, False):
            yield Case(f"{name}, final {final}",
                       lambda p, d=payload, f=final: p.send(p.frame(TEXT, d, final=f)), TEXT_MESSAGE)


def closing():
    def close(payload=b""):
        return lambda p: p.send(p.binary(50), p.frame(CLOSE, payload))

    def behind(make):
        return lambda p: p.send(p.binary(50), p.frame(CLOSE, b"\x03\xe8"), make(p))

    yield Case("7.1.2 two Closes", behind(lambda p: p.frame(CLOSE, b"\x03\xe8")), CLOSES)
    yield Case("7.1.3 a ping behind it", behind(lambda p: p.frame(PING, b"late")), CLOSES)
    yield Case("7.1.4 a message behind it", behind(lambda p: p.frame(BINARY, b"late")), CLOSES)
    yield Case("7.1.5 in the middle of a message",
               lambda p: p.send(p.frame(BINARY, p.stream(50), final=False), p.frame(CLOSE, b"\x03\xe8")),
               CLOSES)
    yield Case("7.1.6 behind 64 KiB", lambda p: p.send(p.binary(1 << 16), p.frame(CLOSE)), CLOSES)
    yield Case("7.3.1 no payload", close(), CLOSES)
    yield Case("7.3.2 a payload of one byte", close(b"\x03"), CLOSE_PAYLOAD)
    yield Case("7.3.3 a code", close(b"\x03\xe8"), CLOSES)
    yield Case("7.3.4 a code and a reason", close(b"\x03\xe8Hello World!"), CLOSES)
    yield Case("7.3.5 the longest reason", close(b"\x03\xe8" + bytes(123)), CLOSES)
    yield Case("7.3.6 a reason too long", close(b"\x03\xe8" + bytes(124)), CONTROL)
    yield Case("7.5.1 a reason that is not UTF-8", close(b"\x03\xe8\xce\xff"), CLOSES)
    for code in (1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999):
        yield Case(f"7.7 code {code}", close(code.to_bytes(2, "big")), CLOSES)
    for code in (0, 999, 1004, 1005, 1006, 1016, 1100, 2000, 2999, 5000, 65535):
        yield Case(f"7.9 code {code}", close(code.to_bytes(2, "big")), CLOSE_PAYLOAD)


def limits():
    for number, size in enumerate((1 << 16, 1 << 18, 1 << 20, 1 << 22), 1):
        yield Case(f"9.2.{number} a message of {size}", lambda p, n=size: p.send(p.binary(n)), GOOD)
    for number, each in enumerate((64, 1 << 10, 1 << 16), 1):
        yield Case(f"9.4.{number} a message of 1 MiB in fragments of {each}",
                   lambda p, n=each: p.send(p.fragments(1 << 20, n)), GOOD)
    for number, pieces in enumerate((64, 1 << 10), 1):
        yield Case(f"9.6.{number} a message of 256 KiB in writes of {pieces}",
                   lambda p, n=pieces: p.send(p.binary(1 << 18), pieces=n), GOOD)
    yield Case("10.1 64 KiB in fragments of 1300", lambda p: p.send(p.fragments(1 << 16, 1300)), GOOD)


def with_length(opcode, form, length):
    """The header of a frame whose length has a form of its own; the mask follows for a server."""

    def play(p):
        mask = p.frame(opcode)[1] & 0x80
        p.send(bytes([0x80 | opcode, mask | form]) + length.to_bytes({126: 2, 127: 8}[form], "big")
               + bytes(4 if mask else 0))

    return play


def lengths():
    yield Case("length 2^63", with_length(BINARY, 127, 1 << 63), LENGTH)
    yield Case("length 2^64 - 1", with_length(BINARY, 127, (1 << 64) - 1), LENGTH)
    for form, length in ((126, 0), (126, 125), (127, 0), (127, 126), (127, 65535)):
        yield Case(f"length {length} in the form of {form}", with_length(BINARY, form, length), LENGTH)
    for opcode in (PING, PONG, CLOSE):
        for form in (126, 127):
            yield Case(f"a control frame {opcode} with the form of {form}", with_length(opcode, form, 5),
                       CONTROL)


def masks():
    for opcode in (BINARY, PING, PONG, CLOSE):
        def play(p, o=opcode):
            masked = p.frame(o)[1] & 0x80
            p.send(p.binary(50), p.frame(o, b"\x03\xe8", masked=not masked))

        yield Case(f"masked the wrong way, opcode {opcode}", play, MASKING)
    yield Case("masked the wrong way in mid-message",
               lambda p: p.send(p.frame(BINARY, p.stream(50), final=False),
                                p.frame(CONTINUATION, b"x", masked=not p.frame(PING)[1] & 0x80)),
               MASKING)


def cases():
    for section in (framing, pings, reserved_bits, opcodes, fragmentation, text, closing, limits,
                    lengths, masks):
        yield from section()


class Conformance(case.SystemTest):
    def answered(self, controls, pings):
        """Of several pings that come together the last counts; the others may be answered too."""
        pongs = [payload for opcode, payload in controls if opcode == PONG]
        self.assertEqual([opcode for opcode, _ in controls if opcode not in (PONG, CLOSE)], [])
        rest = iter(pings)
        self.assertTrue(all(pong in rest for pong in pongs), f"{pongs} for {pings}")
        self.assertEqual(pongs[-1:], pings[-1:])

    # ---- before message 2 ----

    def test_strangers(self):
        """A fault, and a Close, end it at once and without a Close frame; the rest is silence."""
        server = LoneServer(self, WEBSOCKET, "127.0.0.1:1", server=["max-unproven-per-address = 1000"])
        for one in cases():
            with self.subTest(one.name):
                line = server.call()
                numbers = random.Random(one.name)
                player = Player(line.sock, line.frame, numbers.randbytes)
                try:
                    one.play(player)
                except (ConnectionResetError, BrokenPipeError):
                    self.assertNotEqual(one.outcome, GOOD)  # it has ended before all was said
                if one.outcome == GOOD:
                    player.send(player.ping(b"still there?"))
                    line.sock.settimeout(20)
                    line.wait_for_control(PONG, b"still there?")
                    self.answered(line.controls, player.pings)
                    line.finish()
                self.assertIn(self.end_of(line), (CLEAN, RESET) if one.outcome != GOOD else (CLEAN,))
                self.assertNotIn(CLOSE, [opcode for opcode, _ in line.controls])
                line.sock.close()

    def end_of(self, line):
        line.sock.settimeout(5)  # far below the deadline of those who are met with silence
        try:
            self.assertEqual(line.receive(), b"")
            return CLEAN
        except ConnectionResetError:
            return RESET

    # ---- in a session ----

    def sessions(self, scenes):
        scene = scenes(self, WEBSOCKET)
        for one in cases():
            with self.subTest(one.name):
                scene.open()
                expected = []

                def stream(size):
                    """Whole records, of so many bytes together."""
                    out = b""
                    while size:
                        here = min(size, 16_384)
                        here = size if size - here < HEADER + TAG + 1 else here
                        expected.append(random_bytes(here - HEADER - TAG, here))
                        out += scene.peer.sealer.seal(DATA, expected[-1])
                        size -= here
                    return out

                player = Player(scene.peer.line.sock, scene.peer.line.frame, stream)
                playing = Background(one.play, player)
                if one.outcome == GOOD:
                    got = b""
                    while playing.is_alive() or len(got) < sum(map(len, expected)):
                        if select.select([scene.plain], [], [], 0.01)[0]:
                            got += scene.plain.recv(1 << 18)
                    self.assert_same_bytes(got, b"".join(expected))
                    scene.goes_on()
                    self.answered(scene.peer.line.controls, player.pings)
                else:
                    self.is_reset(scene, one, expected, playing)
                scene.close()

    def is_reset(self, scene, one, expected, playing):
        """As Scene.is_reset, but the records in front of the fault may have come."""
        got = read_until_end(scene.plain)
        self.assertEqual(got.end, RESET)
        self.assert_prefix(got.data, b"".join(expected))
        if not playing.was_reset(20):
            self.assertEqual(scene.peer.read_to_end(), Seen([], RESET))
        self.assertEqual(scene.peer.close_frames, [])
        scene.logs("tunnel connection lost: "
                   + ("it ended before" if one.outcome == CLOSES else one.outcome))

    def test_clients_of_a_server(self):
        self.sessions(AtServer)

    def test_servers_of_a_client(self):
        self.sessions(AtClient)

    def test_pings_whose_answers_nobody_reads(self):
        """They pile up nowhere: the newest is kept and the others are forgotten."""
        for scenes in (AtServer, AtClient):
            with self.subTest(scenes.__name__):
                scene = scenes(self, WEBSOCKET)
                scene.open()
                before = scene.daemon.memory()
                pings = scene.peer.line.frame(PING, bytes(125)) * 1000
                for _ in range(200):
                    scene.peer.line.sock.sendall(pings)
                self.assertLess(scene.daemon.memory() - before, 8 << 20)
                scene.peer.line.sock.sendall(scene.peer.line.frame(PING, b"the last"))
                scene.goes_on()
                self.assertEqual(scene.peer.line.controls[-2:], [(PONG, b"the last"), (CLOSE, b"\x03\xe8")])


# ---- HTTP ----


class Requests(case.SystemTest):
    """12 and 13: compression is declined; and what else may come in the place of an upgrade."""

    def setUp(self):
        super().setUp()
        server = LoneServer(self, WEBSOCKET, "127.0.0.1:1", server=["max-unproven-per-address = 1000"])
        self.process, self.port = server.server, server.server_port
        self.good = upgrade_request(PATH, self.port)

    def with_line(self, line):
        return self.good[:-2] + line + b"\r\n\r\n"

    def with_change(self, old, new):
        self.assertIn(old, self.good)
        return self.good.replace(old, new)

    def answer(self, request):
        """All that comes back, and how it ends."""
        with connect(self.port) as sock:
            sock.sendall(request)
            sock.shutdown(socket.SHUT_WR)
            return read_until_end(sock, seconds=5)

    def test_every_offer_of_compression_is_declined(self):
        offers = ["permessage-deflate", "permessage-deflate; client_max_window_bits",
                  "permessage-deflate; server_no_context_takeover; client_no_context_takeover",
                  "permessage-deflate; server_max_window_bits=9, permessage-deflate",
                  "permessage-bzip2, x-webkit-deflate-frame", "permessage-deflate; nonsense=7"]
        for offer in offers:
            with self.subTest(offer), connect(self.port) as sock:
                sock.sendall(upgrade_request(PATH, self.port, f"Sec-WebSocket-Extensions: {offer}",
                                             "Sec-WebSocket-Protocol: chat"))
                status, fields, rest = read_head(sock)
                self.assertIn(" 101 ", status)
                self.assertFalse({"sec-websocket-extensions", "sec-websocket-protocol"} & set(fields))
                self.assertEqual(rest, b"")

    def test_other_forms_of_a_good_request(self):
        forms = {
            "lists and other cases": self.with_change(b"Connection: Upgrade", b"connection: keep-alive, uPGRADE"),
            "two protocols": self.with_change(b"Upgrade: websocket", b"Upgrade: h2c, WebSocket"),
            "no white space": self.with_change(b"Upgrade: websocket", b"Upgrade:websocket"),
            "much white space": self.with_change(b"Upgrade: websocket", b"Upgrade: \t websocket \t"),
            "two lines of one field": self.with_change(b"Connection: ",
                                                       b"Connection: keep-alive\r\nConnection: "),
        }
        for name, request in forms.items():
            with self.subTest(name):
                self.assertTrue(self.answer(request).data.startswith(b"HTTP/1.1 101 "))

    def test_what_proxies_and_servers_may_read_differently_gets_no_101(self):
        shapes = {
            "a length and chunks": self.with_line(b"Content-Length: 5\r\nTransfer-Encoding: chunked"),
            "a length": self.with_line(b"Content-Length: 0"),
            "two lengths": self.with_line(b"Content-Length: 5\r\nContent-Length: 6"),
            "chunks": self.with_line(b"Transfer-Encoding: chunked") + b"0\r\n\r\n",
            "chunks in other words": self.with_line(b"Transfer-Encoding: xchunked"),
            "two hosts": self.with_line(b"Host: other"),
            "no host": self.with_change(b"Host: ", b"X-Host: "),
            "the whole address": self.with_change(b"GET /", b"GET http://127.0.0.1/"),
            "a space before the colon": self.with_change(b"Upgrade:", b"Upgrade :"),
            "a NUL": self.with_line(b"X: a\0b"),
            "a bare CR": self.with_line(b"X: a\rb"),
            "a continued line as the first": self.with_change(b"Host: ", b" Host: "),
            "a name with a space": self.with_line(b"X Y: z"),
            "HTTP/1.0": self.with_change(b"HTTP/1.1", b"HTTP/1.0"),
            "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            "HTTP/0.9": b"GET /tunnel\r\n\r\n",
            "POST": self.with_change(b"GET", b"POST"),
            "another case": self.with_change(b"GET", b"get"),
            "a query": self.with_change(b"/tunnel", b"/tunnel?"),
            "an escape": self.with_change(b"/tunnel", b"/%74unnel"),
            "dots": self.with_change(b"/tunnel", b"/./tunnel"),
            "version 8": self.with_change(b"Version: 13", b"Version: 8"),
            "two versions": self.with_line(b"Sec-WebSocket-Version: 13"),
            "a list of versions": self.with_change(b"Version: 13", b"Version: 13, 8"),
            "two keys": self.with_line(b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="),
            "a key that is none": self.with_change(b"Sec-WebSocket-Key: ", b"Sec-WebSocket-Key: x"),
            "an upgrade to something longer": self.with_change(b"Upgrade: websocket", b"Upgrade: websockets"),
            "a token in another": self.with_change(b"Connection: Upgrade", b"Connection: no-upgrade"),
            "a line of 9000 bytes": self.with_line(b"X: " + bytes(9000).replace(b"\0", b"x")),
            "2000 lines": self.with_line(b"\r\n".join([b"X: y"] * 2000)),
            "a method of 9000 bytes": b"G" * 9000 + self.good,
            "a TLS client": bytes.fromhex("16030100c8010000c40303") + bytes(190),
        }
        for name, request in shapes.items():
            with self.subTest(name):
                got = self.answer(request)
                self.assertTrue(got.data == b"" or got.data.startswith(b"HTTP/1.1 404 "), got.data)
                self.assertLessEqual(got.data.count(b"HTTP/1.1"), 1)

    def test_a_second_request_behind_the_first(self):
        """Behind a 404 it is not read; behind a 101 it is a WebSocket fault."""
        wrong = self.with_change(b"/tunnel", b"/other")
        for name, request, answers in (("404", wrong + self.good, 1), ("101", self.good + self.good, 1)):
            with self.subTest(name):
                got = self.answer(request)
                self.assertEqual(got.data.count(b"HTTP/1.1 "), answers)
                self.assertTrue(got.data.startswith(b"HTTP/1.1 " + name.encode()))

    def test_frames_in_one_segment_with_the_request(self):
        with connect(self.port) as sock:
            sock.sendall(self.good + frame(PING, b"early"))
            _, _, rest = read_head(sock)
            sock.settimeout(5)
            while len(rest) < 7:
                rest += sock.recv(100)
            self.assertEqual(FrameParser().feed(rest), [(PONG, True, b"early")])

    def test_a_header_without_an_end_takes_no_memory(self):
        before = self.process.memory()
        for begin, more in ((self.good[:-2], b"X: yyyyyyyyyyyyy\r\n" * 100), (b"GET /", b"x" * 2000)):
            with self.subTest(begin[-10:]), connect(self.port) as sock:
                sock.sendall(begin)
                sending = Background(flood, sock, more)
                got = read_until_end(sock, seconds=5, sending=sending)
                self.assertEqual(got.data, b"")  # and at once: 8 KiB are all that is read
        self.assertLess(self.process.memory() - before, 2 << 20)


class Answers(case.SystemTest):
    """What a client daemon makes of servers that answer its upgrade with something else."""

    def test_what_is_no_upgrade(self):
        good = lambda key, *lines: switching_protocols(key, *lines)  # noqa: E731
        rows = {
            "a wrong accept": (lambda key: good(key).replace(b"Accept: ", b"Accept: x"), "HTTP 101"),
            "the accept of another key": (lambda key: good(new_key()), "HTTP 101"),
            "no accept": (lambda key: good(key).replace(b"Accept:", b"Decline:"), "HTTP 101"),
            "101 without Upgrade": (lambda key: good(key).replace(b"Upgrade: ", b"X: "), "HTTP 101"),
            "101 without Connection": (lambda key: good(key).replace(b"Connection", b"X"), "HTTP 101"),
            "an upgrade to h2c": (lambda key: good(key).replace(b"websocket", b"h2c"), "HTTP 101"),
            "an extension": (lambda key: good(key, "Sec-WebSocket-Extensions: permessage-deflate"), "HTTP 101"),
            "a subprotocol": (lambda key: good(key, "Sec-WebSocket-Protocol: chat"), "HTTP 101"),
            "200": (lambda key: good(key).replace(b"101 Switching Protocols", b"200 OK"), "HTTP 200"),
            "a redirect": (lambda key: b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/\r\n\r\n", "HTTP 302"),
            "404": (lambda key: b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "HTTP 404"),
            "a body without an end": (lambda key: b"HTTP/1.1 200 OK\r\n\r\n" + bytes(1 << 20), "HTTP 200"),
            "no HTTP": (lambda key: b"SSH-2.0-OpenSSH_9.2\r\n\r\n", "bad version"),
            "HTTP/2": (lambda key: bytes.fromhex("000012040000000000") + bytes(18), "bad version"),
            "a line without an end": (lambda key: good(key)[:-2] + b"X: " + b"y" * 100_000, "header limit"),
            "lines without an end": (lambda key: good(key)[:-2] + b"X: y\r\n" * 10_000, "header limit"),
            "nothing, and a FIN": (lambda key: b"", "end of stream"),
            "half an answer, and a FIN": (lambda key: good(key)[:50], "partial message"),
        }

        def attempt(make, reason):
            client = LoneClient(self, WEBSOCKET)
            application = client.connect()
            with client.accept_socket() as sock:
                _, fields, _ = read_head(sock)
                try:
                    sock.sendall(make(fields["sec-websocket-key"]))
                    if reason in ("end of stream", "partial message"):
                        sock.shutdown(socket.SHUT_WR)
                except (ConnectionResetError, BrokenPipeError):
                    pass
                self.assertEqual(read_until_end(application), Received(b"", RESET))
                try:
                    self.assertEqual(sock.recv(100), b"")
                except ConnectionResetError:
                    pass
            self.assert_one_log_line(client.client, f"no WebSocket at this path: {reason}")

        for name, (make, reason) in rows.items():
            with self.subTest(name):
                attempt(make, reason)

    def test_no_answer_in_time(self):
        """Silence, and an answer that drips: 10 s, whatever comes."""

        def attempt(drips):
            client = LoneClient(self, WEBSOCKET)
            began = time.monotonic()
            application = client.connect()
            with client.accept_socket() as sock:
                _, fields, _ = read_head(sock)
                answer = switching_protocols(fields["sec-websocket-key"])
                application.settimeout(0.2)
                for octet in answer if drips else b"":
                    try:
                        sock.sendall(bytes([octet]))
                        application.recv(1)
                    except TimeoutError:
                        continue
                    except OSError:
                        break
                else:
                    self.assertEqual(read_until_end(application, 30), Received(b"", RESET))
            self.assertTrue(9.8 <= time.monotonic() - began <= 20)
            self.assert_one_log_line(client.client, "no WebSocket at this path: no answer in time")

        shared_keys()  # not by two threads at once
        together({"silence": lambda: attempt(False), "drips": lambda: attempt(True)})

    def test_frames_in_one_segment_with_the_answer(self):
        for name, first, outcome in (
            ("a ping", frame(PING, b"early", masked=False), None),
            ("a text", frame(TEXT, b"early", masked=False), NO_ANSWER),
            ("a masked frame", frame(BINARY, b"early", masked=True), NO_ANSWER),
            ("a Close", frame(CLOSE, b"\x03\xe8", masked=False), NO_ANSWER),
        ):
            with self.subTest(name):
                client = LoneClient(self, WEBSOCKET)
                application = client.connect()
                sock = client.accept_socket()
                _, fields, _ = read_head(sock)
                sock.sendall(switching_protocols(fields["sec-websocket-key"]) + first)
                if outcome:
                    self.assertEqual(read_until_end(application), Received(b"", RESET))
                    self.assert_one_log_line(client.client, outcome)
                else:
                    line = WebSocketLine(sock, masked=False)
                    peer = client.answer(line, client.take(line))
                    peer.send(DATA, b"x")
                    self.assertEqual(application.recv(1), b"x")
                sock.close()


if __name__ == "__main__":
    case.main()
