"""Several servers behind one address: config/samples/haproxy-scaling.cfg, as it stands there.

It runs in a network of its own, whose loopback has the addresses of the sample.
"""

import pathlib
import re
import signal
import socket
import subprocess
import sys
import threading
import time

from support import case, private_network, programs
from support.backends import Service
from support.ports import free_port
from support.relay import Relay
from support.streams import CLEAN, RESET, read_exactly, read_until_end
from support.tunnel import TCP, shared_keys
from support.waiting import until

SOURCE = pathlib.Path(__file__).resolve().parents[2]
SAMPLE = SOURCE / "config" / "samples" / "haproxy-scaling.cfg"
SERVERS = dict(re.findall(r"^ *server (\S+) ([\d.]+):7700", SAMPLE.read_text(), re.M))
BALANCER = re.search(r"^ *bind ([\d.]+):7700", SAMPLE.read_text(), re.M)[1]
CLIENT = "10.0.0.20"
PIECE = 4096


class Load:
    """A session of an application that asks and is answered until it is told to end."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=20)
        self.server = read_exactly(self.socket, 5).decode()  # the backend's first word
        self.rounds, self.end, self.whole = 0, None, True
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        try:
            while not self._over.wait(0.02):
                piece = bytes([self.rounds % 256]) * PIECE
                self.socket.sendall(piece)
                self.whole = self.whole and read_exactly(self.socket, PIECE) == piece
                self.rounds += 1
            self.socket.shutdown(socket.SHUT_WR)
            rest = read_until_end(self.socket)
            self.whole = self.whole and rest.data == b""
            self.end = rest.end
        except (ConnectionResetError, BrokenPipeError):
            self.end = RESET
        except (AssertionError, OSError) as error:
            self.end = repr(error)

    def finish(self):
        self._over.set()
        self._thread.join(20)
        self.socket.close()
        return self.end


def backend_of(name):
    """Says at which server it stands, then echoes."""

    def handler(connection):
        connection.sendall(name.encode())
        while piece := connection.recv(1 << 16):
            connection.sendall(piece)
        connection.shutdown(socket.SHUT_WR)

    return handler


def accepts():
    """Whether the balancer does; a server may hear of this visit, by its own address."""
    try:
        socket.create_connection((BALANCER, 7700), timeout=5).close()
    except OSError:
        return False
    return True


class Scaling(case.SystemTest):
    def setUp(self):
        super().setUp()
        for address in (BALANCER, CLIENT, *SERVERS.values()):
            subprocess.run(["ip", "address", "replace", f"{address}/32", "dev", "lo"], check=True)
        # Where connections of this host to the balancer seem to come from.
        subprocess.run(["ip", "route", "replace", "local", BALANCER, "dev", "lo", "table", "local",
                        "src", CLIENT], check=True)
        self.folder = self.make_folder()
        self.backends = {name: Service(backend_of(name)) for name in SERVERS}
        for backend in self.backends.values():
            self.addCleanup(backend.close)
        self.servers = {name: self.start_server(name) for name in SERVERS}
        self.loads = []
        self.addCleanup(lambda: [load.finish() for load in self.loads])
        haproxy = programs.find("haproxy", "haproxy")
        self.start([haproxy, "-db", "-f", SAMPLE], "haproxy", accepts)
        self.port = free_port()

    def start_server(self, name):
        file = self.folder / f"{name}.conf"
        file.write_text("\n".join([
            "[daemon]", "drain = 30s", f"[server.{name}]", f"listen = {SERVERS[name]}:7700",
            f"proxy-address = {BALANCER}", "proxy-protocol = required",
            *shared_keys().server_lines("psk"),
            f"service = it {self.backends[name].target}", ""]))
        daemon = self.start_daemon(file, name, [])
        daemon.wait_until_ready(lambda: daemon.log_lines(" ready: "))
        return daemon

    def start_client(self, *lines):
        file = self.folder / "client.conf"
        file.write_text("\n".join([
            "[daemon]", "drain = 1s", "[client.app]", f"listen = 127.0.0.1:{self.port}",
            f"connect = tcp://{BALANCER}:7700", *shared_keys().client_lines("psk"), *lines, ""]))
        return self.start_daemon(file, "client", [self.port])

    def add_load(self, count):
        added = [Load(self.port) for _ in range(count)]
        self.loads += added
        return added

    def at(self, *names):
        return [load for load in self.loads if load.server in names and load.end is None]

    def assert_alive(self, loads):
        """They go on: each has come further."""
        rounds = [load.rounds for load in loads]
        until(lambda: all(load.rounds > before + 2 for load, before in zip(loads, rounds)), 20,
              f"{len(loads)} sessions go on: {[load.end for load in loads if load.end]}")

    def reaches(self, name):
        self.add_load(1)
        return bool(self.at(name))

    def kill_and_drain(self, *client_lines):
        self.start_client(*client_lines)
        self.add_load(60)
        for name in SERVERS:
            self.assertGreater(len(self.at(name)), 10, "the load is not spread")
        self.assert_alive(self.loads)

        # One is killed: its sessions end as resets, the others and new ones know nothing of it.
        lost, rest = self.at("edge1"), self.at("edge2", "edge3")
        self.servers["edge1"].kill()
        until(lambda: all(load.end for load in lost), 10, "the killed one's sessions end")
        self.assertEqual({load.end for load in lost}, {RESET})
        new = self.add_load(30)
        self.assertEqual({load.server for load in new}, {"edge2", "edge3"})
        self.assert_alive([*rest, *new])

        # Another drains: its sessions go on to their own end, new ones are at the last server.
        draining = self.at("edge2")
        self.servers["edge2"].send_signal(signal.SIGTERM)
        self.servers["edge2"].wait_for_log("stopping")
        until(lambda: self.add_load(1)[0].server == "edge3", 10, "it gets no new sessions")
        self.assertEqual({load.server for load in self.add_load(10)}, {"edge3"})
        self.assert_alive(draining)
        self.assertEqual({load.finish() for load in self.at("edge2")}, {CLEAN})
        self.assertEqual(self.servers["edge2"].wait(20), 0)

        # The killed one comes back, and is found.
        self.servers["edge1"] = self.start_server("edge1")
        until(lambda: self.reaches("edge1"), 20, "a server that is back gets sessions")

        left = self.at("edge1", "edge3")
        self.assertEqual({load.finish() for load in left}, {CLEAN})
        self.assertTrue(all(load.whole for load in self.loads), "an answer was not what was asked")
        self.assertEqual(sum(load.end == RESET for load in self.loads), len(lost))

    def test_kill_one_and_drain_another_under_load(self):
        self.kill_and_drain()
        self.assert_logs_of_servers()

    def test_kill_one_and_drain_another_with_sessions_kept_ready(self):
        self.kill_and_drain("pool = 6")

    def assert_logs_of_servers(self):
        """They have the clients' own address from HAProxy, whose checks leave no trace."""
        for daemon in self.servers.values():
            strangers = daemon.log_lines("no session")
            self.assertEqual([line for line in strangers if f": {CLIENT}:" not in line], [])
            for line in daemon.wait_for_log("service .*: ended;", 15):
                self.assertIn(f": {CLIENT}:", line)


class Replays(case.SystemTest):
    def test_a_replay_at_another_server_is_answered_and_opens_nothing(self):
        """Each process remembers replays for itself: config/guides/scaling.md says what that means."""
        backend = self.backend()
        tunnel = self.tunnel(TCP, backend.target, relay=True, server=["handshake-timeout = 1s"])
        flight = []
        tunnel.relay.on_link = lambda link: link.up.edit_piece(
            lambda piece: flight.append(piece) or piece)
        application, service = tunnel.open(backend)

        port = free_port()
        file = tunnel.folder / "another.conf"
        file.write_text((tunnel.folder / "server.conf").read_text().replace(
            f":{tunnel.server_port}\n", f":{port}\n"))
        self.start_daemon(file, "another", [port])
        with socket.create_connection(("127.0.0.1", port), timeout=20) as replayer:
            replayer.sendall(flight[0])
            got = read_until_end(replayer)
        self.assertEqual(got.end, RESET)
        self.assertTrue(112 <= len(got.data) <= 112 + 1023, len(got.data))
        self.assertTrue(backend.untouched())
        application.sendall(b"hello")
        self.assertEqual(read_exactly(service, 5), b"hello")


class Reconnecting(case.SystemTest):
    SECTIONS = 6

    def test_pools_of_a_lost_server_come_back_at_different_moments(self):
        tunnel = self.tunnel(TCP, "127.0.0.1:9")
        relay = Relay(tunnel.server_port)
        self.addCleanup(relay.close)
        came = []
        lines = [f"[client.app{number}]\nlisten = 127.0.0.1:{free_port()}\npool = 1\n"
                 f"connect = tcp://127.0.0.1:{relay.port}\n"
                 + "\n".join(shared_keys().client_lines("psk")) for number in range(self.SECTIONS)]
        file = tunnel.folder / "pools.conf"
        file.write_text("\n".join([*lines, ""]))
        self.start_daemon(file, "pools", [])
        until(lambda: len(relay.links) == self.SECTIONS, 10, "the pools are full")
        time.sleep(6)  # from their fifth second on they are no failed attempts any more
        relay.on_link = lambda link: came.append(time.monotonic())
        for link in list(relay.links):
            link.reset()
        until(lambda: len(came) == self.SECTIONS, 10, "each has a new session")
        self.assertGreater(max(came) - min(came), 0.05, "all were back at the same moment")


if __name__ == "__main__":
    private_network.enter()
    if private_network.why_not():
        print(f"SKIPPED, nothing was tested: {private_network.why_not()}")
        sys.exit(77)
    case.main()
