"""Sessions made ahead of need: how many there are, and what applications notice when they die."""

import signal
import socket
import threading
import time

from support import case
from support.backends import echo
from support.ports import is_listening
from support.streams import CLEAN, RESET, Background, Received, read_exactly, read_until_end
from support.tunnel import BOTH_CARRIERS, FOUR_KINDS, TCP
from support.waiting import until

SIZE = 8


def established(port):
    """How many connections a listener on this port of the loopback has now."""
    count = 0
    with open("/proc/net/tcp", encoding="ascii") as lines:
        for line in list(lines)[1:]:
            _, local, _, state = line.split()[:4]
            count += state == "01" and int(local.rpartition(":")[2], 16) == port
    return count


class Pool(case.SystemTest):
    def pooled(self, kind, target, size=SIZE, filled=True, **options):
        options["client"] = [f"pool = {size}", *options.get("client", [])]
        tunnel = self.tunnel(kind, target, **options)
        if filled:
            self.wait_until_full(tunnel, size)
        return tunnel

    def wait_until_full(self, tunnel, size=SIZE, seconds=15):
        until(lambda: established(tunnel.server_port) == size, seconds, "the pool is full")
        time.sleep(0.1)  # the last handshake may be under way

    def assert_served(self, tunnel, times=20):
        for number in range(times):
            question = f"question {number}".encode()
            with tunnel.connect() as application:
                application.sendall(question)
                self.assertEqual(read_exactly(application, len(question)), question)
                application.shutdown(socket.SHUT_WR)
                self.assertEqual(read_until_end(application), Received(b"", CLEAN))

    @case.for_kinds(*FOUR_KINDS)
    def test_it_fills_and_serves_and_fills_again(self, kind):
        tunnel = self.pooled(kind, self.service(echo).target, daemon=["threads = 2"])
        for _ in range(3):
            self.assert_served(tunnel)
            self.wait_until_full(tunnel)
        time.sleep(0.5)
        self.assertEqual(established(tunnel.server_port), SIZE, "more than N are kept")
        for daemon in (tunnel.client, tunnel.server):
            self.assertEqual(daemon.log_lines(" (error|warning) "), [])

    def test_fewer_than_there_are_threads(self):
        tunnel = self.pooled(TCP, self.service(echo).target, size=1, daemon=["threads = 4"])
        self.assert_served(tunnel)
        self.wait_until_full(tunnel, 1)

    @case.for_kinds(*BOTH_CARRIERS)
    def test_they_are_no_connections_of_applications(self, kind):
        """Neither max-connections of the client nor the backend sees them."""
        backend = self.backend()
        tunnel = self.pooled(kind, backend.target, client=["max-connections = 2"])
        self.assertTrue(backend.untouched())
        first, second = tunnel.open(backend), tunnel.open(backend)
        for application, service in (first, second):
            application.sendall(b"hello")
            self.assertEqual(read_exactly(service, 5), b"hello")

    @case.for_kinds(*BOTH_CARRIERS)
    def test_a_server_that_is_killed_and_comes_back(self, kind):
        tunnel = self.pooled(kind, self.service(echo).target, daemon=["threads = 2"])
        tunnel.server.kill()
        tunnel.start_server()
        self.assert_served(tunnel)
        self.wait_until_full(tunnel)
        self.assert_served(tunnel)

    @case.for_kinds(*BOTH_CARRIERS)
    def test_a_server_that_is_restarted_in_good_order(self, kind):
        tunnel = self.pooled(kind, self.service(echo).target)
        began = time.monotonic()
        tunnel.server.stop()
        self.assertLess(time.monotonic() - began, 1)
        self.assertEqual(tunnel.server.log_lines(" (error|warning) "), [])
        tunnel.start_server()
        self.assert_served(tunnel)
        self.wait_until_full(tunnel)

    @case.for_kinds(*BOTH_CARRIERS)
    def test_sessions_that_are_cut(self, kind):
        for how in ("reset", "finish"):
            with self.subTest(how):
                tunnel = self.pooled(kind, self.service(echo).target, relay=True)
                for link in list(tunnel.relay.links):
                    getattr(link, how)()
                self.assert_served(tunnel)
                self.wait_until_full(tunnel)

    @case.for_kinds(*BOTH_CARRIERS)
    def test_cuts_all_the_time(self, kind):
        """No request fails while nothing but spare sessions is cut."""
        tunnel = self.pooled(kind, self.service(echo).target, relay=True)
        over = threading.Event()
        busy = threading.Lock()

        def cut_the_oldest():
            while not over.wait(0.05):
                with busy:
                    alive = [link for link in tunnel.relay.links if not link.up.end]
                    if alive:
                        alive[0].reset()

        cutter = Background(cut_the_oldest)
        try:
            for _ in range(40):
                with busy:
                    self.assert_served(tunnel, 1)
        finally:
            over.set()
            cutter.join()

    @case.for_kinds(*BOTH_CARRIERS)
    def test_cut_at_open_before_the_application_speaks(self, kind):
        """It may notice nothing: no byte of it can have reached the service."""

        def greet(connection):
            connection.sendall(b"220 hello")

        tunnel = self.pooled(kind, self.service(greet).target, size=1, relay=True)
        self.cut_at_next_byte(tunnel)
        self.assertEqual(tunnel.outcome(seconds=10), Received(b"220 hello", CLEAN))

    @case.for_kinds(*BOTH_CARRIERS)
    def test_cut_behind_the_first_bytes(self, kind):
        """They may have reached the service: a reset, and never a second time."""
        backend = self.backend()
        tunnel = self.pooled(kind, backend.target, size=1, relay=True)
        link = tunnel.relay.links[-1]
        application = tunnel.connect()
        application.sendall(b"pay 100")
        service = backend.accept()
        self.assertEqual(read_exactly(service, 7), b"pay 100")
        link.reset()
        self.assertEqual(read_until_end(application), Received(b"", RESET))
        time.sleep(0.5)
        self.assertTrue(backend.untouched(), "the request was made twice")

    def cut_at_next_byte(self, tunnel):
        link = tunnel.relay.links[-1]

        def cut(_):
            link.reset()
            return b""

        link.up.edit_piece(cut)

    def test_a_server_that_is_away_for_long(self):
        service = self.service(echo)
        tunnel = self.pooled(TCP, service.target)
        tunnel.server.kill()
        until(lambda: not is_listening(tunnel.server_port), 5, "the server is gone")
        before = tunnel.client.cpu_seconds()
        time.sleep(3)
        self.assertLess(tunnel.client.cpu_seconds() - before, 0.3, "it tries without a pause")
        self.assertEqual(len(tunnel.client.log_lines("no session could be made ready")), 1)
        tunnel.start_server()
        # Whoever comes first finds the server for all.
        self.assert_served(tunnel, 1)
        self.wait_until_full(tunnel)
        self.assert_one_log_line(tunnel.client, "sessions are made ready again")

    def test_a_client_that_starts_first(self):
        tunnel = self.pooled(TCP, self.service(echo).target)
        tunnel.server.stop()
        tunnel.replace_client()
        tunnel.client.wait_for_log("no session could be made ready")
        tunnel.start_server()
        self.wait_until_full(tunnel)
        self.assert_served(tunnel)

    def test_a_server_with_too_little_room(self):
        tunnel = self.pooled(
            TCP, self.service(echo).target, filled=False, server=["max-waiting = 3"]
        )
        tunnel.client.wait_for_log("no session could be made ready.*nothing was opened")
        self.assert_served(tunnel)
        until(lambda: established(tunnel.server_port) == 3, 15, "three spare sessions")

    @case.for_kinds(*BOTH_CARRIERS)
    def test_sigterm_ends_them_at_once(self, kind):
        for end in ("client", "server"):
            with self.subTest(end):
                tunnel = self.pooled(kind, "127.0.0.1:1", daemon=["threads = 2", "drain = 60s"])
                daemon = getattr(tunnel, end)
                began = time.monotonic()
                daemon.send_signal(signal.SIGTERM)
                self.assertEqual(daemon.wait(5), 0)
                self.assertLess(time.monotonic() - began, 1)
                until(lambda: established(tunnel.server_port) == 0, 5, "they are gone")
                # The other end makes no fuss of it.
                self.assertEqual(tunnel.server.log_lines(" (error|warning) "), [])

    def test_sigterm_while_nothing_answers(self):
        tunnel = self.pooled(TCP, "127.0.0.1:1", relay=True, daemon=["drain = 60s"])
        tunnel.relay.go_dark()
        tunnel.client.send_signal(signal.SIGTERM)
        self.assertEqual(tunnel.client.wait(5), 0)

    def test_a_drain_leaves_the_applications_their_sessions(self):
        backend = self.backend()
        tunnel = self.pooled(TCP, backend.target, daemon=["drain = 20s"])
        application, service = tunnel.open(backend)
        tunnel.client.send_signal(signal.SIGTERM)
        until(lambda: established(tunnel.server_port) == 1, 5, "only the busy session is left")
        application.sendall(b"go on")
        self.assertEqual(read_exactly(service, 5), b"go on")
        service.close()
        self.assertEqual(read_until_end(application).end, CLEAN)
        application.close()
        self.assertEqual(tunnel.client.wait(5), 0)


if __name__ == "__main__":
    case.main()
