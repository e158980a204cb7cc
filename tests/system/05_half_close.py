"""One direction ends, the other goes on for as long as it likes."""

import socket
import time

from support import case
from support.streams import CLEAN, random_bytes, read_until_end
from support.tunnel import BOTH_CARRIERS, FOUR_KINDS
from support.waiting import together

MIB = 1 << 20
QUESTION = random_bytes(MIB, "question")
ANSWER = random_bytes(8 * MIB, "answer")


class HalfClose(case.SystemTest):
    def exchange(self, first, second, pause):
        """`first` sends and ends; `second` hears the end, waits, and answers."""
        first.sendall(QUESTION)
        first.shutdown(socket.SHUT_WR)
        asked = read_until_end(second, seconds=20)
        self.assertEqual(asked.end, CLEAN)
        self.assert_same_bytes(asked.data, QUESTION, "the question")

        time.sleep(pause)
        second.sendall(ANSWER)
        second.shutdown(socket.SHUT_WR)
        answered = read_until_end(first, seconds=20)
        self.assertEqual(answered.end, CLEAN)
        self.assert_same_bytes(answered.data, ANSWER, "the answer")

    def late_answers(self, kind, pause):
        backend = self.backend()
        tunnel = self.tunnel(kind, backend.target)

        def application_first():
            self.exchange(*pairs[0], pause)

        def service_first():
            self.exchange(*reversed(pairs[1]), pause)

        pairs = [tunnel.open(backend), tunnel.open(backend)]
        together({f"{kind}, application first": application_first,
                  f"{kind}, service first": service_first})
        for daemon in (tunnel.server, tunnel.client):
            daemon.wait_for_log(": ended;")
            self.assertEqual(len(daemon.log_lines(": ended;")), 2, daemon.log())

    @case.for_kinds(*FOUR_KINDS)
    def test_an_answer_at_once(self, kind):
        self.late_answers(kind, 0)

    @case.for_kinds(*FOUR_KINDS)
    def test_an_answer_after_three_seconds(self, kind):
        self.late_answers(kind, 3)

    def test_answers_after_ninety_seconds(self):
        together({str(kind): lambda kind=kind: self.late_answers(kind, 90) for kind in FOUR_KINDS})

    def test_a_half_closed_connection_that_moves_data_is_not_timed_out(self):
        def trickle(kind):
            backend = self.backend()
            limits = ["keepalive = 5s", "dead-peer = 10s", "idle-timeout = 6s"]
            tunnel = self.tunnel(kind, backend.target, server=limits, client=limits)
            application, service = tunnel.open(backend)
            application.shutdown(socket.SHUT_WR)
            self.assertEqual(read_until_end(service).data, b"")
            sent = b""
            for number in range(10):
                service.sendall(b"%d" % number)
                sent += b"%d" % number
                time.sleep(3)
            service.close()
            got = read_until_end(application)
            self.assertEqual((got.data, got.end), (sent, CLEAN))

        together({str(kind): lambda kind=kind: trickle(kind) for kind in BOTH_CARRIERS})

    @case.for_kinds(*FOUR_KINDS)
    def test_both_ends_at_once(self, kind):
        backend = self.backend()
        tunnel = self.tunnel(kind, backend.target)
        for _ in range(50):
            application, service = tunnel.open(backend)
            application.sendall(b"up")
            service.sendall(b"down")
            application.shutdown(socket.SHUT_WR)
            service.shutdown(socket.SHUT_WR)
            got, asked = read_until_end(application), read_until_end(service)
            self.assertEqual((got.data, got.end), (b"down", CLEAN))
            self.assertEqual((asked.data, asked.end), (b"up", CLEAN))
            application.close()
            service.close()


if __name__ == "__main__":
    case.main()
