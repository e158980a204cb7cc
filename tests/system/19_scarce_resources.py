"""Files, memory, ports, queues and time run short, and everybody comes at once."""

import functools
import json
import os
import pathlib
import random
import re
import resource
import selectors
import signal
import socket
import subprocess
import threading
import time
import unittest

from support import case, private_network, programs
from support.backends import echo
from support.ports import is_listening
from support.streams import (
    CLEAN, Background, connect, flood, random_bytes, read_exactly, read_until_end,
    reset,
)
from support.tunnel import BOTH_CARRIERS, TCP, shared_keys
from support.waiting import together, until

KIB, MIB = 1 << 10, 1 << 20
ENDS = ("server", "client")
TWO_THREADS = ["threads = 2"]


class Case(case.SystemTest):
    def assert_echo(self, application, word=b"hello"):
        application.sendall(word)
        self.assertEqual(read_exactly(application, len(word)), word)

    def echoes(self, tunnel, seconds=5):
        """Whether a new connection works."""
        try:
            with connect(tunnel.client_port, seconds=seconds) as application:
                self.assert_echo(application)
            return True
        except (OSError, AssertionError):
            return False

    def restart(self, tunnel, end, **options):
        """That end anew, so that it is started with these options."""
        if end == "client":
            tunnel.replace_client(**options)
        else:
            tunnel.server.stop()
            tunnel.start_server(**options)
        return getattr(tunnel, end)

    def everywhere(self, attempt):
        together({f"{kind}, {end}": functools.partial(attempt, kind, end)
                  for kind in BOTH_CARRIERS for end in ENDS})


class Files(Case):
    LIMIT, CONNECTIONS, HOLD = 64, 200, 10

    def test_more_connections_than_descriptors(self):
        def few_files():
            resource.setrlimit(resource.RLIMIT_NOFILE, (self.LIMIT, self.LIMIT))

        def attempt(kind, end):
            tunnel = self.tunnel(kind, self.service(echo).target)
            self.overrun(tunnel, self.restart(tunnel, end, preexec_fn=few_files))

        self.everywhere(attempt)

    def overrun(self, tunnel, scarce):
        held = tunnel.connect()
        self.assert_echo(held)
        crowd = [connect(tunnel.client_port) for _ in range(self.CONNECTIONS)]
        spent = scarce.cpu_seconds()
        until_when = time.monotonic() + self.HOLD
        while time.monotonic() < until_when:
            self.assert_echo(held)
            time.sleep(0.1)
        self.assertLess(scarce.cpu_seconds() - spent, self.HOLD / 10)
        about_files = scarce.log_lines("[Tt]oo many open files")
        self.assertTrue(1 <= len(about_files) < 20, scarce.log())
        self.assertLess(len(scarce.log_lines()), 60)

        for application in crowd:
            reset(application)
        until(lambda: self.echoes(tunnel, 2), 3, "a new connection works")
        self.assert_echo(held)


class Memory(Case):
    """A limit of the address space: there, unlike where the kernel ends a process that takes too
    much, an allocation fails."""

    CONNECTIONS = 300

    def test_no_memory_under_load(self):
        """Some connections are reset, and one that needs nothing new is not; the daemon lives, and
        works again when the load is gone."""

        def attempt(kind, end):
            # From one heap: others would be reserved beforehand, and hide the limit.
            one_heap = {**os.environ, "MALLOC_ARENA_MAX": "1"}
            tunnel = self.tunnel(kind, self.service(flood_or_echo).target, daemon=TWO_THREADS,
                                 env=one_heap)
            quiet = tunnel.connect()
            quiet.sendall(b"e")
            self.assert_echo(quiet)
            scarce = getattr(tunnel, end)
            limit = self.address_space(scarce) + 4 * MIB
            resource.prlimit(scarce.pid, resource.RLIMIT_AS, (limit, limit))

            crowd = [self.ask_for_a_flood(tunnel) for _ in range(self.CONNECTIONS)]
            scarce.wait_for_log("no memory|Cannot allocate memory", 20)
            time.sleep(1)
            self.assertTrue(scarce.running(), scarce.log())
            self.assertLess(len(scarce.log_lines()), 100)
            # Those that have nothing to say have nothing to lose.
            for application in filter(None, crowd):
                reset(application)
            until(lambda: self.echoes_again(tunnel), 20, "new connections work")
            self.assert_echo(quiet)

        self.everywhere(attempt)

    def address_space(self, process):
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        return int(re.search(r"VmSize:\s+(\d+) kB", status)[1]) * KIB

    def ask_for_a_flood(self, tunnel):
        try:
            application = tunnel.connect()
            application.sendall(b"f")
            return application
        except OSError:
            return None

    def echoes_again(self, tunnel):
        try:
            with connect(tunnel.client_port, seconds=3) as application:
                application.sendall(b"e")
                self.assert_echo(application)
            return True
        except (OSError, AssertionError):
            return False


def flood_or_echo(connection):
    """As the first byte says."""
    (flood if connection.recv(1) == b"f" else echo)(connection)


@unittest.skipIf(private_network.why_not(), private_network.why_not())
class Ports(Case):
    """Applications and services on unix sockets, so that only the tunnel takes local ports; or
    the service on TCP, with most of the ports taken."""

    FIRST, LAST = 9_000, 9_031  # outside of what the tests listen on

    @classmethod
    def setUpClass(cls):
        cls.before = pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text()
        if not private_network.set_value("ipv4/ip_local_port_range", f"{cls.FIRST} {cls.LAST}"):
            raise unittest.SkipTest("this machine does not let the range of ports be set")

    @classmethod
    def tearDownClass(cls):
        private_network.set_value("ipv4/ip_local_port_range", cls.before)

    @property
    def count(self):
        return self.LAST - self.FIRST + 1

    def test_the_client_has_no_port_left(self):
        for kind in BOTH_CARRIERS:
            with self.subTest(kind):
                self.run_out(kind, "client", "server unreachable: .*Cannot assign requested addr")

    def test_the_server_has_no_port_left(self):
        for kind in BOTH_CARRIERS:
            with self.subTest(kind):
                self.run_out(kind, "server", "backend unreachable: .*Cannot assign requested addr")

    def run_out(self, kind, end, said):
        folder = self.make_folder()
        others = []
        if end == "client":
            service = self.service(echo, family=socket.AF_UNIX, address=str(folder / "service"))
        else:
            service = self.service(echo)
            others = [connect(service.port) for _ in range(self.count - 8)]
        tunnel = self.tunnel(kind, service.target)
        path = folder / "plain.sock"
        tunnel.replace_client(lambda text: text.replace(
            f"listen = 127.0.0.1:{tunnel.client_port}", f"listen = unix:{path}"), ports=[])
        until(path.exists, 5, "the client listens")
        scarce = getattr(tunnel, end)

        good, refused = [], 0
        for _ in range(self.count + 8):
            application = self.reach(path)
            if application is not None:
                good.append(application)
            else:
                refused += 1
        self.assertGreaterEqual(refused, 8)
        self.assertGreaterEqual(len(good), 4)
        self.assertTrue(1 <= len(scarce.log_lines(said)) <= 20, scarce.log())
        for application in good:  # nobody else is touched
            self.assert_echo(application)

        for one in (*good, *others):
            one.close()
        # A port rests for a while after a connection that ended in good order.
        until(lambda: self.reach(path), 90, "there are ports again")

    def reach(self, path):
        """A connection that works, or None."""
        application = socket.socket(socket.AF_UNIX)
        application.settimeout(10)
        application.connect(str(path))
        try:
            self.assert_echo(application)
            self.addCleanup(application.close)
            return application
        except (OSError, AssertionError):
            application.close()
            return None


class Time(Case):
    """The time of day jumps; only the handshake knows it. The clocks are behind the machine's all
    the time: libfaketime is not up to timers with a clock ahead."""

    def test_the_clock_jumps_by_hours(self):
        def attempt(kind, end):
            folder = self.make_folder()
            clock = {name: folder / name for name in ENDS}
            for file in clock.values():
                file.write_text("-6h")
            limits = ["dead-peer = 10s", "keepalive = 5s"]
            tunnel = self.tunnel(kind, self.service(echo).target, server=limits, client=limits)
            for name in ENDS:
                self.restart(tunnel, name, env=programs.with_clock_in(clock[name]))
            held = tunnel.connect()
            self.assert_echo(held)

            for jump in ("-12h", "-1h"):
                clock[end].write_text(jump)
                lasts = time.monotonic() + 3
                while time.monotonic() < lasts:
                    self.assert_echo(held)
                    time.sleep(0.2)
                said = r"clocks too far apart \(the client's is (-?\d+) s ahead\)"
                before = len(tunnel.server.log_lines(said))
                with tunnel.connect():
                    until(lambda: len(tunnel.server.log_lines(said)) > before, 10, said)
                ahead = int(re.search(said, tunnel.server.log_lines(said)[-1])[1])
                expected = {"-12h": 6, "-1h": -5}[jump] * 3600 * (1 if end == "server" else -1)
                self.assertAlmostEqual(ahead, expected, delta=30)
                self.assert_echo(held)

            clock[end].write_text("-6h")
            until(lambda: self.echoes(tunnel), 20, "the clocks agree again")
            self.assert_echo(held)

        self.everywhere(attempt)

    def test_a_daemon_that_stands_still_for_a_while(self):
        """Shorter than dead-peer: nobody is cut, and nothing is lost."""

        def attempt(kind, end):
            backend = self.backend()
            limits = ["dead-peer = 30s"]
            tunnel = self.tunnel(kind, backend.target, server=limits, client=limits)
            application, service = tunnel.open(backend)
            data = random_bytes(8 * MIB, "stopped")
            sending = Background(lambda: (service.sendall(data), service.shutdown(socket.SHUT_WR)))
            first = read_exactly(application, MIB)
            stopped = getattr(tunnel, end)
            for _ in range(3):
                stopped.send_signal(signal.SIGSTOP)
                time.sleep(1.5)
                stopped.send_signal(signal.SIGCONT)
                first += read_exactly(application, MIB)
            rest = read_until_end(application)
            sending.join(20)
            self.assertEqual(rest.end, CLEAN)
            self.assert_same_bytes(first + rest.data, data)

        self.everywhere(attempt)


class Turnover(Case):
    CONNECTIONS = 10_000

    def test_ten_thousand_connections_leave_nothing_behind(self):
        def attempt(kind):
            port = self.start_backend()
            tunnel = self.tunnel(kind, f"127.0.0.1:{port}", daemon=TWO_THREADS)
            daemons = (tunnel.server, tunnel.client)
            self.churn(tunnel)  # whatever a daemon allocates once
            self.settle(daemons)
            files = [daemon.open_files() for daemon in daemons]
            memory = [daemon.memory() for daemon in daemons]
            done = 0
            while done < self.CONNECTIONS:
                done += self.churn(tunnel)
            self.settle(daemons)
            for daemon, had in zip(daemons, files):
                until(lambda daemon=daemon, had=had: daemon.open_files() <= had, 5,
                      f"{daemon.name} closes what it had opened")
                self.assertEqual(daemon.log_lines(" (error|warning) "), [])
            for daemon, had in zip(daemons, memory):
                self.assertLess(daemon.memory() - had, 4 * MIB, f"{daemon.name} has grown")
            print(f"{kind}: {done} connections")

        together({str(kind): functools.partial(attempt, kind) for kind in BOTH_CARRIERS})

    def start_backend(self):
        backend = self.backend()
        backend.close()
        port = backend.port
        self.start([programs.culvert_load(), "serve", f"127.0.0.1:{port}"], f"backend-{port}",
                   lambda: is_listening(port))
        return port

    def churn(self, tunnel):
        """Connections of one request each for a while; how many there were."""
        command = [programs.culvert_load(), "churn", "--to", f"127.0.0.1:{tunnel.client_port}",
                   "--connections", "16", "--duration", "2s", "--json", "--quiet"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return json.loads(done.stdout)["requests"]

    def settle(self, daemons):
        """Until the last sessions have their line in the log."""
        for daemon in daemons:
            def unchanged(daemon=daemon, seen=[]):
                seen.append(daemon.log_path.stat().st_size)
                time.sleep(0.2)
                return len(seen) > 1 and seen[-1] == seen[-2]

            until(unchanged, 10, "all sessions have ended")


class Storms(Case):
    ALL_AT_ONCE, QUEUE = 500, 128

    def test_everybody_connects_at_once(self):
        """More than the queue of a listener holds: those that it drops come again by themselves."""

        def attempt(kind):
            path = str(self.make_folder() / "service")
            service = self.service(echo, family=socket.AF_UNIX, address=path)
            tunnel = self.tunnel(kind, service.target, daemon=TWO_THREADS)
            began = time.monotonic()
            answered = self.storm(tunnel.client_port, self.ALL_AT_ONCE, 60)
            self.assertEqual(answered, self.ALL_AT_ONCE)
            print(f"{kind}: {answered} in {time.monotonic() - began:.1f} s")
            for daemon in (tunnel.server, tunnel.client):
                self.assertEqual(daemon.log_lines(" (error|warning) "), [])

        was = pathlib.Path("/proc/sys/net/core/somaxconn").read_text()
        small = not private_network.why_not() and private_network.set_value(
            "core/somaxconn", str(self.QUEUE))
        if not small:
            print("skipped in part: the queues are as long as ever, this machine does not let "
                  "them be shortened")
        try:
            for kind in BOTH_CARRIERS:
                with self.subTest(kind):
                    attempt(kind)
        finally:
            if small:
                private_network.set_value("core/somaxconn", was)

    def storm(self, port, count, seconds):
        """Connects all at once, says a byte on each, and counts the answers."""
        selector, answered = selectors.DefaultSelector(), 0
        for _ in range(count):
            one = socket.socket()
            one.setblocking(False)
            one.connect_ex(("127.0.0.1", port))
            selector.register(one, selectors.EVENT_WRITE)
            self.addCleanup(one.close)
        by = time.monotonic() + seconds
        while answered < count and time.monotonic() < by:
            for key, events in selector.select(1):
                if events & selectors.EVENT_WRITE:
                    key.fileobj.send(b"x")
                    selector.modify(key.fileobj, selectors.EVENT_READ)
                else:
                    self.assertEqual(key.fileobj.recv(1), b"x")
                    selector.unregister(key.fileobj)
                    answered += 1
        return answered

    def test_all_come_back_when_the_server_does(self):
        """500 applications that try again, beside a pool, while the server is away and then there:
        all are served within 30 s."""
        def attempt(kind):
            service = self.service(echo, backlog=4096)
            tunnel = self.tunnel(kind, service.target, daemon=TWO_THREADS,
                                 server=["max-waiting = 300"], client=["pool = 100"])
            self.assertTrue(self.echoes(tunnel))
            tunnel.server.kill()
            served, lock = [], threading.Lock()

            def insist(number):
                choose = random.Random(number)
                for _ in range(40):
                    if self.echoes(tunnel, seconds=20):
                        with lock:
                            served.append(time.monotonic())
                        return
                    time.sleep(choose.uniform(0.2, 1))

            threads = [threading.Thread(target=insist, args=(n,), daemon=True) for n in range(500)]
            for thread in threads:
                thread.start()
            time.sleep(3)
            self.assertEqual(served, [])
            tunnel.start_server()
            began = time.monotonic()
            until(lambda: len(served) == 500, 30, f"all are served, not {len(served)}")
            print(f"{kind}: all served {max(served) - began:.1f} s after the server came back")
            tunnel.client.wait_for_log("pool: sessions are made ready again", 30)
            self.assertLess(len(tunnel.client.log_lines(" warning ")), 60)

        for kind in BOTH_CARRIERS:
            with self.subTest(kind):
                attempt(kind)

    def test_pools_spread_their_attempts(self):
        """While nobody answers, each client tries more and more rarely, and not with the others."""
        clients, seconds = 8, 8
        attempts = {}
        listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.addCleanup(listener.close)
        port = listener.getsockname()[1]
        daemons = []
        for number in range(clients):
            folder = self.make_folder()
            file = folder / "client.conf"
            file.write_text("\n".join([
                "[daemon]", "drain = 1s", "threads = 1", "[client.app]",
                f"listen = unix:{folder}/plain.sock", f"connect = tcp://127.0.0.1:{port}",
                f"psk = {shared_keys().folder}/edge.psk", "pool = 4", ""]))
            daemons.append(self.start_daemon(file, f"client-{number}", []))

        began = time.monotonic()
        by = began + seconds
        while time.monotonic() < by:
            listener.settimeout(max(0.01, by - time.monotonic()))
            try:
                connection, peer = listener.accept()
            except TimeoutError:
                break
            owner = self.owner_of(peer[1], daemons)
            attempts.setdefault(owner, []).append(time.monotonic() - began)
            reset(connection)
        attempts.pop(None, None)
        self.assertEqual(len(attempts), clients)
        rounds = {owner: self.rounds(times) for owner, times in attempts.items()}
        for owner, times in rounds.items():
            # 0, 0.25-0.5, 0.5-1, 1-2, 2-4 … s after each other.
            self.assertLessEqual(len(times), 8, f"{owner}: {times}")
        third = sorted(times[2] for times in rounds.values() if len(times) > 2)
        self.assertGreater(len(third), clients / 2)
        self.assertGreater(third[-1] - third[0], 0.1, "all come at the same moments")

    @staticmethod
    def rounds(times):
        """When attempts began; those of one moment count as one."""
        kept = []
        for moment in times:
            if not kept or moment > kept[-1] + 0.1:
                kept.append(moment)
        return kept

    @staticmethod
    def owner_of(port, daemons):
        """The daemon whose socket has this local port; None when it is gone already."""
        with open("/proc/net/tcp", encoding="ascii") as lines:
            inodes = {line.split()[9] for line in list(lines)[1:]
                      if int(line.split()[1].rpartition(":")[2], 16) == port}
        for daemon in daemons:
            for entry in pathlib.Path(f"/proc/{daemon.pid}/fd").iterdir():
                try:
                    if os.readlink(entry)[8:-1] in inodes:
                        return daemon.name
                except OSError:
                    pass
        return None

    def test_stops_during_a_storm_of_connections(self):
        """Two hundred times: exit status 0 and no hang, whatever comes in at that moment."""

        def attempt(end):
            tunnel = self.tunnel(TCP, self.service(echo, backlog=4096).target,
                                 daemon=[*TWO_THREADS, "drain = 10s"])
            over = threading.Event()

            def storm():
                while not over.is_set():
                    try:
                        with connect(tunnel.client_port, seconds=5) as application:
                            application.sendall(b"x")
                            application.recv(1)
                    except OSError:
                        time.sleep(0.005)

            threads = [Background(storm) for _ in range(3)]
            choose = random.Random(end)
            daemon = getattr(tunnel, end)
            try:
                for number in range(100):
                    # Not waited for by its port: a look at all sockets takes long in a storm.
                    if number > 0:
                        daemon = self.start_daemon(tunnel.folder / f"{end}.conf", end, [])
                    until(lambda: len(daemon.log_lines(" ready: ")) > number, 15, "it is ready")
                    time.sleep(choose.uniform(0, 0.03))
                    daemon.send_signal(signal.SIGTERM)
                    self.assertEqual(daemon.wait(8), 0, f"round {number}:\n{daemon.log()}")
            finally:
                over.set()
                for thread in threads:
                    thread.join()

        together({end: functools.partial(attempt, end) for end in ENDS})


if __name__ == "__main__":
    private_network.enter()
    case.main()
