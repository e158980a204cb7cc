"""Clients with several servers: they share the connections, and one that dies, is frozen, drains or
comes back costs nobody a connection that could be had."""

import collections
import signal
import socket
import subprocess
import time

from support import case, programs
from support.backends import echo, say
from support.ports import free_port
from support.streams import CLEAN, RESET, Received, connect, read_exactly, read_until_end
from support.tunnel import PATH, TCP, WEBSOCKET, shared_keys
from support.waiting import until

SLACK = 5  # seconds, for a machine that is busy


class Server:
    """A daemon whose service says its name."""

    def __init__(self, test, kind, name, server=()):
        self._test, self.name = test, name
        self.port = free_port()
        path = PATH if kind.carrier == "ws" else ""
        self.place = f"127.0.0.1:{self.port}{path}"
        self.url = f"{kind.carrier}://{self.place}"
        self._file = test.make_folder() / f"{name}.conf"
        self.echo = test.service(echo)
        self._file.write_text("\n".join((
            "[daemon]", "drain = 10s", f"[server.{name}]", f"listen = 127.0.0.1:{self.port}",
            f"carrier = {kind.carrier}", *([f"path = {PATH}"] if path else []),
            f"psk = {shared_keys().folder}/edge.psk",
            f"service = name {test.service(say(name.encode())).target}",
            f"service = echo {self.echo.target}", *server, "")))
        self.start()

    def start(self):
        self.process = self._test.start_daemon(self._file, self.name, [self.port])


class Case(case.SystemTest):
    def servers(self, kind, *names, **options):
        return [Server(self, kind, name, **options) for name in names]

    def client(self, *connect_lines, service="name", more=()):
        self.port = free_port()
        self.file = self.make_folder() / "client.conf"
        self.file.write_text("\n".join((
            "[daemon]", "threads = 2", "drain = 1s", "[client.app]", f"listen = {self.port}",
            *(f"connect = {line}" for line in connect_lines), f"service = {service}",
            f"psk = {shared_keys().folder}/edge.psk", *more, "")))
        return self.start_daemon(self.file, "client", [self.port])

    def ask(self, seconds=20):
        """Which server a new connection came to."""
        with connect(self.port, seconds=seconds) as application:
            return read_until_end(application, seconds)

    def asked(self, times):
        counts = collections.Counter()
        for _ in range(times):
            got = self.ask()
            self.assertEqual(got.end, CLEAN, got)
            counts[got.data.decode()] += 1
        return counts


class Choice(Case):
    @case.for_kinds(TCP, WEBSOCKET)
    def test_a_server_is_killed_and_comes_back(self, kind):
        one, two = self.servers(kind, "one", "two")
        client = self.client(f"{one.url} {two.url}")
        self.assertEqual(set(self.asked(60)), {"one", "two"})
        one.process.kill()
        self.assertEqual(self.asked(30), {"two": 30})
        self.assert_one_log_line(client, f"client.app: {one.place} is down: ")
        one.start()
        until(lambda: self.ask().data == b"one", 3 + SLACK, "the server that is back is used")
        self.assert_one_log_line(client, f"client.app: {one.place} is up again, after")
        self.assertEqual(client.log_lines(" warning .* service name: "), [])

    def test_weights_and_a_backup(self):
        heavy, light, backup = self.servers(TCP, "heavy", "light", "backup")
        self.client(f"{heavy.url} weight=9", light.url, f"{backup.url} backup")
        counts = self.asked(100)
        self.assertGreater(counts["heavy"], 70, counts)  # 90 ± 3: this is seven deviations off
        self.assertEqual(counts["backup"], 0)
        heavy.process.kill()
        light.process.kill()
        self.assertEqual(self.asked(20), {"backup": 20})
        light.start()
        until(lambda: self.ask().data == b"light", 3 + SLACK, "away from the backup again")

    def test_a_server_that_drains_keeps_what_it_has(self):
        one, two = self.servers(TCP, "one", "two")
        self.client(f"{one.url} weight=256", two.url, service="echo")
        held = []
        while not held or one.echo.connections == 0:
            held.append(connect(self.port))
            self.addCleanup(held[-1].close)
            held[-1].sendall(b"?")
            self.assertEqual(read_exactly(held[-1], 1), b"?")
        before = two.echo.connections
        one.process.send_signal(signal.SIGTERM)
        one.process.wait_for_log("stopping")
        for _ in range(5):
            with connect(self.port) as application:
                application.sendall(b"new")
                self.assertEqual(read_exactly(application, 3), b"new")
        self.assertEqual(two.echo.connections, before + 5)
        for application in held:
            application.sendall(b"!")
            self.assertEqual(read_exactly(application, 1), b"!")
            application.shutdown(socket.SHUT_WR)
            self.assertEqual(read_until_end(application), Received(b"", CLEAN))
        self.assertEqual(one.process.wait(), 0)

    def test_nobody_is_there(self):
        ports = [free_port(), free_port()]
        client = self.client(*(f"tcp://127.0.0.1:{port}" for port in ports))
        for _ in range(2):
            with self.subTest():
                try:
                    self.assertEqual(self.ask(), Received(b"", RESET))
                except ConnectionResetError:
                    pass
        client.wait_for_log("server unreachable: 127.0.0.1:[0-9]+: Connection refused")
        for port in ports:
            self.assert_one_log_line(
                client, f"client.app: 127.0.0.1:{port} is down: Connection refused")


class Hangs(Case):
    def test_a_server_that_is_frozen(self):
        """Its kernel still takes connections; nobody answers them."""
        frozen, good = self.servers(TCP, "frozen", "good")
        client = self.client(frozen.url, f"{good.url} backup")
        self.assertEqual(self.asked(1), {"frozen": 1})
        frozen.process.send_signal(signal.SIGSTOP)
        self.addCleanup(frozen.process.send_signal, signal.SIGCONT)
        began = time.monotonic()
        self.assertEqual(self.ask(30), Received(b"good", CLEAN))
        self.assertGreater(time.monotonic() - began, 14)  # the time that an answer may take
        client.wait_for_log(f"{frozen.place} is down: no valid answer")
        frozen.process.send_signal(signal.SIGCONT)
        until(lambda: self.ask(30).data == b"frozen", 3 + SLACK, "it is used again")


class Pool(Case):
    def test_the_pool_finds_the_other_server(self):
        one, two = self.servers(TCP, "one", "two")
        self.client(f"{one.url} {two.url}", more=["pool = 4"])
        self.asked(10)
        one.process.kill()
        self.assertEqual(self.asked(20), {"two": 20})
        one.start()
        until(lambda: self.ask().data == b"one", 10 + SLACK, "the pool knows both")


class Probe(Case):
    def probe(self, status):
        done = subprocess.run([programs.culvert(), "probe", self.file, "app"], timeout=60,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout

    def test_each_server_is_tried(self):
        one, two = self.servers(TCP, "one", "two")
        self.client(f"{one.url} weight=2", f"{two.url} backup")
        told = self.probe(0)
        self.assertEqual(told.count("open       ok"), 2, told)
        one.process.kill()
        told = self.probe(1)
        first, second = told.split("\n\n")
        self.assertTrue(first.startswith(f"{one.url} weight=2\n"), told)
        self.assertIn("connect    FAILED", first)
        self.assertTrue(second.startswith(f"{two.url} backup\n"), told)
        self.assertIn("open       ok", second)


if __name__ == "__main__":
    case.main()
