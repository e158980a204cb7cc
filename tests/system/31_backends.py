"""Services at several places: who is next, who is passed over, and when he is asked again; limits of
a service; checks."""

import collections
import time

from support import case
from support.backends import BlackHole, echo, say
from support.ports import free_port
from support.streams import CLEAN, RESET, Received, connect, read_exactly, read_until_end
from support.tunnel import TCP, WEBSOCKET_STATIC
from support.waiting import until

SLACK = 5  # seconds, for a machine that is busy


class Case(case.SystemTest):
    def says(self, word, **options):
        return self.service(say(word), **options)

    def three(self):
        return [self.says(word) for word in (b"a", b"b", b"c")]

    def served_by(self, tunnel, times):
        """How often each of the services answered; every connection has to end well."""
        counts = collections.Counter()
        for _ in range(times):
            got = tunnel.outcome()
            self.assertEqual(got.end, CLEAN, got)
            counts[got.data] += 1
        return counts

    def assert_held(self, tunnel):
        application = tunnel.connect()
        application.sendall(b"?")
        self.assertEqual(read_exactly(application, 1), b"?")
        return application


def targets(*services):
    return " ".join(service.target for service in services)


class Balance(Case):
    @case.for_kinds(TCP, WEBSOCKET_STATIC)
    def test_round_robin_over_those_that_are_up(self, kind):
        services = self.three()
        tunnel = self.tunnel(kind, targets(*services), confined=True, daemon=["threads = 2"])
        self.assertEqual(self.served_by(tunnel, 9), {b"a": 3, b"b": 3, b"c": 3})

        # One goes: nobody notices, and the others share what was his.
        port = services[1].port
        services[1].close()
        self.assertNotIn(b"b", self.served_by(tunnel, 2))
        counts = self.served_by(tunnel, 8)
        self.assertLessEqual(abs(counts[b"a"] - counts[b"c"]), 2, counts)
        self.assert_one_log_line(
            tunnel.server, f"server.edge: service it: 127.0.0.1:{port} is down: Connection refused")

        # And comes back.
        self.says(b"b", port=port)
        until(lambda: tunnel.outcome().data == b"b", 3 + SLACK, "the service that is back is used")
        self.assert_one_log_line(tunnel.server, f"127.0.0.1:{port} is up again, after")
        self.assertEqual(self.served_by(tunnel, 9), {b"a": 3, b"b": 3, b"c": 3})

    def test_the_first_and_its_stand_in(self):
        first, second = self.says(b"first"), self.says(b"second")
        tunnel = self.tunnel(TCP, f"{targets(first, second)} balance=first")
        self.assertEqual(self.served_by(tunnel, 3), {b"first": 3})
        port = first.port
        first.close()
        self.assertEqual(self.served_by(tunnel, 3), {b"second": 3})
        self.says(b"first", port=port)
        until(lambda: tunnel.outcome().data == b"first", 3 + SLACK, "back to the first")

    def test_the_fewest_connections(self):
        services = [self.service(echo) for _ in range(3)]
        tunnel = self.tunnel(TCP, f"{targets(*services)} balance=least-connections")
        held = [self.assert_held(tunnel) for _ in range(3)]
        self.assertEqual([service.connections for service in services], [1, 1, 1])
        held.pop(1).close()  # whichever: the next one takes its place
        tunnel.server.wait_for_log("service it")
        self.assert_held(tunnel)
        self.assertEqual(sorted(service.connections for service in services), [1, 1, 2])

    def test_a_unix_socket_among_them(self):
        services = [self.says(b"tcp"), self.says(b"unix", family=1,
                                                 address=f"{self.make_folder()}/socket")]
        tunnel = self.tunnel(TCP, targets(*services), confined=True)
        self.assertEqual(self.served_by(tunnel, 4), {b"tcp": 2, b"unix": 2})


class Failures(Case):
    def test_all_are_down_and_one_comes_back(self):
        ports = [free_port() for _ in range(3)]
        tunnel = self.tunnel(TCP, " ".join(f"127.0.0.1:{port}" for port in ports))
        for _ in range(3):
            self.assertEqual(tunnel.outcome(), Received(b"", RESET))
        # Each with its reason.
        tunnel.server.wait_for_log("backend unreachable: " + "; ".join(
            ["127.0.0.1:[0-9]+: Connection refused"] * 3))
        tunnel.client.wait_for_log("ended by the other end: backend unreachable")
        for port in ports:
            self.assert_one_log_line(tunnel.server, f"127.0.0.1:{port} is down")
        # Whatever they were: all are tried before anybody is turned away.
        self.says(b"back", port=ports[2])
        self.assertEqual(tunnel.outcome(), Received(b"back", CLEAN))

    def test_one_that_swallows_connections(self):
        hole = BlackHole()
        self.addCleanup(hole.close)
        good = self.says(b"good")
        tunnel = self.tunnel(TCP, f"{hole.target} {good.target} balance=first",
                             server=["connect-timeout = 4s"])
        began = time.monotonic()
        self.assertEqual(tunnel.outcome(), Received(b"good", CLEAN))
        took = time.monotonic() - began
        self.assertTrue(1.9 < took < 4, f"its share of the time are 2 s, it took {took:.1f} s")
        # From now on it is passed over, or tried by one at a time for a second.
        began = time.monotonic()
        self.assertEqual(tunnel.outcome(), Received(b"good", CLEAN))
        self.assertLess(time.monotonic() - began, 1.5)
        tunnel.server.wait_for_log(f"{hole.target} is down: Connection timed out")

    def test_checks_find_it_before_anybody_does(self):
        hole = BlackHole()
        self.addCleanup(hole.close)
        good, gone = self.says(b"good"), self.says(b"gone")
        tunnel = self.tunnel(TCP, f"{gone.target} {hole.target} {good.target} balance=first check=1s",
                             confined=True)
        tunnel.server.wait_for_log(f"{hole.target} is down: Connection timed out", 3 + SLACK)
        port = gone.port
        gone.close()
        tunnel.server.wait_for_log(f"{gone.target} is down: Connection refused", 3 + SLACK)
        began = time.monotonic()
        self.assertEqual(self.served_by(tunnel, 5), {b"good": 5})
        self.assertLess(time.monotonic() - began, 1.5 + SLACK)
        self.says(b"gone", port=port)
        tunnel.server.wait_for_log(f"{gone.target} is up again", 3 + SLACK)
        self.assertEqual(self.served_by(tunnel, 2), {b"gone": 2})


class Limits(Case):
    def test_connections_of_a_service(self):
        narrow, wide = self.service(echo), self.service(echo)
        tunnel = self.tunnel(TCP, f"{narrow.target} max-connections=2",
                             server=[f"service = wide {wide.target}"])
        held = [self.assert_held(tunnel) for _ in range(2)]
        self.assertEqual(tunnel.outcome(), Received(b"", RESET))
        tunnel.server.wait_for_log("service it: limit of connections reached: max-connections of "
                                   "the service")
        self.assertEqual(narrow.connections, 2)
        held.pop().close()

        def served():
            with connect(tunnel.client_port) as application:
                application.settimeout(5)
                application.sendall(b"?")
                try:
                    return application.recv(1) == b"?"
                except ConnectionResetError:
                    return False

        until(served, SLACK, "the free place is taken")
        # The limit is the service's alone.
        tunnel.replace_client(lambda text: text.replace("service = it", "service = wide"))
        for _ in range(3):
            self.assert_held(tunnel)

    def test_idle_time_of_a_service(self):
        service = self.service(echo)
        tunnel = self.tunnel(TCP, f"{service.target} idle-timeout=1s",
                             server=["idle-timeout = 1h", f"service = slow {service.target}"])
        application = self.assert_held(tunnel)
        self.assertEqual(read_until_end(application), Received(b"", RESET))
        tunnel.server.wait_for_log("service it: idle for too long")

    def test_a_service_may_have_no_idle_time_where_the_section_has_one(self):
        service = self.service(echo)
        tunnel = self.tunnel(TCP, f"{service.target} idle-timeout=off",
                             server=["idle-timeout = 1s"])
        application = self.assert_held(tunnel)
        time.sleep(2.5)
        application.sendall(b"!")
        self.assertEqual(read_exactly(application, 1), b"!")


if __name__ == "__main__":
    case.main()
