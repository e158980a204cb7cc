"""What a service manager hands down and wants to hear: sockets, readiness, signs of life."""

import os
import pathlib
import re
import signal
import socket
import sys

from support import case, programs
from support.backends import echo
from support.ports import free_port
from support.process import Daemon
from support.streams import connect, read_exactly
from support.tunnel import shared_keys
from support.waiting import until

# Puts the descriptors that it is given where a service manager puts them, and becomes the daemon.
HAND_DOWN = """
import os, sys
descriptors = [int(word) for word in sys.argv[1].split(",") if word]
for place, fd in enumerate(descriptors, 3):
    os.dup2(fd, place)
os.environ["LISTEN_PID"] = os.environ["WATCHDOG_PID"] = str(os.getpid())
os.environ["LISTEN_FDS"] = str(len(descriptors))
os.execv(sys.argv[2], sys.argv[2:])
"""


class Manager:
    """Hears what a daemon says to it."""

    def __init__(self, folder, name=None):
        self.address = name or str(folder / "notify")
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind("\0" + name[1:] if name else self.address)
        self.heard = []

    def close(self):
        self._socket.close()

    def listen(self):
        """All that was said so far."""
        self._socket.setblocking(False)
        try:
            while True:
                self.heard.append(self._socket.recv(4096).decode().splitlines())
        except BlockingIOError:
            return self.heard

    def wait_for(self, word, count=1, seconds=20):
        until(lambda: sum(word in said for said in self.listen()) >= count, seconds,
              f"{count} times {word}")

    def count(self, word):
        return sum(word in said for said in self.listen())


class ServiceManager(case.SystemTest):
    def manager(self, **options):
        manager = Manager(self.make_folder(), **options)
        self.addCleanup(manager.close)
        return manager

    def daemon_of(self, lines, *, sockets=(), manager=None, patience=None):
        folder = self.make_folder()
        file = folder / "culvert.conf"
        file.write_text("\n".join([*lines, f"psk = {shared_keys().folder}/edge.psk", ""]))
        descriptors = ",".join(str(one.fileno()) for one in sockets)
        environment = dict(os.environ)
        if manager:
            environment["NOTIFY_SOCKET"] = manager.address
        if patience:
            environment["WATCHDOG_USEC"] = str(patience)
        return self.start_daemon(
            file, "culvert", [], prefix=[sys.executable, "-c", HAND_DOWN, descriptors],
            env=environment, pass_fds=[one.fileno() for one in sockets]), file

    def server_lines(self, listen, target="127.0.0.1:1"):
        return ["[server.edge]", f"listen = {listen}", f"service = it {target}"]

    def test_it_hears_of_every_change(self):
        for name in (None, f"@culvert-test-{os.getpid()}"):
            with self.subTest(name):
                manager = self.manager(name=name)
                daemon, file = self.daemon_of(self.server_lines(free_port()), manager=manager)
                manager.wait_for("READY=1")
                self.assertTrue(any(line.startswith("STATUS=1 server") for line in
                                    manager.heard[0]), manager.heard)
                daemon.send_signal(signal.SIGHUP)
                manager.wait_for("RELOADING=1")
                manager.wait_for("READY=1", 2)
                said = next(said for said in manager.heard if "RELOADING=1" in said)
                self.assertTrue(any(re.fullmatch(r"MONOTONIC_USEC=\d{6,}", line) for line in said))
                file.write_text("nonsense\n")
                daemon.send_signal(signal.SIGHUP)
                manager.wait_for("READY=1", 3)
                self.assertIn("STATUS=reload refused: the daemon goes on as it was",
                              manager.heard[-1])
                self.assertEqual(manager.count("STOPPING=1"), 0)
                daemon.stop()
                manager.wait_for("STOPPING=1")
                self.assertEqual(manager.count("WATCHDOG=1"), 0)  # nobody asked for it

    def test_signs_of_life_until_it_hangs(self):
        manager = self.manager()
        daemon, _ = self.daemon_of(["[daemon]", "threads = 2",
                                    *self.server_lines(free_port())], manager=manager,
                                   patience=400_000)
        manager.wait_for("WATCHDOG=1", 5)
        daemon.send_signal(signal.SIGSTOP)
        try:
            until(lambda: "T" in self.states(daemon), 10, "it has stopped")
            before = manager.count("WATCHDOG=1")
            with self.assertRaises(AssertionError):
                manager.wait_for("WATCHDOG=1", before + 1, seconds=1)
        finally:
            daemon.send_signal(signal.SIGCONT)
        manager.wait_for("WATCHDOG=1", before + 2)

    @staticmethod
    def states(daemon):
        stat = pathlib.Path(f"/proc/{daemon.pid}/stat").read_text()
        return stat.rpartition(")")[2].split()[0]

    def test_sockets_are_used_and_stay_where_they_are(self):
        """Connections that came before the daemon did are served too."""
        service = self.service(echo)
        folder = self.make_folder()
        path = str(folder / "plain.sock")
        tunnel = socket.create_server(("127.0.0.1", free_port()))
        plain = socket.create_server(("127.0.0.1", free_port()))
        local = socket.socket(socket.AF_UNIX)
        local.bind(path)
        local.listen(8)
        sockets = (tunnel, plain, local)
        port = tunnel.getsockname()[1]
        waiting = connect(plain.getsockname()[1])
        waiting.sendall(b"early")
        psk = f"psk = {shared_keys().folder}/edge.psk"
        lines = [
            *self.server_lines(port, service.target), psk,
            "[client.tcp]", f"listen = {plain.getsockname()[1]}",
            f"connect = tcp://127.0.0.1:{port}", psk,
            "[client.unix]", f"listen = unix:{path}", f"connect = tcp://127.0.0.1:{port}",
        ]
        for _ in range(2):
            daemon, _ = self.daemon_of(lines, sockets=sockets)
            if waiting:
                self.assertEqual(read_exactly(waiting, 5), b"early")
                waiting.close()
                waiting = None
            with socket.socket(socket.AF_UNIX) as application:
                application.connect(path)
                application.sendall(b"hello")
                self.assertEqual(read_exactly(application, 5), b"hello")
            daemon.wait_for_log("ready", 20)
            self.assertEqual(daemon.log_lines(" (warning|error) .*(listen|socket)"), [])
            daemon.stop()
            self.assertTrue(os.path.exists(path))  # it is the manager's
            connect(plain.getsockname()[1]).close()  # its queue is there
        for one in sockets:
            one.close()

    def test_sockets_that_nobody_wants(self):
        stray = socket.create_server(("127.0.0.1", 0))
        port = stray.getsockname()[1]
        datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        daemon, _ = self.daemon_of(self.server_lines(free_port()), sockets=(stray, datagrams))
        stray.close()
        datagrams.close()
        daemon.wait_for_log("ready", 20)
        self.assertTrue(daemon.log_lines(f"warning +127.0.0.1:{port}: nobody listens there"),
                        daemon.log())
        self.assertTrue(daemon.log_lines("warning +descriptor 4 of the service manager is no"))

    def test_nonsense_in_the_environment(self):
        manager = self.manager()
        for name, value in {"LISTEN_FDS": "many", "LISTEN_PID": "x", "WATCHDOG_USEC": "-5",
                            "NOTIFY_SOCKET": "no/such", "WATCHDOG_PID": "0"}.items():
            with self.subTest(name):
                folder = self.make_folder()
                file = folder / "culvert.conf"
                file.write_text("\n".join([*self.server_lines(free_port()),
                                           f"psk = {shared_keys().folder}/edge.psk", ""]))
                daemon = self.start_daemon(file, "culvert", [], env={
                    **os.environ, "NOTIFY_SOCKET": manager.address, name: value})
                daemon.wait_for_log("ready", 20)
                daemon.stop()

    def test_a_replacement_says_that_it_is_the_main_process(self):
        manager = self.manager()
        lines = ["[daemon]", "control = unix:control", *self.server_lines(free_port())]
        first, file = self.daemon_of(lines, manager=manager)
        manager.wait_for("READY=1")
        second = Daemon([programs.culvert(), "run", "--replace", file], file.parent, "second",
                        env={**os.environ, "NOTIFY_SOCKET": manager.address})
        self.addCleanup(self._stop, second)
        manager.wait_for(f"MAINPID={second.pid}")
        manager.wait_for("READY=1", 2)
        self.assertEqual(first.wait(20), 0)
        self.assertEqual(manager.count("STOPPING=1"), 0)  # the service goes on


if __name__ == "__main__":
    case.main()
