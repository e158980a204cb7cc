"""Names and addresses: a name service that changes its mind, fails or hangs, addresses that swallow
connections, and whoever leaves while all that goes on."""

import functools
import signal
import socket
import time
import unittest

from support import case, private_network
from support.backends import BlackHole, echo, say
from support.name_server import NXDOMAIN, SERVFAIL, SILENCE, NameServer
from support.ports import free_port
from support.streams import CLEAN, RESET, Received, connect, read_until_end, reset
from support.tunnel import BOTH_CARRIERS, PATH, TCP, shared_keys
from support.waiting import together, until

# What README promises, in seconds: until a change of a name is seen, and until an old answer is
# used where there is no new one.
SEEN_AFTER = 10
OLD_AFTER = 1
SLACK = 5  # for a machine that is busy

# Two questions of 15 s: so long is a name looked up when nobody answers.
RESOLV_CONF = "nameserver 127.0.0.1\noptions timeout:15 attempts:2\n"

# Where a name may stand: in a client's section, or in a server's.
PLACES = ("connect", "service")
ONE, TWO = "127.0.0.1", "127.0.0.2"


class Daemon:
    """Both ends in one daemon of one thread. Each name is the way of a client section of its own:
    by its second label it stands in `connect` or in `service`. What it leads to says the address
    that it had."""

    CONNECT_TIMEOUT = 3

    def __init__(self, test, kind, *names):
        self.service_port = test.says(ONE).port
        test.says(TWO, self.service_port)
        self.server_port = free_port()
        self._ports = {name: free_port() for name in names}
        file = test.make_folder() / "culvert.conf"
        file.write_text("\n".join(self._lines(kind)))
        self.process = test.start_daemon(file, "culvert", [self.server_port, *self._ports.values()])

    def _lines(self, kind):
        common = [f"connect-timeout = {self.CONNECT_TIMEOUT}s",
                  f"psk = {shared_keys().folder}/edge.psk"]
        is_ws = kind.carrier == "ws"
        yield from ("[daemon]", "threads = 1", "drain = 1s")
        for number, address in enumerate((ONE, TWO)):
            yield from (f"[server.s{number}]", f"listen = {address}:{self.server_port}", *common,
                        f"carrier = {kind.carrier}", *([f"path = {PATH}"] if is_ws else []),
                        f"service = fixed {address}:{self.service_port}")
            yield from (f"service = {name} {name}:{self.service_port}" for name in self._ports)
        for number, (name, port) in enumerate(self._ports.items()):
            in_connect = ".connect." in name
            yield from (f"[client.c{number}]", f"listen = {port}", *common,
                        f"connect = {kind.carrier}://{name if in_connect else ONE}:"
                        f"{self.server_port}{PATH if is_ws else ''}",
                        f"service = {'fixed' if in_connect else name}")
        yield ""

    def ask(self, name):
        """What an application gets that goes the way of the name."""
        try:
            with connect(self._ports[name]) as application:
                return read_until_end(application)
        except ConnectionResetError:
            return Received(b"", RESET)


class Case(case.SystemTest):
    def says(self, address, port=None):
        return self.service(say(address.encode()), address=address, port=port)

    def black_hole(self, *where):
        hole = BlackHole(*where)
        self.addCleanup(hole.close)
        return hole


@unittest.skipIf(private_network.why_not(), private_network.why_not())
class NameService(Case):
    @classmethod
    def setUpClass(cls):
        private_network.replace_file("/etc/resolv.conf", RESOLV_CONF)
        private_network.replace_file("/etc/nsswitch.conf", "hosts: files dns\n")
        private_network.replace_file("/etc/hosts", f"{ONE} in-a-file.connect.test\n")
        cls.names = NameServer()

    @classmethod
    def tearDownClass(cls):
        cls.names.close()

    def test_all(self):
        """At once: most of it is waiting."""
        together({
            "a change": self.a_change_is_seen_in_time,
            "hanging": self.names_that_hang_hold_up_nobody,
            "failures": self.failures,
            "addresses": self.a_name_with_addresses_that_do_not_answer,
        })

    def everywhere(self, attempt):
        """`attempt(kind, name)` for each carrier and each place, at the same time. `name` makes
        names of a word, for this carrier and place alone."""
        together({
            f"{kind}, {place}": functools.partial(
                attempt, kind, functools.partial(self.name_of, place, kind.carrier))
            for kind in BOTH_CARRIERS for place in PLACES
        })

    @staticmethod
    def name_of(place, carrier, word):
        return f"{word}.{place}.{carrier}.test"

    def answers(self, daemon, name, address, seconds):
        began = time.monotonic()
        self.assertEqual(daemon.ask(name), Received(address.encode(), CLEAN), name)
        self.assertLess(time.monotonic() - began, seconds, name)

    def refuses(self, daemon, name, seconds, at_least=0):
        began = time.monotonic()
        self.assertEqual(daemon.ask(name), Received(b"", RESET), name)
        took = time.monotonic() - began
        self.assertTrue(at_least <= took < seconds, f"{name}: after {took:.1f} s")

    def a_change_is_seen_in_time(self):
        """Both by whoever comes all the time and by whoever comes late."""

        def attempt(kind, name):
            busy, late = name("busy"), name("late")
            daemon = Daemon(self, kind, busy, late)
            for one in (busy, late):
                self.names.set(one, ONE)
                self.answers(daemon, one, ONE, SLACK)
                self.names.set(one, TWO)
            changed = time.monotonic()
            while daemon.ask(busy).data == ONE.encode():
                self.assertLess(time.monotonic() - changed, SEEN_AFTER + SLACK)
                time.sleep(0.1)
            # It is kept for a while, too: not every connection asks. (A and AAAA make two.)
            self.assertLess(self.names.questions(busy), 10)
            until(lambda: time.monotonic() - changed > SEEN_AFTER + 0.5, 20, "its time is over")
            for one in (busy, late):
                self.answers(daemon, one, TWO, SLACK)

        self.everywhere(attempt)

    def names_that_hang_hold_up_nobody(self):
        def attempt(kind, name):
            known, fine, *hang = (name(word) for word in ("known", "fine", "a", "b", "c", "d"))
            for one in hang:
                self.names.set(one, SILENCE)
            for one in (known, fine):
                self.names.set(one, ONE)
            daemon = Daemon(self, kind, known, fine, *hang)
            self.answers(daemon, known, ONE, SLACK)
            self.names.set(known, SILENCE)
            asked = time.monotonic()

            def keep_asking():
                while time.monotonic() - asked < Daemon.CONNECT_TIMEOUT:
                    self.answers(daemon, fine, ONE, 2)

            limit = Daemon.CONNECT_TIMEOUT
            together({"fine": keep_asking, **{
                one: functools.partial(self.refuses, daemon, one, limit + SLACK, limit - 0.5)
                for one in hang}})

            # The known one goes on to be found while its answer grows old.
            said = f"name lookup of {known}: no answer; its last addresses go on to be used"
            while not daemon.process.log_lines(said):
                self.answers(daemon, known, ONE, OLD_AFTER + SLACK)
                self.assertLess(time.monotonic() - asked, SEEN_AFTER + OLD_AFTER + 2 * SLACK)
                time.sleep(0.2)
            self.answers(daemon, known, ONE, 2)
            self.assert_one_log_line(daemon.process, said)
            # One question at a time, however many ask.
            self.assertLessEqual(self.names.questions(hang[0]), 4)

        self.everywhere(attempt)

    def failures(self):
        """The last good answer is kept; without one the connection is refused at once."""

        def attempt(kind, name):
            failures = {name("broken"): SERVFAIL, name("gone"): NXDOMAIN}
            never = {name("never"): NXDOMAIN, name("nor-ever"): SERVFAIL}
            daemon = Daemon(self, kind, *failures, *never)
            for one in failures:
                self.names.set(one, ONE)
                self.answers(daemon, one, ONE, SLACK)
            for one, failure in {**failures, **never}.items():
                self.names.set(one, failure)
            began = time.monotonic()
            for one in never:
                self.refuses(daemon, one, SLACK)
                daemon.process.wait_for_log(
                    f"(server|backend) unreachable: {one}:.*Host not found")
            said = [f"name lookup of {one}: Host not found .*; its last addresses go on to be used"
                    for one in failures]
            while not all(map(daemon.process.log_lines, said)):
                for one in failures:
                    self.answers(daemon, one, ONE, SLACK)
                self.assertLess(time.monotonic() - began, SEEN_AFTER + 2 * SLACK)
                time.sleep(0.2)

            for one in (*failures, *never):
                self.names.set(one, TWO)
            for one in (*failures, *never):
                until(lambda one=one: daemon.ask(one).data == TWO.encode(), 2 * SLACK, one)
            for one in failures:
                daemon.process.wait_for_log(f"name lookup of {one} works again")

        self.everywhere(attempt)

    def a_name_with_addresses_that_do_not_answer(self):
        """The first one refuses, or swallows, or all do."""

        def attempt(kind, name):
            refuses, swallows, dark = name("refuses"), name("swallows"), name("dark")
            daemon = Daemon(self, kind, refuses, swallows, dark)
            port = daemon.server_port if ".connect." in refuses else daemon.service_port
            self.names.set(refuses, "::1", ONE)  # ::1 comes first by the rules of RFC 6724
            self.answers(daemon, refuses, ONE, 2)
            self.black_hole("::1", port)
            self.black_hole("127.0.0.3", port)
            self.names.set(swallows, "::1", ONE)
            self.names.set(dark, "::1", "127.0.0.3")

            def others_are_not_held_up():
                for _ in range(5):
                    self.answers(daemon, swallows, ONE, 2.5)  # 250 ms where nothing is busy

            limit = Daemon.CONNECT_TIMEOUT
            together({"others": others_are_not_held_up, **{
                f"dark {number}": functools.partial(self.refuses, daemon, dark, limit + SLACK,
                                                    limit - 0.5) for number in range(3)}})
            daemon.process.wait_for_log(f"{dark}:{port}")

        self.everywhere(attempt)

    def test_the_hosts_file_is_asked(self):
        daemon = Daemon(self, TCP, "in-a-file.connect.test")
        self.answers(daemon, "in-a-file.connect.test", ONE, SLACK)
        self.assertEqual(self.names.questions("in-a-file.connect.test"), 0)


class Leaving(Case):
    """While a connection is being made, whoever it is for leaves, or the daemon stops."""

    PATIENCE = ["connect-timeout = 60s"]

    def nowhere(self, kind, end):
        """A tunnel whose client, or server, connects to where nobody answers."""
        hole = self.black_hole()
        limits = {end: self.PATIENCE}
        if end == "server":
            return self.tunnel(kind, hole.target, **limits)
        tunnel = self.tunnel(kind, self.service(echo).target, **limits)
        tunnel.replace_client(lambda text: text.replace(
            f"://127.0.0.1:{tunnel.server_port}", f"://{hole.target}"))
        return tunnel

    def waits(self, tunnel, end):
        """An application for which that end is connecting."""
        application = tunnel.connect()
        if end == "server":
            application.sendall(b"x")
        time.sleep(0.5)
        return application

    @case.for_kinds(*BOTH_CARRIERS)
    def test_the_application_leaves(self, kind):
        tunnel = self.nowhere(kind, "client")
        reset(self.waits(tunnel, "client"))
        tunnel.client.wait_for_log("it left while the server was dialled")

    @case.for_kinds(*BOTH_CARRIERS)
    def test_the_application_has_said_all(self, kind):
        """It ended its direction only, and waits for the answer."""
        tunnel = self.nowhere(kind, "client")
        application = self.waits(tunnel, "client")
        application.shutdown(socket.SHUT_WR)
        application.settimeout(2)
        with self.assertRaises(TimeoutError):
            application.recv(1)

    @case.for_kinds(*BOTH_CARRIERS)
    def test_the_client_leaves(self, kind):
        def attempt(how):
            tunnel = self.nowhere(kind, "server")
            application = self.waits(tunnel, "server")
            if how == "killed":
                tunnel.client.kill()
            else:
                reset(application)
            tunnel.server.wait_for_log("the client left before the service answered")

        together({how: functools.partial(attempt, how) for how in ("killed", "application reset")})

    @case.for_kinds(*BOTH_CARRIERS)
    def test_the_daemon_stops(self, kind):
        def attempt(end):
            tunnel = self.nowhere(kind, end)
            applications = [self.waits(tunnel, end) for _ in range(3)]
            daemon = getattr(tunnel, end)
            daemon.send_signal(signal.SIGTERM)  # the drain is 1 s
            began = time.monotonic()
            for application in applications:
                self.assertEqual(read_until_end(application), Received(b"", RESET))
            self.assertEqual(daemon.wait(), 1)
            # Not the 3 s more that sessions get which are slow to end.
            self.assertLess(time.monotonic() - began, 3)

        together({end: functools.partial(attempt, end) for end in ("client", "server")})


if __name__ == "__main__":
    private_network.enter()
    case.main()
