"""Reload: a new configuration in a running daemon, and what it must not touch."""

import os
import signal
import socket
import subprocess
import threading
import unittest

from support import case, programs
from support.backends import echo
from support.ports import free_port, is_listening
from support.streams import (
    CLEAN, RESET, Received, connect, random_bytes, read_exactly, read_until_end,
)
from support.tunnel import BOTH_CARRIERS, TCP, TCP_STATIC, WEBSOCKET_STATIC, make_keys
from support.waiting import until

MIB = 1 << 20
ROOT = os.geteuid() == 0


class ReloadTest(case.SystemTest):
    def file_of(self, tunnel, end):
        return tunnel.folder / f"{end}.conf"

    def change(self, tunnel, end, change):
        file = self.file_of(tunnel, end)
        file.write_text(change(file.read_text()))

    def reload(self, daemon):
        """By signal. Returns the line that says how it went."""
        before = len(daemon.log_lines("reload(ed:| refused:)"))
        daemon.send_signal(signal.SIGHUP)
        until(lambda: len(daemon.log_lines("reload(ed:| refused:)")) > before, 20, "an answer")
        return daemon.log_lines("reload(ed:| refused:)")[before]

    def assert_reloads(self, daemon, summary=""):
        self.assertRegex(self.reload(daemon), f"info +reloaded: {summary}")

    def assert_refuses(self, daemon, *mistakes):
        self.assertRegex(self.reload(daemon), "error +reload refused: the daemon goes on as it was")
        for mistake in mistakes:
            self.assertTrue(daemon.log_lines(f"error +reload: .*{mistake}"), daemon.log())

    def assert_works(self, port, word=b"hello"):
        with connect(port) as application:
            application.sendall(word)
            self.assertEqual(read_exactly(application, len(word)), word)


class Running(ReloadTest):
    """Connections that are open while the configuration changes."""

    @case.for_kinds(*BOTH_CARRIERS)
    def test_two_hundred_reloads_under_twenty_transfers(self, kind):
        backend = self.backend()
        busy_port = free_port()
        new_ports = {"server": free_port(), "client": free_port()}
        with socket.create_server(("127.0.0.1", busy_port)):
            tunnel = self.tunnel(kind, backend.target, daemon=["threads = 2", "drain = 5s"],
                                 client=["pool = 2"])
            pairs = [tunnel.open(backend) for _ in range(20)]
            data = random_bytes(MIB // 8, "reload")
            stop = threading.Event()
            moved = [0] * len(pairs)
            faults = []

            def transfer(number):
                near, far = pairs[number] if number % 2 else reversed(pairs[number])
                sender = threading.Thread(target=lambda: self.send_until(near, data, stop))
                sender.start()
                try:
                    position = 0
                    while piece := far.recv(1 << 16):
                        expected = (data + data)[position:position + len(piece)]
                        if piece != expected:
                            raise AssertionError(f"connection {number}: other bytes came")
                        position = (position + len(piece)) % len(data)
                        moved[number] += len(piece)
                except Exception as fault:  # told to the test below
                    faults.append(fault)
                sender.join()

            threads = [threading.Thread(target=transfer, args=(n,)) for n in range(len(pairs))]
            for thread in threads:
                thread.start()
            good = {end: self.file_of(tunnel, end).read_text() for end in ("server", "client")}
            extra = {
                "server": "[server.new]\nlisten = {}\nservice = it 127.0.0.1:1\n",
                "client": "[client.new]\nlisten = {}\nconnect = tcp://127.0.0.1:1\n",
            }
            psk = next(line for line in good["server"].splitlines() if line.startswith("psk"))

            def with_more(end, port):
                return good[end] + extra[end].format(port) + psk

            kinds = [
                (True, lambda end: good[end]),
                (True, lambda end: with_more(end, new_ports[end])),
                (True, lambda end: good[end] + "idle-timeout = 1h\n"),
                (False, lambda end: good[end] + "listen\n"),
                (False, lambda end: good[end].replace("edge.psk", "no-such.psk")),
                (False, lambda end: with_more(end, busy_port)),
            ]
            for daemon in (tunnel.server, tunnel.client):
                self.assert_reloads(daemon)
            until(lambda: all(moved), 20, "every connection has moved something")
            before = {end: self.appetite(getattr(tunnel, end)) for end in ("server", "client")}
            for number in range(100):
                right, text = kinds[number % len(kinds)]
                for end in ("server", "client"):
                    self.file_of(tunnel, end).write_text(text(end))
                    daemon = getattr(tunnel, end)
                    self.assert_reloads(daemon) if right else self.assert_refuses(daemon)
            for end in ("server", "client"):
                self.file_of(tunnel, end).write_text(good[end])
                self.assert_reloads(getattr(tunnel, end))
            self.assertFalse(any(is_listening(port) for port in new_ports.values()))
            stop.set()
            for thread in threads:
                thread.join()
            self.assertEqual(faults, [])
            for end in ("server", "client"):
                self.assert_no_more(getattr(tunnel, end), before[end])

    @staticmethod
    def send_until(sock, data, stop):
        while not stop.is_set():
            sock.sendall(data)
            stop.wait(0.1)  # the machine is for the reloads too
        sock.shutdown(socket.SHUT_WR)

    def appetite(self, daemon):
        return daemon.open_files(), daemon.threads(), daemon.memory()

    def assert_no_more(self, daemon, before):
        files, threads, memory = before
        # Pools and sessions that were replaced take leave.
        until(lambda: daemon.open_files() <= files, 15, f"{daemon.name} has no more than {files} "
              "open files")
        self.assertLessEqual(daemon.threads(), threads)
        self.assertLess(daemon.memory(), memory + 8 * MIB)

    def test_new_settings_count_for_new_sessions_only(self):
        first = self.service(lambda c: (c.recv(1), c.sendall(b"first")))
        second = self.service(lambda c: (c.recv(1), c.sendall(b"second")))
        tunnel = self.tunnel(TCP, first.target)
        old = tunnel.connect()
        until(lambda: first.connections == 1, 10, "a session of the old settings")
        self.change(tunnel, "server", lambda text: text.replace(first.target, second.target))
        self.assert_reloads(tunnel.server, "0 sections as they were, 1 changed, 0 new, 0 gone")
        self.assertEqual(tunnel.outcome(b"x"), Received(b"second", CLEAN))
        old.sendall(b"x")
        self.assertEqual(read_until_end(old), Received(b"first", CLEAN))

    def test_a_removed_service_closes_only_its_own_listener(self):
        backend = self.backend()
        tunnel = self.tunnel(TCP, backend.target)
        other = free_port()
        server = self.file_of(tunnel, "server").read_text()
        section = server[server.index("[server.edge]"):]
        second = section.replace("server.edge", "server.other").replace(
            str(tunnel.server_port), str(other))
        self.change(tunnel, "server", lambda text: text + second)
        self.assert_reloads(tunnel.server, "1 sections as they were, 0 changed, 1 new, 0 gone")
        self.assertTrue(is_listening(other))
        self.change(tunnel, "client", lambda text: text + text[text.index("[client.app]"):].replace(
            "client.app", "client.other").replace(str(tunnel.client_port), str(free_port()))
            .replace(str(tunnel.server_port), str(other)))
        self.assert_reloads(tunnel.client)
        text = self.file_of(tunnel, "client").read_text()
        port = int(text[text.index("[client.other]"):].split("listen = 127.0.0.1:")[1].split()[0])
        application = connect(port)
        self.addCleanup(application.close)
        service = backend.accept()
        self.addCleanup(service.close)

        self.file_of(tunnel, "server").write_text(server)
        self.assert_reloads(tunnel.server, "1 sections as they were, 0 changed, 0 new, 1 gone")
        self.assertFalse(is_listening(other))
        self.assertTrue(is_listening(tunnel.server_port))
        near, far = tunnel.open(backend)
        near.sendall(b"the other section")
        self.assertEqual(read_exactly(far, 17), b"the other section")
        application.sendall(b"the removed one")
        self.assertEqual(read_exactly(service, 15), b"the removed one")
        service.sendall(b"good bye")
        service.close()
        self.assertEqual(read_until_end(application), Received(b"good bye", CLEAN))

    def test_a_place_that_another_section_gets_stays_open(self):
        first = self.service(lambda c: c.sendall(b"first"))
        tunnel = self.tunnel(TCP, first.target)
        self.change(tunnel, "server", lambda text: text.replace("server.edge", "server.renamed"))
        self.assert_reloads(tunnel.server, "0 sections as they were, 0 changed, 1 new, 1 gone")
        self.assertEqual(tunnel.server.log_lines("listening"),
                         tunnel.server.log_lines("server.edge: listening"))
        self.assertEqual(tunnel.outcome(), Received(b"first", CLEAN))
        # The same address by another text.
        self.change(tunnel, "server", lambda text: text.replace("listen = 127.0.0.1",
                                                                "listen = localhost"))
        self.assert_reloads(tunnel.server)
        self.assertEqual(tunnel.outcome(), Received(b"first", CLEAN))


class Mistakes(ReloadTest):
    def test_a_wrong_file_changes_nothing_and_says_where(self):
        tunnel = self.tunnel(TCP, self.service(echo).target)
        file = self.file_of(tunnel, "server")
        good = file.read_text()
        port = free_port()
        more = f"[server.more]\nlisten = {port}\nservice = x 127.0.0.1:1\n"
        line = len(good.splitlines()) + 1
        for wrong, mistake in {
            good + "lisen = 1\n": f"server.conf:{line}: unknown key 'lisen', did you mean 'listen'",
            good + more: f"server.conf:{line}: no key: ",
            good.replace("psk =", "psk = /no/such"): "server.conf:.*: psk: /no/such.*No such file",
            "": "server.conf: ",
        }.items():
            with self.subTest(mistake):
                file.write_text(wrong) if wrong else file.unlink()
                self.assert_refuses(tunnel.server, mistake)
                self.assertFalse(is_listening(port))
                self.assert_works(tunnel.client_port)
        file.write_text(good)
        self.assert_reloads(tunnel.server, "1 sections as they were")

    def test_a_place_that_is_taken(self):
        tunnel = self.tunnel(TCP, self.service(echo).target)
        good = self.file_of(tunnel, "client").read_text()
        section = good[good.index("[client.app]"):].replace("client.app", "client.{}")
        free, taken = free_port(), free_port()
        with socket.create_server(("127.0.0.1", taken)):
            self.change(tunnel, "client", lambda text: text + "".join(
                section.format(name).replace(str(tunnel.client_port), str(port))
                for name, port in {"free": free, "taken": taken}.items()))
            self.assert_refuses(tunnel.client, f"client.taken: cannot listen on 127.0.0.1:{taken}: "
                                "Address already in use: another process, or another section")
            self.assertFalse(is_listening(free))
        self.assert_reloads(tunnel.client, "1 sections as they were, 0 changed, 2 new, 0 gone")
        self.assert_works(free)
        self.assert_works(taken)

    def test_what_counts_from_the_next_start_on(self):
        tunnel = self.tunnel(TCP, self.service(echo).target)
        self.change(tunnel, "server", lambda text: text.replace("[daemon]",
                                                                "[daemon]\nthreads = 3"))
        self.assert_reloads(tunnel.server)
        self.assertTrue(tunnel.server.log_lines("warning +reload: threads in .daemon. counts"))

    def test_a_strict_sandbox_leaves_nothing_to_reload_with(self):
        tunnel = self.tunnel(TCP, self.service(echo).target, daemon=["sandbox = strict"])
        self.assert_refuses(tunnel.server, "sandbox = strict leaves nothing to read files with: "
                            "culvert run --replace FILE")
        self.assert_works(tunnel.client_port)

    @unittest.skipUnless(ROOT, "only root may start a daemon that becomes another user")
    def test_what_the_dropped_rights_forbid(self):
        tunnel = self.tunnel(TCP, self.service(echo).target, daemon=["user = nobody"])
        tunnel.folder.chmod(0o755)
        good = self.file_of(tunnel, "server").read_text()
        self.assert_refuses(tunnel.server, "server.conf:.*edge.psk: Permission denied",
                            "the daemon has given up root's rights")
        keys = make_keys()
        keys.folder.chmod(0o755)
        for name, mode, group in (("edge.psk", 0o640, "nogroup"),):
            os.chmod(keys.folder / name, mode)
            subprocess.run(["chgrp", group, keys.folder / name], check=True)
        # A folder that the daemon did not know when it closed itself in.
        self.file_of(tunnel, "server").write_text(
            good.replace(good.split("psk = ")[1].split()[0], str(keys.folder / "edge.psk")))
        self.assert_refuses(tunnel.server, ".*edge.psk: Permission denied",
                            "the daemon has given up root's rights")
        self.assert_works(tunnel.client_port)

    @unittest.skipUnless(ROOT, "only root may start a daemon that becomes another user")
    def test_keys_of_the_daemons_group_and_a_low_port(self):
        keys = make_keys()
        keys.folder.chmod(0o755)
        os.chmod(keys.folder / "edge.psk", 0o640)
        subprocess.run(["chgrp", "nogroup", keys.folder / "edge.psk"], check=True)
        service = self.service(echo)
        tunnel = self.tunnel(TCP, service.target, daemon=["user = nobody"], server_keys=keys,
                             client_keys=keys)
        tunnel.folder.chmod(0o755)
        self.change(tunnel, "server", lambda text: text + "idle-timeout = 1h\n")
        self.assert_reloads(tunnel.server, "0 sections as they were, 1 changed")
        self.assert_works(tunnel.client_port)
        low = next(port for port in range(700, 1000) if not is_listening(port))
        self.change(tunnel, "server", lambda text: text.replace(str(tunnel.server_port), str(low)))
        self.assert_refuses(tunnel.server, f"server.edge: cannot listen on 127.0.0.1:{low}: "
                            "Permission denied: ports below 1024 are for root")
        self.assert_works(tunnel.client_port)


class Keys(ReloadTest):
    def test_a_new_secret(self):
        tunnel = self.tunnel(TCP, self.service(echo).target, server_keys=(keys := make_keys()),
                             client_keys=keys)
        self.assert_works(tunnel.client_port)
        fresh = make_keys()
        (keys.folder / "edge.psk").write_text((fresh.folder / "edge.psk").read_text())
        self.assert_reloads(tunnel.server, "0 sections as they were, 1 changed")
        with connect(tunnel.client_port) as refused:
            with self.assertRaises(ConnectionResetError):
                refused.recv(1)
        self.assert_reloads(tunnel.client, "0 sections as they were, 1 changed")
        self.assert_works(tunnel.client_port)


class RemovedClients(ReloadTest):
    def tunnel_of_two(self, kind, target, *server):
        """The client's key is listed, and another one."""
        keys = make_keys()
        other = make_keys()
        listed = (keys.folder / "clients.pub").read_text()
        (keys.folder / "clients.pub").write_text(
            listed + (other.folder / "clients.pub").read_text().replace("alice", "bob"))
        tunnel = self.tunnel(kind, target, server_keys=keys, client_keys=keys, server=server)
        return tunnel, keys.folder / "clients.pub"

    @case.for_kinds(TCP_STATIC, WEBSOCKET_STATIC)
    def test_they_open_nothing_any_more(self, kind):
        backend = self.backend()
        tunnel, listed = self.tunnel_of_two(kind, backend.target)
        near, far = tunnel.open(backend)
        both = listed.read_text()
        listed.write_text("".join(line for line in both.splitlines(True) if "alice" not in line))
        self.assert_reloads(tunnel.server, "0 sections as they were, 1 changed")
        self.assertEqual(tunnel.outcome(), Received(b"", RESET))
        near.sendall(b"what runs goes on")
        self.assertEqual(read_exactly(far, 17), b"what runs goes on")
        listed.write_text(both)
        self.assert_reloads(tunnel.server)
        near, far = tunnel.open(backend)
        near.sendall(b"listed again")
        self.assertEqual(read_exactly(far, 12), b"listed again")

    @case.for_kinds(TCP_STATIC, WEBSOCKET_STATIC)
    def test_kicked(self, kind):
        backend = self.backend()
        tunnel, listed = self.tunnel_of_two(kind, backend.target, "kick-removed = yes")
        near, far = tunnel.open(backend)
        self.change(tunnel, "server", lambda text: text + "idle-timeout = 1h\n")
        self.assert_reloads(tunnel.server, "0 sections as they were, 1 changed")
        near.sendall(b"he is listed")
        self.assertEqual(read_exactly(far, 12), b"he is listed")
        listed.write_text("".join(line for line in listed.read_text().splitlines(True)
                                  if "alice" not in line))
        self.assert_reloads(tunnel.server, "0 sections as they were, 1 changed")
        self.assertEqual(read_until_end(near), Received(b"", RESET))
        self.assertEqual(read_until_end(far), Received(b"", RESET))
        tunnel.server.wait_for_log("client alice .*the client was removed from the list")


class Command(ReloadTest):
    """`culvert reload FILE`."""

    def run_reload(self, file):
        return subprocess.run([programs.culvert(), "reload", file], text=True, capture_output=True,
                              timeout=60, check=False)

    def tunnel_with_control(self):
        """Its client end has a control socket. The tunnel, and the client's file."""
        tunnel = self.tunnel(TCP, self.service(echo).target)
        tunnel.replace_client(lambda text: text.replace("[daemon]",
                                                        "[daemon]\ncontrol = unix:control"))
        return tunnel, tunnel.folder / "client-1.conf"

    def test_it_says_how_it_went(self):
        tunnel, file = self.tunnel_with_control()
        done = self.run_reload(file)
        self.assertEqual((done.returncode, done.stderr),
                         (0, "reloaded: 1 sections as they were, 0 changed, 0 new, 0 gone\n"))
        file.write_text(file.read_text() + "nonsense\n")
        done = self.run_reload(file)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"client-1.conf:\d+: 'nonsense' has no '='")
        self.assertEqual(tunnel.client.log_lines("refused"), [])  # it was not even asked

    def test_what_only_the_daemon_finds_out(self):
        tunnel, file = self.tunnel_with_control()
        taken = free_port()
        with socket.create_server(("127.0.0.1", taken)):
            file.write_text(file.read_text().replace(str(tunnel.client_port), str(taken)))
            done = self.run_reload(file)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, f"client.app: cannot listen on 127.0.0.1:{taken}: .*in use.*\n"
                         "reload refused: the daemon goes on as it was\n")
        self.assert_works(tunnel.client_port)

    def test_no_daemon_to_ask(self):
        tunnel, file = self.tunnel_with_control()
        tunnel.client.stop()
        self.assertFalse((tunnel.folder / "control").exists())
        done = self.run_reload(file)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"no daemon at unix:{tunnel.folder}/control: No such file", done.stderr)
        done = self.run_reload(self.file_of(tunnel, "client"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("has no control = unix:PATH in [daemon]", done.stderr)

    @unittest.skipUnless(ROOT, "only root may ask as somebody else")
    def test_others_may_not_ask(self):
        tunnel, _ = self.tunnel_with_control()
        self.assertEqual((tunnel.folder / "control").stat().st_mode & 0o077, 0)
        tunnel.folder.chmod(0o755)
        os.chmod(tunnel.folder / "control", 0o666)  # somebody may be careless
        ask = ("import socket; s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)\n"
               f"s.connect('{tunnel.folder}/control'); s.settimeout(10)\n"
               "try: s.send(b'reload'); print(s.recv(100))\n"
               "except ConnectionError: print('refused')")
        done = subprocess.run(["/usr/bin/python3", "-c", ask], user="nobody", text=True,
                              capture_output=True, check=False, timeout=30)
        self.assertIn(done.stdout.strip(), ("b''", "refused"), done.stderr)
        self.assertEqual(tunnel.client.log_lines("reloaded"), [])
        tunnel.client.wait_for_log("control: refused: commands are for")


if __name__ == "__main__":
    case.main()
