"""Whatever happens to the tunnel, an application never takes a cut stream for a whole one."""

import queue
import socket

from support import case
from support.streams import (
    RESET, Background, Received, flood, random_bytes, read_exactly, read_until_end,
)
from support.tunnel import (
    BOTH_CARRIERS, EVERY_KIND, FOUR_KINDS, RECORD_HEADER, RECORD_OVERHEAD, TCP, TCP_STATIC,
    frame_header,
)
from support.waiting import together, until

MIB = 1 << 20
PAYLOAD = 1000  # of each record in the lock-step tests
DIRECTIONS = ("up", "down")


def payload(number):
    return random_bytes(PAYLOAD, number)


class Ends:
    """A connection through a tunnel with a relay, seen in one direction."""

    def __init__(self, test, kind, direction):
        self._backend = test.backend()
        self.test, self.kind, self.direction = test, kind, direction
        self.tunnel = test.tunnel(kind, self._backend.target, relay=True)
        self.opened = 0

    def open(self):
        """A new connection, with three records behind it in either direction."""
        self.application, self.service = self.tunnel.open(self._backend)
        self.link = self.tunnel.relay.link(self.opened)
        self.opened += 1
        ends = (self.application, self.service)
        self.sender, self.receiver = ends if self.direction == "up" else reversed(ends)
        self.pipe = getattr(self.link, self.direction)
        self.sending = None

    @property
    def receiving_daemon(self):
        return self.tunnel.server if self.direction == "up" else self.tunnel.client

    def pass_records(self, count):
        """Sends records one by one, each on its own."""
        sent = b""
        for number in range(count):
            self.sender.sendall(payload(number))
            self.test.assert_same_bytes(read_exactly(self.receiver, PAYLOAD), payload(number))
            sent += payload(number)
        return sent

    def send_record(self, name):
        """Sends a record on its own, which may be the connection's last."""
        passed = self.pipe.count + self.frame_size
        self.send_on(self.sender.sendall, payload(name))
        until(lambda: self.pipe.count >= passed or self.pipe.end, 5, "the record has passed")

    @property
    def frame_size(self):
        """Bytes on the wire of one of these records."""
        return frame_header(self.kind, self.direction) + PAYLOAD + RECORD_OVERHEAD

    def send_on(self, function, *arguments):
        # A reset is told once: a sender who has heard of it already is the one to ask.
        if self.sending is None or not self.sending.was_reset(5):
            self.sending = Background(function, *arguments)

    def both_get_resets(self):
        """What the receiver and the sender still got in front of their resets."""
        got = [read_until_end(self.receiver), read_until_end(self.sender, sending=self.sending)]
        self.test.assertEqual([g.end for g in got], [RESET, RESET])
        for end in (self.application, self.service):
            end.close()
        return got[0].data, got[1].data


class Kills(case.SystemTest):
    @case.for_kinds(*FOUR_KINDS)
    def test_kill_of_either_daemon_in_mid_transfer(self, kind):
        for victim in ("server", "client"):
            for direction in DIRECTIONS:
                with self.subTest(victim, direction=direction):
                    ends = Ends(self, kind, direction)
                    ends.open()
                    ends.send_on(flood, ends.sender)
                    read_exactly(ends.receiver, 4 * MIB)
                    getattr(ends.tunnel, victim).kill()
                    ends.both_get_resets()

    @case.for_kinds(*FOUR_KINDS)
    def test_kill_of_either_daemon_when_idle(self, kind):
        for victim in ("server", "client"):
            for half_closed in (False, True):
                with self.subTest(victim, half_closed=half_closed):
                    ends = Ends(self, kind, "up")
                    ends.open()
                    ends.pass_records(1)
                    if half_closed:
                        ends.sender.shutdown(socket.SHUT_WR)
                        self.assertEqual(ends.receiver.recv(1), b"")
                    getattr(ends.tunnel, victim).kill()
                    self.assert_reset(ends.application)
                    self.assert_reset(ends.service, already_ended=half_closed)

    def assert_reset(self, end, already_ended=False):
        if not already_ended:
            self.assertEqual(read_until_end(end), Received(b"", RESET))
            return
        # Its reading side has ended in good order before; the reset shows in its writing side.
        with self.assertRaises((ConnectionResetError, BrokenPipeError)):
            for _ in range(1000):
                end.sendall(bytes(1 << 16))

    @case.for_kinds(*FOUR_KINDS)
    def test_a_reset_of_the_tunnel_connection(self, kind):
        ends = Ends(self, kind, "down")
        ends.open()
        ends.pass_records(2)
        ends.link.reset()
        self.assertEqual(ends.both_get_resets(), (b"", b""))

    @case.for_kinds(*BOTH_CARRIERS)
    def test_a_reset_of_the_tunnel_connection_under_load(self, kind):
        for direction in DIRECTIONS:
            with self.subTest(direction):
                ends = Ends(self, kind, direction)
                ends.open()
                ends.send_on(flood, ends.sender)
                read_exactly(ends.receiver, MIB)
                ends.link.reset()
                ends.both_get_resets()


class Cuts(case.SystemTest):
    """FINs of somebody on the path."""

    @case.for_kinds(*FOUR_KINDS)
    def test_a_cut_at_any_place_of_a_record(self, kind):
        for direction in DIRECTIONS:
            ends = Ends(self, kind, direction)
            places = {"between records": 0, "in the header": 2, "behind the header": 4,
                      "in the body": 500, "in front of the tag": 1004, "in the tag": 1019}
            for name, place in places.items():
                with self.subTest(direction, cut=name):
                    ends.open()
                    ends.pass_records(2)
                    ahead = place and place + frame_header(kind, direction)
                    ends.pipe.cut(ahead)
                    if ahead:
                        ends.sender.sendall(payload("cut"))
                    self.assertEqual(ends.both_get_resets(), (b"", b""))

    @case.for_kinds(*FOUR_KINDS)
    def test_a_cut_after_one_direction_has_ended(self, kind):
        for direction in DIRECTIONS:
            with self.subTest(direction):
                ends = Ends(self, kind, direction)
                ends.open()
                ends.pass_records(1)
                ends.receiver.sendall(b"begun")
                read_exactly(ends.sender, 5)
                ends.receiver.shutdown(socket.SHUT_WR)
                self.assertEqual(ends.sender.recv(1), b"")
                ends.pipe.cut(0)
                self.assertEqual(read_until_end(ends.receiver), Received(b"", RESET))

    @case.for_kinds(*BOTH_CARRIERS)
    def test_a_cut_in_a_bulk_transfer_leaves_a_prefix(self, kind):
        data = random_bytes(32 * MIB, "bulk")
        for direction in DIRECTIONS:
            with self.subTest(direction):
                ends = Ends(self, kind, direction)
                ends.open()
                ends.send_on(ends.sender.sendall, data)
                head = read_exactly(ends.receiver, MIB)
                ends.pipe.cut(12_345)
                got = read_until_end(ends.receiver)
                self.assertEqual(got.end, RESET)
                self.assert_prefix(head + got.data, data)


class Tampering(case.SystemTest):
    """Bytes that somebody on the path changes."""

    # Place in the record and bit.
    PLACES = {
        "type": (0, 0), "flag": (0, 7), "low length": (1, 0), "middle length": (2, 2),
        "high length": (3, 5), "first byte": (4, 0), "middle of the body": (500, 3),
        "last byte": (1003, 7), "first of the tag": (1004, 0), "last of the tag": (1019, 7),
    }

    @case.for_kinds(*FOUR_KINDS)
    def test_a_flipped_bit(self, kind):
        for direction in DIRECTIONS:
            ends = Ends(self, kind, direction)
            for good_records in (0, 1, 9):
                for name, (place, bit) in self.PLACES.items():
                    with self.subTest(direction, record=good_records + 1, bit=name):
                        self.flip(ends, good_records, place, bit)
            # Everything is told, up to the limit on lines of this kind.
            ends.receiving_daemon.wait_for_log("bad record")

    def flip(self, ends, good_records, place, bit):
        ends.open()
        ends.pass_records(good_records)
        ends.pipe.flip(frame_header(ends.kind, ends.direction) + place, bit)
        # A length that has grown takes the records behind for its own.
        ends.send_record("bad")
        ends.send_on(ends.sender.sendall, bytes(200_000))
        self.assertEqual(ends.both_get_resets(), (b"", b""))

    @case.for_kinds(*FOUR_KINDS)
    def test_a_flipped_bit_in_the_end_record(self, kind):
        for direction in DIRECTIONS:
            ends = Ends(self, kind, direction)
            header = {"up": 6, "down": 2}[direction] if kind.carrier == "ws" else 0
            for place in (0, RECORD_HEADER, RECORD_OVERHEAD - 1):
                with self.subTest(direction, byte=place):
                    ends.open()
                    ends.pass_records(1)
                    ends.pipe.flip(header + place)
                    ends.sender.shutdown(socket.SHUT_WR)
                    self.assertEqual(ends.both_get_resets(), (b"", b""))

    @case.for_kinds(*BOTH_CARRIERS)
    def test_a_flipped_bit_in_a_bulk_transfer_leaves_a_prefix(self, kind):
        data = random_bytes(16 * MIB, "bulk")
        for direction in DIRECTIONS:
            for place in (700_001, 5 * MIB + 77):
                with self.subTest(direction, byte=place):
                    ends = Ends(self, kind, direction)
                    ends.open()
                    ends.pipe.flip(place)
                    ends.send_on(ends.sender.sendall, data)
                    got = read_until_end(ends.receiver)
                    self.assertEqual(got.end, RESET)
                    self.assertLess(len(got.data), place)
                    self.assert_prefix(got.data, data)

    @case.for_kinds(*BOTH_CARRIERS)
    def test_records_lost_repeated_and_swapped(self, kind):
        for direction in DIRECTIONS:
            ends = Ends(self, kind, direction)
            size = ends.frame_size
            attacks = {
                "lost": (size, lambda record: b""),
                "repeated": (size, lambda record: record + record),
                "swapped": (2 * size, lambda pair: pair[size:] + pair[:size]),
            }
            for name, (taken, change) in attacks.items():
                with self.subTest(direction, record=name):
                    ends.open()
                    ends.pass_records(2)
                    ends.pipe.edit(0, taken, change)
                    ends.send_record("first")
                    ends.send_record("second")
                    # A header under the wrong mask may announce up to 64 KiB: let them come.
                    ends.send_on(flood, ends.sender)
                    got, _ = ends.both_get_resets()
                    # Of what was sent, no more than the record in front of the attack.
                    self.assertIn(got, (b"", payload("first")) if name == "repeated" else (b"",))

    def test_a_reply_of_another_session(self):
        for kind in (TCP, TCP_STATIC):
            with self.subTest(kind):
                backend = self.backend()
                tunnel = self.tunnel(kind, backend.target, relay=True)
                replies = [queue.Queue(), queue.Queue()]

                def swap(number, own):
                    replies[number].put(own)
                    return replies[1 - number].get(timeout=5)

                links = iter(range(2))

                def exchange(link):
                    link.down.edit_piece(lambda own, number=next(links): swap(number, own))

                tunnel.relay.on_link = exchange
                outcomes = together({"one": tunnel.outcome, "the other": tunnel.outcome})
                for outcome in outcomes.values():
                    self.assertEqual(outcome, Received(b"", RESET))
                self.assertTrue(backend.untouched())

    @case.for_kinds(TCP, TCP_STATIC)
    def test_a_servers_reply_sent_back_to_it(self, kind):
        backend = self.backend()
        tunnel = self.tunnel(kind, backend.target, relay=True)

        def reflect(link):
            link.down.edit_piece(lambda reply: link.up.inject(reply) or b"")

        tunnel.relay.on_link = reflect
        self.assertEqual(tunnel.outcome(), Received(b"", RESET))
        self.assertTrue(backend.untouched())

    @case.for_kinds(*EVERY_KIND)
    def test_a_flipped_bit_in_a_servers_reply(self, kind):
        backend = self.backend()
        tunnel = self.tunnel(kind, backend.target, relay=True)
        for place in (0, 31, 40, 79, 90, 111):
            with self.subTest(byte=place):

                def flip(reply, place=place):
                    at = place + (2 if kind.carrier == "ws" else 0)
                    return reply[:at] + bytes([reply[at] ^ 1]) + reply[at + 1 :]

                def attack(link):
                    if kind.carrier == "ws":
                        link.down.edit_piece(lambda switching_protocols: switching_protocols)
                    link.down.edit_piece(flip)

                tunnel.relay.on_link = attack
                self.assertEqual(tunnel.outcome(), Received(b"", RESET))
        self.assertTrue(backend.untouched())
        tunnel.client.wait_for_log("no valid answer: wrong key")


if __name__ == "__main__":
    case.main()
