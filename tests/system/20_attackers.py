"""Peers that hold the keys and break the rules: every cell of the tables of proxy/PROTOCOL.md
section 7, and the rows of section 6 behind them, at the real server and at the real client.

The names of the rows are those of the tables. What cannot be shown here, a record after
i = 2^32 - 1, is shown in memory by record_rules_test.cpp."""

import copy
import dataclasses
import functools
import pathlib
import signal
import socket
import time
import unittest
from collections.abc import Callable

from support import case, culvert1
from support.culvert1 import ALERT, DATA, END, OPEN, PAD, REKEY, Record
from support.key_holders import LoneClient, LoneServer, Peer, Seen, secrets_of
from support.ports import free_port
from support.scenes import AtClient, AtServer
from support.streams import (
    CLEAN, RESET, Received, random_bytes, read_exactly, read_until_end, reset,
)
from support.tunnel import BOTH_CARRIERS, TCP, TCP_STATIC, WEBSOCKET, shared_keys
from support.waiting import together, until
from support.websocket import BINARY, CLOSE

MOST = 65_536

# Reasons, as the log has them.
ORDER = "record not allowed at this point"
LENGTH = "record length not allowed for its type"
FLAG = "record flag not allowed"
TYPE = "record type unknown"
TOO_LONG = "record longer than allowed"
WRONG_TAG = "record tag wrong"
NAME = "service name with a byte that is not allowed"
LOST = "tunnel connection lost: it ended before the stream did"
ALERTS = {1: "backend unreachable", 2: "connection reset at the other end", 3: "timeout",
          4: "the other end is shutting down", 5: "no such service, or not for this client",
          6: "nothing was opened", 0: "connection reset at the other end",
          7: "connection reset at the other end", 255: "connection reset at the other end"}


# ---- the model itself ----


class Model(unittest.TestCase):
    """The tests' own culvert/1 against transcripts that neither it nor the daemon has made."""

    @staticmethod
    def transcripts():
        file = pathlib.Path(__file__).parents[1] / "vectors/culvert1/transcripts.txt"
        lines = [line for line in file.read_text().split("\n") if not line.startswith("#")]
        for block in "\n".join(lines).strip().split("\n\n"):
            fields = (line.partition("=")[::2] for line in block.split("\n"))
            yield {name.strip(): value.strip() for name, value in fields}

    def test_handshakes_and_records_are_those_of_the_transcripts(self):
        records = 0
        for values in self.transcripts():
            if "hybrid" in values["case"]:
                continue
            with self.subTest(values["case"]):
                got = {name: value for name, value in values.items() if "rule" not in name}
                octets = lambda name: bytes.fromhex(got.get(name, ""))  # noqa: E731
                self.check_handshake(octets)
                for direction in ("c2s", "s2c"):
                    records += self.check_records(got, octets, direction)
        self.assertGreater(records, 70)

    def check_handshake(self, octets):
        secrets = culvert1.Secrets(psk=octets("psk") or bytes(32), server_public=octets("rs"),
                                   server=octets("s_s_private"), client=octets("s_c_private"))
        client = culvert1.Client(secrets, salt=octets("salt_c"), says=octets("hello"),
                                 ephemeral=octets("e_c_private"), pad=octets("pad_c"))
        self.assertEqual(client.message1, octets("message1"))
        server = culvert1.Server(secrets)
        self.assertEqual(self.reading(octets("message1"), server.take), b"")
        parts = server.answer(salt=octets("salt_s"), ephemeral=octets("e_s_private"),
                              pad=octets("pad_s"))
        self.assertEqual(b"".join(parts.values()), octets("message2"))
        self.assertEqual(self.reading(octets("message2"), client.finish), b"")
        for end in (client, server):
            self.assertEqual(end.h, octets("h"))
            self.assertEqual(end.secrets(), (octets("secret_c2s"), octets("secret_s2c")))

    @staticmethod
    def reading(data, reader):
        """What the reader leaves of the data."""
        left = [data]

        def read(size):
            piece, left[0] = left[0][:size], left[0][size:]
            return piece

        reader(read)
        return left[0]

    def check_records(self, got, octets, direction):
        sealer = culvert1.Sealer(octets(f"secret_{direction}"))
        opener = culvert1.Opener(octets(f"secret_{direction}"))
        number = 0
        while f"{direction}_{number}_header" in got:
            name = f"{direction}_{number}_"
            header = octets(name + "header")
            plaintext = octets(name + "plaintext")
            if name + "plaintext_len" in got:
                plaintext = bytes(i % 251 for i in range(int(got[name + "plaintext_len"])))
            wire = sealer.seal(header[0] & 0x0F, plaintext, header[0] & 0xF0)
            if name + "wire" in got:
                self.assertEqual(wire, octets(name + "wire"), name)
            self.assertEqual(opener.feed(wire),
                             [Record(header[0] & 0x0F, plaintext, header[0] & 0xF0)])
            number += 1
        return number


# ---- the table of records ----


@dataclasses.dataclass(frozen=True)
class Error:
    reason: str

    def check(self, scene):
        scene.is_reset(rf"bad record: {self.reason}, epoch \d, record \d")


@dataclasses.dataclass(frozen=True)
class Lost:
    def check(self, scene):
        scene.is_reset(LOST)


@dataclasses.dataclass(frozen=True)
class Alerted:
    code: int

    def check(self, scene):
        scene.is_left(f"ended by the other end: {ALERTS[self.code]}")


@dataclasses.dataclass(frozen=True)
class Delivered:
    data: bytes

    def check(self, scene):
        scene.test.assert_same_bytes(read_exactly(scene.plain, len(self.data)), self.data)
        scene.goes_on()


class Ended:
    def check(self, scene):
        scene.test.assertEqual(scene.plain.recv(1), b"")
        scene.ours_ended = True
        if scene.theirs_ended:
            scene.ends_cleanly()
        else:
            scene.goes_on()


class Ignored:
    def check(self, scene):
        scene.goes_on()


class AfterBothEnds:
    """Nothing counts any more, whatever comes."""

    def check(self, scene):
        scene.ends_cleanly()


@dataclasses.dataclass(frozen=True)
class Event:
    name: str
    happen: Callable  # to a Peer
    receive_open: object
    receive_ended: object


def record(*arguments, **more):
    return lambda peer: peer.send(*arguments, **more)


def header_only(length):
    """4 bytes, and nothing behind them."""

    def send(peer):
        peer.line.send(peer.sealer.seal(DATA, length=length)[:4])

    return send


def flipped(place, bit=0):
    """A DATA of 100 bytes, and one of 70,000 for a length that has grown."""

    def send(peer):
        bad = bytearray(peer.sealer.seal(DATA, bytes(100)))
        bad[place] ^= 1 << bit
        peer.line.send(bytes(bad) + bytes(70_000))

    return send


# Under the mask of another place a header says anything: behind each of these come bytes enough for
# the longest record.


def old_epoch(peer):
    old = copy.copy(peer.sealer)
    peer.send(PAD, flags=REKEY)
    old.seal(PAD)
    peer.line.send(old.seal(PAD) + bytes(70_000))


def half_a_record(peer):
    peer.line.send(peer.sealer.seal(PAD, bytes(50))[:30])
    peer.line.finish()


def twice(peer):
    sealed = peer.sealer.seal(PAD)
    peer.line.send(sealed + sealed + bytes(70_000))


def one_left_out(peer):
    peer.sealer.seal(PAD)
    peer.line.send(peer.sealer.seal(PAD) + bytes(70_000))


def close_frame(peer, before=b""):
    peer.line.sock.sendall(before + peer.line.frame(CLOSE, b"\x03\xe8"))


# In one segment with what is before it.


def close_behind_a_record(peer):
    close_frame(peer, peer.line.frame(BINARY, peer.sealer.seal(PAD)))


def close_in_mid_record(peer):
    close_frame(peer, peer.line.frame(BINARY, peer.sealer.seal(PAD, bytes(50))[:30]))



OUT_OF_PLACE = Error(f"({WRONG_TAG}|{TOO_LONG})")


def events(carrier):
    text = b"a secret"
    yield Event("DATA, L = 1", record(DATA, b"x"), Delivered(b"x"), Error(ORDER))
    yield Event("DATA, L = 65,536", record(DATA, bytes(MOST)), Delivered(bytes(MOST)),
                Error(ORDER))
    yield Event("DATA, L = 0", record(DATA), Error(LENGTH), Error(ORDER))
    yield Event("END, L = 0", record(END), Ended(), Error(ORDER))
    yield Event("END, L > 0", record(END, b"x"), Error(LENGTH), Error(ORDER))
    for size in (0, 1, MOST):
        yield Event(f"PAD, L = {size}", record(PAD, bytes(size)), Ignored(), Ignored())
    for code in ALERTS:
        yield Event(f"ALERT {code}", record(ALERT, bytes([code])), Alerted(code), Alerted(code))
    for size in (0, 2, 200):
        yield Event(f"ALERT, L = {size}", record(ALERT, bytes(size)), Error(LENGTH), Error(LENGTH))
    yield Event("DATA with REKEY", record(DATA, text, REKEY), Delivered(text), Error(ORDER))
    yield Event("PAD with REKEY", record(PAD, b"", REKEY), Ignored(), Ignored())
    yield Event("END with REKEY", record(END, b"", REKEY), Ended(), Error(ORDER))
    yield Event("REKEY on ALERT", record(ALERT, b"\x04", REKEY), Error(FLAG), Error(FLAG))
    yield Event("a record of the old epoch", old_epoch, OUT_OF_PLACE, OUT_OF_PLACE)
    for name in (b"", b"it", b"not there", b":"):
        yield Event(f"OPEN {name}", record(OPEN, name), Error(ORDER), Error(ORDER))
    yield Event("OPEN, L > 255", record(OPEN, bytes(256)), Error(ORDER), Error(ORDER))
    for length in (MOST + 1, (1 << 24) - 1):
        yield Event(f"a header of L = {length}", header_only(length), Error(TOO_LONG),
                    Error(TOO_LONG))
    for kind in range(5, 16):
        yield Event(f"type {kind}", record(kind, text), Error(TYPE), Error(TYPE))
    for flag in (0x10, 0x20, 0x40, 0x70):
        for kind in (DATA, END, PAD, ALERT):
            yield Event(f"reserved bits {flag:02x} on {kind}", record(kind, b"", flag),
                        Error(FLAG), Error(FLAG))
    for place in (0, 1, 4, 50, 103, 104, 119):
        yield Event(f"a flipped bit in byte {place}", flipped(place), Error(WRONG_TAG),
                    Error(WRONG_TAG))
    yield Event("a record twice", twice, OUT_OF_PLACE, OUT_OF_PLACE)
    yield Event("a record left out", one_left_out, OUT_OF_PLACE, OUT_OF_PLACE)
    yield Event("EOF in mid-record", half_a_record, Lost(), Lost())
    yield Event("EOF between records", lambda peer: peer.line.finish(), Lost(), Lost())
    if carrier == "ws":
        yield Event("Close between records", close_frame, Lost(), Lost())
        yield Event("Close behind a record", close_behind_a_record, Lost(), Lost())
        yield Event("Close in mid-record", close_in_mid_record, Lost(), Lost())


class Records(case.SystemTest):
    def table(self, scenes, kind):
        scene = scenes(self, kind)
        for event in events(kind.carrier):
            cells = {
                "both open": (lambda: None, event.receive_open),
                "theirs ended": (scene.end_theirs, event.receive_open),
                "ours ended": (scene.end_ours, event.receive_ended),
                "both ended": (scene.end_both, AfterBothEnds()),
            }
            for state, (reach, outcome) in cells.items():
                with self.subTest(event.name, state=state):
                    scene.open()
                    reach()
                    event.happen(scene.peer)
                    outcome.check(scene)
                    scene.close()

    @case.for_kinds(*BOTH_CARRIERS)
    def test_every_cell_at_the_server(self, kind):
        self.table(AtServer, kind)

    @case.for_kinds(*BOTH_CARRIERS)
    def test_every_cell_at_the_client(self, kind):
        self.table(AtClient, kind)


# ---- the server before OPEN ----


@dataclasses.dataclass(frozen=True)
class Opens:
    """Perhaps after an OPEN more: the backend is connected and both streams run."""

    then_open: bool = False

    def check(self, scene):
        if self.then_open:
            scene.peer.send(OPEN, b"it")
        scene.plain = scene.backend.accept()
        scene.plain.settimeout(20)
        scene.goes_on()
        scene.plain.close()


@dataclasses.dataclass(frozen=True)
class Says:
    """ALERT, then FIN; the backend has seen nobody."""

    code: int
    reason: str

    def check(self, scene):
        seen = scene.peer.read_to_end()
        scene.test.assertEqual(seen, Seen([Record(ALERT, bytes([self.code]))], CLEAN))
        scene.test.assertTrue(scene.backend.untouched())
        scene.peer.line.sock.close()
        scene.logs(self.reason)


@dataclasses.dataclass(frozen=True)
class Ends:
    """No word, and this end; the backend has seen nobody."""

    how: str
    reason: str | None  # None: not worth a line

    def check(self, scene):
        scene.test.assertEqual(scene.peer.read_to_end(), Seen([], self.how))
        scene.test.assertEqual(scene.peer.close_frames, [])
        scene.test.assertTrue(scene.backend.untouched())
        if self.reason:
            scene.logs(self.reason)


STAYS = Opens(then_open=True)


def bad(reason):
    return Ends(RESET, rf"bad record: {reason}, epoch \d, record \d")


class BeforeOpen(AtServer):
    SCENES_EACH = 5  # lines about strangers are fewer

    def enter(self):
        self.ours_ended = self.theirs_ended = False
        self.peer = self.tunnel.dial()
        self.port = self.peer.line.port

    def close(self):
        self.peer.line.sock.close()


def wrong_keys(peer):
    peer.line.send(culvert1.Sealer(bytes(32)).seal(OPEN, b"it") + bytes(300))


def records_before_open(carrier):
    """Name, what is sent, and what comes of it in F as in W."""
    text = b"a secret"
    yield "PAD, L = 0", record(PAD), STAYS
    yield "PAD, L = 255", record(PAD, bytes(255)), STAYS
    yield "PAD with REKEY", record(PAD, b"", REKEY), STAYS
    yield "OPEN of a service", record(OPEN, b"it"), Opens()
    yield "OPEN of the default", record(OPEN), Opens()
    yield "OPEN with REKEY", record(OPEN, b"it", REKEY), Opens()
    for name in (b"nosuch", b"i", b"IT", b"it.", b":", b"it:x", b"x" * 255):
        yield f"OPEN {name[:9]}", record(OPEN, name), Says(5, "service refused")
    for name in (b"a b", b"it\0", b"\xff", b"../it", b"it\n"):
        yield f"OPEN with the byte of {name}", record(OPEN, name), bad(NAME)
    for length in (256, MOST, MOST + 1, (1 << 24) - 1):
        yield f"a header of L = {length}", header_only(length), bad(TOO_LONG)
    for kind in (DATA, END):
        yield f"type {kind} too early", record(kind), bad(ORDER)
    yield "DATA with bytes", record(DATA, text), bad(ORDER)
    yield "ALERT 4", record(ALERT, b"\x04"), Ends(CLEAN, None)
    for code in (1, 6, 255):
        yield f"ALERT {code}", record(ALERT, bytes([code])), Ends(CLEAN, ALERTS[code])
    for size in (0, 2):
        yield f"ALERT, L = {size}", record(ALERT, bytes(size)), bad(LENGTH)
    yield "REKEY on ALERT", record(ALERT, b"\x04", REKEY), bad(FLAG)
    for kind in (5, 15):
        yield f"type {kind}", record(kind, text), bad(TYPE)
    for flag in (0x10, 0x20, 0x40):
        yield f"reserved bit {flag:x}", record(PAD, b"", flag), bad(FLAG)
    yield "a flipped bit", flipped(50), bad(WRONG_TAG)
    out_of_place = bad(f"({WRONG_TAG}|{TOO_LONG})")
    yield "another key", wrong_keys, out_of_place
    yield "a record twice", twice, out_of_place
    gone = Ends(RESET, "the client left before OPEN")
    yield "EOF", lambda peer: peer.line.finish(), gone
    yield "EOF in mid-record", half_a_record, gone
    if carrier == "ws":
        yield "Close", close_frame, gone
        yield "Close behind a record", close_behind_a_record, gone
        yield "Close in mid-record", close_in_mid_record, gone


# ---- the server before message 2 ----

# handshake_refusals_test.cpp has all of them.
LOW_ORDER = [bytes(32), bytes.fromhex(
    "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800")]
STRANGER = "wrong key or not a culvert peer"
FIELD = "handshake field out of range"
WEAK = "public key of low order"


def flipped_in(message, place):
    return message[:place] + bytes([message[place] ^ 1]) + message[place + 1 :]


def first_messages(kind):
    """What gets nobody an answer: the state that it reaches and why, a function that makes such a
    message anew, and the reason in the log; None where the message is not whole."""
    secrets = secrets_of(kind)

    def made(cut=None, flip=None, behind=b"", by=secrets, **changes):
        def make():
            message = culvert1.Client(by, **{name: value() if callable(value) else value
                                             for name, value in changes.items()}).message1
            if flip is not None:
                message = flipped_in(message, flip)
            return message[:cut] + behind

        return make

    def saying(*arguments):
        return functools.partial(culvert1.hello, *arguments)

    yield "A: nothing", made(cut=0), None
    yield "A: all but a byte of box A", made(cut=95), None
    yield "P: all but a byte of the pad", made(cut=-1, pad=bytes(100)), None
    for place in (0, 31, 32, 80, 95):
        yield f"S: a flipped bit in byte {place} of A", made(flip=place), STRANGER
    wrong = dataclasses.replace(secrets, psk=bytes([7] * 32))
    yield "S: another psk", made(by=wrong), STRANGER
    yield "S: a byte that is not zero", made(says=saying(0, 0, b"\0\0\0\0\0\1")), FIELD
    yield "S: pad_len 1024", made(says=saying(1024), behind=bytes(1024)), FIELD
    yield "S: a clock behind", made(says=saying(0, 130)), "clocks too far apart"
    yield "S: a clock ahead", made(says=saying(0, -130)), "clocks too far apart"
    for number, point in enumerate(LOW_ORDER):
        yield f"S: e_c of low order, {number}", made(e_c=point), WEAK
    if not secrets.server_public:
        yield "S: another realm", made(by=dataclasses.replace(secrets, realm=b"other")), STRANGER
        return
    yield "B: box A alone", made(cut=96), None
    yield "B: all but a byte of box C", made(cut=159), None
    for place in (96, 143, 144, 159):
        yield f"S: a flipped bit in byte {place} of B and C", made(flip=place), STRANGER
    for number, point in enumerate(LOW_ORDER):
        yield f"S: s_c of low order, {number}", made(s_c=point), WEAK
    yield "S: no proof of s_c", made(wrong_c=True), STRANGER
    unknown = dataclasses.replace(secrets, client=bytes([9] * 32))
    yield "S: a client that is not in the list", made(by=unknown), "client key not in the list"
    public = culvert1.x25519(bytes([5] * 32), culvert1.BASE)
    other_server = dataclasses.replace(secrets, server_public=public)
    yield "S: another server key", made(by=other_server), STRANGER


class StatesOfTheServer(case.SystemTest):
    # Of the handshake's deadline, and what the measuring may add on a busy machine.
    EARLIEST, LATEST = 9.8, 23
    KINDS = (TCP, WEBSOCKET, TCP_STATIC)

    def setUp(self):
        super().setUp()
        shared_keys()  # not by many threads at once

    def test_a_b_p_and_s(self):
        """Whatever is wrong: no byte; FIN at the deadline, or at once for a FIN."""
        backend = self.backend()

        def attempt(kind, make, reason):
            # A server each: lines about strangers are few.
            server = LoneServer(self, kind, backend.target)
            began = time.monotonic()
            waiting = server.call()
            waiting.send(make())
            leaving = server.call()
            leaving.send(make())
            left = time.monotonic()
            leaving.finish()
            self.silence(leaving)
            self.assertLess(time.monotonic() - left, 5)
            self.silence(waiting)
            seconds = time.monotonic() - began
            self.assertTrue(self.EARLIEST <= seconds <= self.LATEST, f"{seconds:.2f} s")
            why = reason or f"left after {len(make())} bytes without a whole first message"
            until(lambda: len(server.server.log_lines(f"no session: {why}")) == 2, 5, "two lines")

        rows = {kind: list(first_messages(kind)) for kind in self.KINDS}
        del rows[WEBSOCKET][6:]  # behind the carrier it is the same
        together({f"{kind}, {name}": functools.partial(attempt, kind, make, reason)
                  for kind in self.KINDS for name, make, reason in rows[kind]})
        self.assertTrue(backend.untouched())

    def silence(self, line):
        line.sock.settimeout(30)
        self.assertEqual((line.receive(), line.controls), (b"", []))

    @case.for_kinds(*KINDS)
    def test_a_message_that_was_answered_before(self, kind):
        server = LoneServer(self, kind, self.backend().target)
        message = culvert1.Client(secrets_of(kind)).message1
        first, second = server.call(), server.call()
        first.send(message)
        self.assertTrue(first.receive())
        for line in (first, second):
            line.sock.settimeout(20)
        second.send(message)
        server.server.wait_for_log("no session: replayed first message")
        second.finish()
        self.silence(second)

    def test_deadlines_behind_message_2(self):
        """F has the handshake's deadline, W the dead peer's, and a connect its own."""
        deaf = self.backend(backlog=0)
        for _ in range(3):  # the backlog is full: who comes now gets no answer
            sock = socket.socket()
            self.addCleanup(sock.close)
            sock.setblocking(False)
            sock.connect_ex(("127.0.0.1", deaf.port))

        def attempt(kind, records, expected, earliest, latest, reason):
            server = LoneServer(
                self, kind, deaf.target, server=["handshake-timeout = 1s", "connect-timeout = 2s",
                                                 "dead-peer = 10s", "keepalive = 5s"])
            peer = server.dial()
            began = time.monotonic()
            for what in records:
                peer.send(what)
            self.assertEqual(peer.read_to_end(40), expected)
            seconds = time.monotonic() - began
            self.assertTrue(earliest <= seconds <= latest, f"{seconds:.2f} s")
            server.server.wait_for_log(reason)

        no_connection = Seen([Record(ALERT, b"\x03")], CLEAN)
        rows = {
            "F": ([], Seen([], RESET), 0.5, 14,
                  "no session: handshake failed: nothing after message 2"),
            "W": ([PAD], Seen([], RESET), 9.5, 14, "nothing heard from the other end"),
            "connect": ([OPEN], no_connection, 1.5, 8, f"idle for too long: {deaf.target}"),
        }
        together({f"{kind}, {name}": functools.partial(attempt, kind, *row)
                  for kind in self.KINDS for name, row in rows.items()})

    @case.for_kinds(*BOTH_CARRIERS)
    def test_f_and_w(self, kind):
        scene = BeforeOpen(self, kind)
        for name, happen, outcome in records_before_open(kind.carrier):
            for state in "FW":
                with self.subTest(name, state=state):
                    scene.open()
                    if state == "W":
                        scene.peer.send(PAD)
                    happen(scene.peer)
                    outcome.check(scene)
                    scene.close()


# ---- the client ----

NO_ANSWER = ("no valid answer: wrong key, wrong address, clocks more than 120 s apart, or not a "
             "culvert server")


def second_messages():
    """What is no message 2: how it is made from a culvert1.Server that could answer rightly."""
    answer = lambda **changes: lambda server: server.answer(**changes)  # noqa: E731
    whole = lambda server: b"".join(server.answer(pad=bytes(9)).values())  # noqa: E731
    for place in (0, 31, 32, 63, 64, 79, 80, 95, 96, 111):
        yield f"a flipped bit in byte {place}", lambda server, at=place: flipped_in(whole(server), at)
    for number, point in enumerate(LOW_ORDER):
        yield f"e_s of low order, {number}", answer(e_s=point)
    yield "pad_len 1024", answer(says=b"\0\4" + bytes(14), pad=bytes(1024))
    for place in (2, 15):
        says = bytes(place) + b"\1" + bytes(15 - place)
        yield f"byte {place} of F is not zero", answer(says=says)
    yield "random bytes", lambda server: random_bytes(4096, "no answer")
    yield "the first message sent back", lambda server: server.heard + bytes(1200)


class StatesOfTheClient(case.SystemTest):
    KINDS = (TCP, WEBSOCKET, TCP_STATIC)

    def setUp(self):
        super().setUp()
        shared_keys()  # not by many threads at once

    def gives_up(self, client, application, line, seconds=10):
        """One text in the log, the end of its connection, a reset to its application."""
        self.assertEqual(read_until_end(application, seconds=30), Received(b"", RESET))
        line.sock.settimeout(seconds)
        try:
            self.assertEqual((line.receive(), line.controls), (b"", []))
        except ConnectionResetError:
            pass
        port = application.getsockname()[1]
        client.client.wait_for_log(f":{port} .*handshake failed: {NO_ANSWER}")
        self.assertEqual(len(client.client.log_lines(f":{port} ")), 1)

    @case.for_kinds(*KINDS)
    def test_no_valid_message_2(self, kind):
        for number, (name, make) in enumerate(second_messages()):
            if number % 8 == 0:  # so many failures a daemon logs one by one
                client = LoneClient(self, kind)
            with self.subTest(name):
                application = client.connect()
                line = client.accept()
                made = make(client.take(line))
                line.send(made if isinstance(made, bytes) else b"".join(made.values()))
                self.gives_up(client, application, line)

    # Bytes of message 2, which has 121, and the state that they leave the client in.
    SIZES = {0: "D", 1: "D", 79: "D", 80: "G", 111: "G", 112: "Q", 120: "Q"}

    def part_of_message_2(self, client, size):
        application = client.connect()
        line = client.accept()
        message = b"".join(client.take(line).answer(pad=bytes(9)).values())
        line.send(message[:size])
        return application, line

    @case.for_kinds(*KINDS)
    def test_a_fin_and_a_reset_in_d_g_and_q(self, kind):
        for how in ("FIN", "RST"):
            client = LoneClient(self, kind)
            for size, state in self.SIZES.items():
                with self.subTest(how, state=state, size=size):
                    application, line = self.part_of_message_2(client, size)
                    if how == "FIN":
                        line.finish()
                        self.gives_up(client, application, line)
                    else:
                        reset(line.sock)
                        self.assertEqual(read_until_end(application), Received(b"", RESET))
                        port = application.getsockname()[1]
                        client.client.wait_for_log(f":{port} .*handshake failed: {NO_ANSWER}")

    def test_silence_in_d_g_and_q(self):
        """For 15 s."""

        def attempt(kind, size):
            client = LoneClient(self, kind)
            began = time.monotonic()
            application, line = self.part_of_message_2(client, size)
            self.gives_up(client, application, line)
            seconds = time.monotonic() - began
            self.assertTrue(14.8 <= seconds <= 23, f"{seconds:.2f} s")

        together({f"{kind}, {state}: {size} bytes": functools.partial(attempt, kind, size)
                  for kind in BOTH_CARRIERS for size, state in self.SIZES.items()})

    @case.for_kinds(*KINDS)
    def test_a_changed_pad_shows_in_the_first_record(self, kind):
        client = LoneClient(self, kind)
        application = client.connect()
        line = client.accept()
        server = client.take(line)
        parts = server.answer(pad=bytes(9))
        line.send(b"".join(parts.values())[:-1] + b"x")
        peer = Peer(line, *reversed(server.secrets()))
        line.send(peer.sealer.seal(PAD, bytes(200)) + bytes(70_000))
        self.assertEqual(read_until_end(application), Received(b"", RESET))
        client.client.wait_for_log(f"bad record: ({WRONG_TAG}|{TOO_LONG}), epoch 0, record 0")

    @case.for_kinds(*KINDS)
    def test_records_behind_message_2_in_one_write(self, kind):
        client = LoneClient(self, kind)
        application = client.connect()
        line = client.accept()
        server = client.take(line)
        message = b"".join(server.answer(pad=bytes(500)).values())
        c2s, s2c = server.secrets()
        first = culvert1.Sealer(s2c)
        line.send(message + first.seal(PAD, bytes(300)) + first.seal(DATA, b"early"))
        self.assertEqual(read_exactly(application, 5), b"early")

    def test_a_session_kept_ready(self):
        """What a server may not say before OPEN, and what takes the session out of use."""
        together({str(kind): functools.partial(self.kept_ready, kind) for kind in self.KINDS})

    def kept_ready(self, kind):
        text = b"a secret"
        rows = {
            "DATA": (record(DATA, text), RESET), "END": (record(END), RESET),
            "OPEN": (record(OPEN, b"it"), RESET), "type 5": (record(5), RESET),
            "a reserved bit": (record(PAD, b"", 0x40), RESET),
            "a flipped bit": (flipped(50), RESET), "a long header": (header_only(MOST + 1), RESET),
            "ALERT 4": (record(ALERT, b"\4"), CLEAN), "EOF": (lambda peer: peer.line.finish(), RESET),
        }
        client = LoneClient(self, kind, client=["pool = 1"])
        for name, (happen, end) in rows.items():
            with self.subTest(name):
                spare = client.serve()
                happen(spare)
                self.assertEqual(spare.read_to_end(), Seen([], end))
        # It is replaced each time, and the last one serves.
        spare = client.serve()
        spare.send(PAD, bytes(1000), REKEY)
        application = client.connect()
        self.assertEqual(spare.next_record(), Record(OPEN, b"it"))
        spare.send(DATA, text)
        self.assertEqual(read_exactly(application, len(text)), text)


# ---- what the plaintext side does ----


class LocalEvents(case.SystemTest):
    """The rows of section 7 that begin behind a daemon, and those of section 6 about ALERTs."""

    @case.for_kinds(*BOTH_CARRIERS)
    def test_eof_and_reset_of_the_plaintext_side(self, kind):
        for scenes in (AtServer, AtClient):
            scene = scenes(self, kind)
            for state, reach in {"both open": lambda: None, "ours ended": scene.end_ours}.items():
                with self.subTest(scenes.__name__, state=state):
                    scene.open()
                    reach()
                    scene.plain.sendall(b"last words")
                    self.assertEqual(scene.peer.next_record(), Record(DATA, b"last words"))
                    reset(scene.plain)
                    self.assertEqual(scene.peer.read_to_end(), Seen([Record(ALERT, b"\2")], CLEAN))
                    scene.peer.line.sock.close()
                    scene.logs("application connection failed")

    @case.for_kinds(*BOTH_CARRIERS)
    def test_behind_an_alert_a_peer_is_waited_for_two_seconds(self, kind):
        scene = AtServer(self, kind)
        scene.open()
        scene.peer.send(DATA, b"x")
        self.assertEqual(scene.plain.recv(1), b"x")  # the connect is through
        reset(scene.plain)
        began = time.monotonic()
        self.assertEqual(scene.peer.read_to_end(), Seen([Record(ALERT, b"\2")], CLEAN))
        # Late bytes of ours do no harm: a reset would destroy the ALERT.
        scene.peer.line.send(bytes(100_000))
        until(lambda: scene.daemon.log_lines("application connection failed"), 10, "the end")
        self.assertTrue(1.8 <= time.monotonic() - began <= 8)

    @case.for_kinds(*BOTH_CARRIERS)
    def test_a_backend_that_refuses(self, kind):
        server = LoneServer(self, kind, f"127.0.0.1:{free_port()}")
        peer = server.dial()
        peer.send(OPEN)
        self.assertEqual(peer.read_to_end(), Seen([Record(ALERT, b"\1")], CLEAN))
        peer.line.sock.close()
        self.assert_one_log_line(server.server, "backend unreachable: 127.0.0.1:.*refused")

    @case.for_kinds(*BOTH_CARRIERS)
    def test_a_stop_in_f_w_and_o(self, kind):
        """ALERT 6 where nothing was begun, ALERT 4 where something was, and to those that have
        not confirmed their keys a reset."""
        backend = self.backend()
        server = LoneServer(self, kind, backend.target, daemon=["drain = 1s"])
        in_f, in_w, in_o = server.dial(), server.dial(), server.dial()
        in_w.send(PAD)
        in_o.send(OPEN)
        service = backend.accept()
        in_o.send(DATA, b"x")
        self.assertEqual(service.recv(1), b"x")
        server.server.send_signal(signal.SIGTERM)
        self.assertEqual(in_f.read_to_end(), Seen([], RESET))
        self.assertEqual(in_w.read_to_end(), Seen([Record(ALERT, b"\6")], CLEAN))
        in_w.line.sock.close()
        self.assertEqual(in_o.read_to_end(), Seen([Record(ALERT, b"\4")], CLEAN))
        in_o.line.sock.close()
        self.assertEqual(read_until_end(service), Received(b"", RESET))


if __name__ == "__main__":
    case.main()
