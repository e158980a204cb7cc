"""The admin listener: what it counts, held against what a known load did, and how it takes abuse."""

import signal
import socket
import stat
import subprocess
import threading
import time

from support import case, programs
from support.admin import Admin
from support.backends import echo
from support.ports import free_port
from support.process import Daemon
from support.streams import (CLEAN, RESET, connect, random_bytes, read_exactly, read_until_end,
                             reset)
from support.tunnel import BOTH_CARRIERS, TCP, TCP_STATIC, WEBSOCKET_STATIC
from support.waiting import until

UP, DOWN = 300_001, 70_003


def swallow_and_answer(connection):
    """Reads all of it, answers with DOWN bytes, ends."""
    while connection.recv(1 << 16):
        pass
    connection.sendall(bytes(DOWN))


class AdminTest(case.SystemTest):
    def watched(self, kind, target, **options):
        """A tunnel with an admin listener at both ends."""
        ports = {"server": free_port(), "client": free_port()}
        at_server, at_client = Admin(ports["server"]), Admin(ports["client"])
        tunnel = self.tunnel(kind, target, daemon_of={
            name: [f"admin = 127.0.0.1:{port}"] for name, port in ports.items()}, **options)
        return tunnel, at_server, at_client

    def assert_exchange(self, tunnel):
        with tunnel.connect() as application:
            application.sendall(bytes(UP))
            application.shutdown(socket.SHUT_WR)
            received = read_until_end(application)
            self.assertEqual((len(received.data), received.end), (DOWN, CLEAN))


class Counts(AdminTest):
    """Every number is what a known load has done, at both ends."""

    @case.for_kinds(*BOTH_CARRIERS, TCP_STATIC, WEBSOCKET_STATIC)
    def test_sessions_bytes_and_ends(self, kind):
        sessions = 7
        down = free_port()
        tunnel, at_server, at_client = self.watched(
            kind, self.service(swallow_and_answer).target,
            daemon=["threads = 2"], server=[f"service = down 127.0.0.1:{down}"])
        for _ in range(sessions):
            self.assert_exchange(tunnel)
        for at, get in ((at_server, at_server.server), (at_client, at_client.client)):
            until(lambda get=get: get()["sessions"] == 0, 10, "no session is left")
            self.assertEqual(at.metrics().check(), "")

        server, status = at_server.server(), at_server.status()
        self.assertEqual(server["sessions_total"], sessions)
        self.assertEqual(server["connections_total"], sessions)
        self.assertEqual(server["bytes_from_clients"], sessions * UP)
        self.assertEqual(server["bytes_to_clients"], sessions * DOWN)
        self.assertEqual(server["handshake"]["count"], sessions)
        self.assertEqual((server["strangers"], server["handshakes_failed_total"]), (0, 0))
        it, other = server["services"]
        self.assertEqual((it["name"], it["sessions"], it["sessions_total"]), ("it", 0, sessions))
        self.assertEqual((it["bytes_from_clients"], it["bytes_to_clients"]),
                         (sessions * UP, sessions * DOWN))
        self.assertEqual((other["name"], other["sessions_total"], other["targets"]),
                         ("down", 0, [f"127.0.0.1:{down}"]))
        self.assertEqual(status["ends"], [{"section": "server.edge", "reason": "clean",
                                           "failed": False, "count": sessions}])
        named = [] if kind.keys == "psk" else [
            {"server": "edge", "name": "alice", "sessions": 0, "sessions_total": sessions,
             "bytes_from_clients": sessions * UP, "bytes_to_clients": sessions * DOWN}]
        self.assertEqual(status["users"], named)
        self.assertEqual(status["replay_cache_entries"], sessions)

        client = at_client.client()
        self.assertEqual(client["sessions_total"], sessions)
        self.assertEqual(client["bytes_to_server"], sessions * UP)
        self.assertEqual(client["bytes_from_server"], sessions * DOWN)
        self.assertEqual(client["handshake"]["count"], sessions)
        self.assertGreater(client["handshake"]["sum_s"], 0)
        self.assertEqual(client["connect"], [tunnel.server_url()])

        metrics = at_server.metrics()
        for direction, size in (("from_tunnel", UP), ("to_tunnel", DOWN)):
            for name, labels in (("culvert_bytes_total", {"service": "it"}),
                                 ("culvert_client_bytes_total", {"client": "alice"})):
                if "client" in labels and not named:
                    continue
                self.assertEqual(metrics.value(name, section="server.edge", direction=direction,
                                               **labels), sessions * size)
        self.assertEqual(metrics.value("culvert_session_ends_total", section="server.edge",
                                       reason="clean"), sessions)
        self.assertEqual(metrics.value("culvert_handshake_seconds_bucket", section="server.edge",
                                       le="+Inf"), sessions)

    def test_recent_sessions_tell_who_and_why(self):
        tunnel, at_server, at_client = self.watched(TCP_STATIC,
                                                    self.service(swallow_and_answer).target)
        self.assert_exchange(tunnel)
        ended, = until(lambda: at_server.status()["recent"], 10, "the session has ended")
        self.assertEqual(
            {key: ended[key] for key in ("section", "client", "service", "carrier", "reason",
                                         "detail", "failed", "bytes_to_tunnel",
                                         "bytes_from_tunnel")},
            {"section": "server.edge", "client": "alice", "service": "it", "carrier": "tcp",
             "reason": "clean", "detail": "ended", "failed": False, "bytes_to_tunnel": DOWN,
             "bytes_from_tunnel": UP})
        self.assertRegex(ended["peer"], r"\A127\.0\.0\.1:\d+\Z")
        self.assertLess(abs(ended["time"] - time.time()), 30)
        for _ in range(60):
            self.assert_exchange(tunnel)
        until(lambda: at_client.client()["sessions"] == 0, 10, "no session is left")
        recent = at_client.status()["recent"]
        self.assertEqual(len(recent), 50)
        times = [one["time"] for one in recent]
        self.assertEqual(times, sorted(times, reverse=True))

    def test_bytes_and_sessions_of_running_sessions(self):
        backend = self.backend()
        tunnel, at_server, at_client = self.watched(TCP, backend.target, daemon=["threads = 2"])
        open_ones = [tunnel.open(backend) for _ in range(3)]
        up = down = 0
        for size in (1, 1_000, 200_000):
            for application, service in open_ones:
                application.sendall(bytes(size))
                read_exactly(service, size)
                service.sendall(bytes(2 * size))
                read_exactly(application, 2 * size)
                up, down = up + size, down + 2 * size

            # Whoever has read them may be faster than whoever counts them.
            def counted():
                server, client = at_server.server(), at_client.client()
                return (server["bytes_from_clients"], client["bytes_to_server"],
                        server["bytes_to_clients"], client["bytes_from_server"]) == \
                    (up, up, down, down)

            until(counted, 10, "the bytes are counted while the sessions run")
        self.assertEqual(at_server.server()["sessions"], 3)
        self.assertEqual(at_client.client()["sessions"], 3)
        self.assertEqual(at_server.status()["ends"], [])
        for application, _ in open_ones:
            reset(application)
        for at, section, reason in ((at_client, "client.app", "application_reset"),
                                    (at_server, "server.edge", "alerted")):
            until(lambda at=at: at.status()["ends"], 10, "the sessions have ended")
            until(lambda at=at, section=section, reason=reason:
                  at.status()["ends"] == [{"section": section, "reason": reason, "failed": True,
                                           "count": 3}], 10, f"three have ended by {reason}")

    def test_failures_by_reason(self):
        tunnel, _, at_client = self.watched(TCP, f"127.0.0.1:{free_port()}")
        self.assertEqual(tunnel.outcome().end, RESET)
        until(lambda: at_client.client()["sessions"] == 0, 10, "the session is gone")
        tunnel.server.stop()
        self.assertEqual(tunnel.outcome().end, RESET)
        metrics = self.eventually(at_client, "culvert_session_ends_total", 1, section="client.app",
                                  reason="connect_failed")
        self.assertEqual(metrics.value("culvert_session_ends_total", section="client.app",
                                       reason="alerted"), 1)

    def test_a_service_that_is_down(self):
        tunnel, at_server, _ = self.watched(TCP, f"127.0.0.1:{free_port()}")
        for _ in range(3):
            self.assertEqual(tunnel.outcome().end, RESET)
        self.eventually(at_server, "culvert_session_ends_total", 3, section="server.edge",
                        reason="backend_unreachable")
        self.assertEqual(at_server.server()["services"][0]["sessions_total"], 3)

    def test_a_service_that_nobody_offers_gets_no_series_of_its_own(self):
        tunnel, at_server, _ = self.watched(TCP, self.service(echo).target,
                                            service="made.up")
        self.assertEqual(tunnel.outcome().end, RESET)
        self.eventually(at_server, "culvert_session_ends_total", 1, section="server.edge",
                        reason="refused")
        self.assertNotIn("made.up", at_server.metrics().text)
        self.assertEqual(at_server.server()["sessions_total"], 1)

    def eventually(self, at, name, value, **labels):
        def reached():
            metrics = at.metrics()
            return metrics if metrics.value(name, **labels) == value else None

        return until(reached, 10, f"{name} {labels} is {value}")

    def test_strangers_by_kind(self):
        tunnel, at_server, _ = self.watched(TCP, self.service(echo).target)
        silent = [connect(tunnel.server_port) for _ in range(4)]
        until(lambda: at_server.server()["strangers"] == 4, 10, "strangers are counted")
        for one in silent:
            one.close()
        with connect(tunnel.server_port) as rude:
            rude.sendall(random_bytes(3_000, 1))
            until(lambda: at_server.server()["strangers"] == 1, 10, "one is left")
        server = until(lambda: (now := at_server.server())["strangers"] == 0 and now, 10,
                       "all strangers are gone")
        self.assertEqual(server["handshakes_failed"], [{"reason": "incomplete", "count": 4},
                                                       {"reason": "wrong_key", "count": 1}])
        self.assertEqual(server["handshakes_failed_total"], 5)
        self.assertEqual((server["sessions_total"], server["handshake"]["count"]), (0, 0))

    def test_strangers_that_are_too_many(self):
        tunnel, at_server, _ = self.watched(TCP, self.service(echo).target,
                                            server=["max-unproven = 2"])
        for _ in range(5):
            self.addCleanup(connect(tunnel.server_port).close)
        server = until(lambda: (now := at_server.server())["strangers"] == 2 and now, 15,
                       "those over the cap are gone")
        self.assertEqual(server["strangers_evicted_total"], 3)
        self.assertEqual(server["handshakes_failed"], [{"reason": "evicted", "count": 3}])

    def test_accepting_that_is_put_off(self):
        tunnel, at_server, _ = self.watched(TCP, self.service(echo).target, confined=True,
                                            prefix=["prlimit", "--nofile=60"])
        held = [connect(tunnel.server_port) for _ in range(40)]
        until(lambda: at_server.server()["accept_errors_total"] > 0, 15, "accepting is put off")
        for one in held:
            one.close()
        until(lambda: at_server.server()["connections_total"] == 40, 15, "all were taken")

    def test_refused_connections(self):
        backend = self.backend()
        tunnel, _, at_client = self.watched(TCP, backend.target, client=["max-connections = 1"])
        tunnel.open(backend)
        for _ in range(2):
            self.assertEqual(tunnel.outcome().end, RESET)
        self.eventually(at_client, "culvert_session_ends_total", 2, section="client.app",
                        reason="too_many")
        self.assertEqual(at_client.client()["sessions_total"], 1)

    def test_the_pool(self):
        tunnel, at_server, at_client = self.watched(TCP, self.service(echo).target,
                                                    client=["pool = 3"])
        until(lambda: at_client.client()["pool_ready"] == 3, 15, "the pool is full")
        until(lambda: at_server.server()["waiting"] == 3, 15, "the server counts them")
        self.assertEqual(at_client.client()["pool_size"], 3)
        with tunnel.connect() as application:
            application.sendall(b"hello")
            self.assertEqual(read_exactly(application, 5), b"hello")
        until(lambda: at_client.client()["pool_ready"] == 3, 15, "the pool is full again")
        self.assertEqual(at_client.client()["bytes_to_server"], 5)
        tunnel.server.stop()
        until(lambda: at_client.client()["pool_ready"] == 0, 15, "the pool is empty")
        until(lambda: at_client.client()["pool_failures_total"] > 0, 15, "a dial has failed")

    def test_the_process(self):
        tunnel, at_server, _ = self.watched(TCP, self.service(echo).target, confined=True)
        before = at_server.status()["process"]["open_fds"]
        held = [tunnel.connect() for _ in range(5)]
        for one in held:
            one.sendall(b"x")
            read_exactly(one, 1)
        status = at_server.status()
        self.assertEqual(status["process"]["open_fds"], before + 2 * len(held))
        self.assertEqual(status["pid"], tunnel.server.pid)
        self.assertGreater(status["process"]["resident_bytes"], 1 << 20)
        self.assertGreater(status["process"]["virtual_bytes"],
                           status["process"]["resident_bytes"])
        self.assertGreater(status["process"]["cpu_s"], 0)
        self.assertIn("chacha20poly1305", [one["primitive"] for one in status["kernels"]])
        self.assertEqual(status["protocol"], "culvert/1")
        version = subprocess.run([programs.culvert(), "version"], capture_output=True, text=True,
                                 check=True).stdout
        self.assertIn(f"culvert {status['version']} ", version)


class Changes(AdminTest):
    """A reload, and another daemon in the place of the first."""

    def serving(self, *lines):
        """A tunnel; the server's admin listener; the server's file."""
        port = free_port()
        tunnel = self.tunnel(TCP, self.service(swallow_and_answer).target, daemon_of={
            "server": [f"admin = 127.0.0.1:{port}", *lines], "client": []})
        return tunnel, Admin(port), tunnel.folder / "server.conf"

    def test_a_reload_keeps_the_numbers(self):
        tunnel, at, file = self.serving()
        self.assert_exchange(tunnel)
        more = free_port()
        whole = file.read_text()
        file.write_text(f"{whole}service = more 127.0.0.1:{more}\n"
                        + whole[whole.index("[server.edge]"):].replace("edge]", "new]").replace(
                            f":{tunnel.server_port}", f":{free_port()}"))
        tunnel.server.send_signal(signal.SIGHUP)
        until(lambda: len(at.status()["servers"]) == 2, 10, "the new section is there")
        edge, new = at.status()["servers"]
        self.assertEqual((edge["name"], edge["sessions_total"]), ("edge", 1))
        self.assertEqual([one["name"] for one in edge["services"]], ["it", "more"])
        self.assertEqual((new["name"], new["sessions_total"]), ("new", 0))
        self.assert_exchange(tunnel)
        until(lambda: at.server()["bytes_to_clients"] == 2 * DOWN, 10, "the bytes are added")
        file.write_text(whole + "servise = typo 127.0.0.1:1\n")
        tunnel.server.send_signal(signal.SIGHUP)
        tunnel.server.wait_for_log("reload refused")
        self.assertEqual(len(at.status()["servers"]), 2)
        file.write_text(whole)
        tunnel.server.send_signal(signal.SIGHUP)
        until(lambda: len(at.status()["servers"]) == 1, 10, "the section that is gone is left out")
        self.assertEqual(at.server()["sessions_total"], 2)
        self.assertEqual(at.metrics().check(), "")

    def test_a_successor_answers_in_its_place(self):
        folder = self.make_folder()
        tunnel, at, file = self.serving(f"control = unix:{folder}/control")
        self.assertEqual(at.status()["pid"], tunnel.server.pid)
        successor = Daemon([programs.culvert(), "run", "--replace", file], folder, "successor")
        self.addCleanup(self._stop, successor)
        # Nobody is refused meanwhile.
        until(lambda: at.status()["pid"] == successor.pid, 20, "the successor answers")
        self.assertEqual(tunnel.server.wait(), 0)
        for _ in range(20):
            self.assertEqual(at.get("/readyz"), b"ready\n")
        self.assert_exchange(tunnel)
        until(lambda: at.server()["sessions_total"] == 1, 10, "the successor counts")


class Paths(AdminTest):
    def alone(self, *lines, where=None):
        """A daemon whose admin listener stands at a port, or at `where`."""
        port = free_port()
        place = where or f"127.0.0.1:{port}"
        tunnel = self.tunnel(TCP, self.service(echo).target,
                             daemon_of={"server": [f"admin = {place}", *lines], "client": []})
        return tunnel, Admin(where.removeprefix("unix:") if where else port)

    def test_every_path(self):
        _, at = self.alone()
        for path, kind, body in (("/healthz", "text/plain", b"ok\n"),
                                 ("/readyz", "text/plain", b"ready\n"),
                                 ("/metrics", "text/plain; version=0.0.4", None),
                                 ("/status.json", "application/json", None),
                                 ("/status.json?x=1", "application/json", None),
                                 ("/", "text/html", None)):
            with self.subTest(path):
                got, head = at.ask(path), at.ask(path, "HEAD")
                self.assertEqual((got.status, head.status), (200, 200))
                self.assertTrue(got.headers["Content-Type"].startswith(kind), got.headers)
                self.assertEqual(got.body, body or got.body)
                self.assertGreater(len(got.body), 0)
                self.assertEqual(head.body, b"")
                self.assertEqual(head.headers["Content-Type"], got.headers["Content-Type"])
                self.assertGreater(int(head.headers["Content-Length"]), 0)
                for name, value in (("Cache-Control", "no-store"),
                                    ("X-Content-Type-Options", "nosniff")):
                    self.assertEqual(got.headers[name], value)
                self.assertIn("default-src 'none'", got.headers["Content-Security-Policy"])
                self.assertIsNone(got.headers["Server"])
                self.assertIsNone(got.headers["Access-Control-Allow-Origin"])
        for path in ("/nothing", "/index.html/..", "//", "/metrics/", "/../etc/passwd"):
            self.assertEqual(at.ask(path).status, 404, path)
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"):
            refused = at.ask("/metrics", method)
            self.assertEqual((refused.status, refused.headers["Allow"]), (405, "GET, HEAD"))

    def test_one_connection_carries_many_requests(self):
        _, at = self.alone()
        connection = at.connection()
        for _ in range(50):
            connection.request("GET", "/healthz")
            response = connection.getresponse()
            self.assertEqual((response.status, response.read()), (200, b"ok\n"))
            self.assertIsNotNone(connection.sock, "the connection was closed")
        connection.close()

    def test_draining_is_not_ready(self):
        backend = self.backend()
        port = free_port()
        tunnel = self.tunnel(TCP, backend.target, daemon=["drain = 60s"],
                             daemon_of={"server": [f"admin = 127.0.0.1:{port}"], "client": []})
        application, service = tunnel.open(backend)
        at = Admin(port)
        self.assertEqual(at.ask("/readyz").status, 200)
        tunnel.server.send_signal(signal.SIGTERM)
        until(lambda: at.ask("/readyz").status == 503, 10, "it is not ready")
        self.assertEqual(at.ask("/readyz").body, b"draining\n")
        self.assertEqual(at.ask("/healthz").status, 200)
        self.assertEqual((at.status()["ready"], at.status()["draining"]), (False, True))
        application.sendall(b"still here")
        read_exactly(service, 10)
        until(lambda: at.server()["bytes_from_clients"] == 10, 10, "it counts on")
        application.shutdown(socket.SHUT_WR)
        service.shutdown(socket.SHUT_WR)
        self.assertEqual(tunnel.server.wait(), 0)

    def test_a_unix_socket(self):
        path = self.make_folder() / "admin.sock"
        tunnel, at = self.alone(where=f"unix:{path}")
        self.assertEqual(at.get("/healthz"), b"ok\n")
        self.assertEqual(at.ask("/healthz", headers={"Host": "anything.example"}).status, 200)
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o660)
        tunnel.server.stop()
        self.assertFalse(path.exists(), "the socket file stayed behind")

    def test_other_hosts_only_when_told_so(self):
        port = free_port()
        file = self.make_folder() / "open.conf"
        listen = f"[client.a]\nlisten = {free_port()}\nconnect = tcp://127.0.0.1:1\npsk = a.psk\n"
        subprocess.run([programs.culvert(), "keygen", "psk", file.parent / "a.psk"], check=True,
                       capture_output=True)
        for place in ("0.0.0.0", "[::]", "192.0.2.1", "some.example"):
            file.write_text(f"[daemon]\nadmin = {place}:{port}\n{listen}")
            done = subprocess.run([programs.culvert(), "check", file], capture_output=True,
                                  text=True, check=False)
            self.assertEqual(done.returncode, 2, place)
            self.assertIn(f"{file}:2: admin: {place}:{port} may be reached from other hosts",
                          done.stdout + done.stderr)
        file.write_text(f"[daemon]\nadmin = 0.0.0.0:{port}\nadmin-open = yes\n{listen}")
        self.start_daemon(file, "open", [port])
        at = Admin(port)
        self.assertEqual(at.ask("/healthz", headers={"Host": "probe.example"}).status, 200)

    def test_a_place_that_is_taken(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", free_port()))
            taken.listen()
            port = taken.getsockname()[1]
            folder = self.make_folder()
            subprocess.run([programs.culvert(), "keygen", "psk", folder / "a.psk"], check=True,
                           capture_output=True)
            (folder / "a.conf").write_text(
                f"[daemon]\nadmin = {port}\n[client.a]\nlisten = {free_port()}\n"
                "connect = tcp://127.0.0.1:1\npsk = a.psk\n")
            daemon = self.start_daemon(folder / "a.conf", "taken", [])
            self.assertEqual(daemon.wait(), 2)
            self.assertIn(f"admin: cannot listen on 127.0.0.1:{port}", daemon.log())


class Abuse(AdminTest):
    """Whoever asks badly gets little, and neither the others nor the tunnels notice."""

    def setUp(self):
        self.port = free_port()
        self.tunnel_of_others = self.tunnel(TCP, self.service(echo).target, daemon_of={
            "server": [f"admin = 127.0.0.1:{self.port}"], "client": []})
        self.at = Admin(self.port)

    def assert_all_is_well(self):
        self.assertEqual(self.at.get("/healthz"), b"ok\n")
        with self.tunnel_of_others.connect() as application:
            application.sendall(b"hello")
            self.assertEqual(read_exactly(application, 5), b"hello")

    def say(self, request, seconds=20):
        with connect(self.port, seconds=seconds) as stranger:
            try:
                stranger.sendall(request)
            except (ConnectionResetError, BrokenPipeError):
                return b""
            return read_until_end(stranger, seconds).data

    def test_hosts(self):
        good = ("127.0.0.1", f"127.0.0.1:{self.port}", "localhost", f"LOCALHOST:{self.port}",
                "[::1]", f"[::1]:{self.port}", "10.1.2.3")
        bad = ("evil.example", f"evil.example:{self.port}", "127.0.0.1.evil.example",
               "localhost.evil.example", "evil.example#127.0.0.1", "", "[evil]", "[::1",
               "127.0.0.1:x", "user@localhost", "0x7f.1", "localhost:80:evil.example")
        for hosts, status in ((good, 200), (bad, 403)):
            for host in hosts:
                with self.subTest(host):
                    refused = self.at.ask("/status.json", headers={"Host": host})
                    self.assertEqual(refused.status, status)
                    self.assertEqual(b"servers" in refused.body, status == 200)
        self.assertTrue(self.say(b"GET / HTTP/1.1\r\n\r\n").startswith(b"HTTP/1.1 400 "))

    def test_what_is_no_http(self):
        for request in (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(100),
                        b"GET\r\n\r\n", b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
                        b"\r\n" * 100 + b"x y z\r\n\r\n", b"G\x00T / HTTP/1.1\r\n\r\n",
                        b"GET / HTTP/1.1\r\nHost localhost\r\n\r\n"):
            answer = self.say(request)
            self.assertTrue(answer.startswith(b"HTTP/1.1 400 "), (request, answer))
            self.assertIn(b"Connection: close", answer)
        self.assert_all_is_well()

    def test_huge_headers_and_bodies(self):
        huge = self.say(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 12_000 + b"\r\n\r\n")
        self.assertIn(huge[:13], (b"HTTP/1.1 431 ", b""))
        for request in (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello",
                        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked"
                        b"\r\n\r\n5\r\nhello\r\n0\r\n\r\n"):
            answer = self.say(request)
            self.assertTrue(answer.startswith(b"HTTP/1.1 400 "), answer)
            self.assertEqual(answer.count(b"HTTP/1.1"), 1, "the body was taken for a request")
        for _ in range(20):
            self.say(b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 50_000)
        self.assert_all_is_well()

    def test_slow_requests_end(self):
        began = time.monotonic()
        with connect(self.port, seconds=30) as slow:
            try:
                for byte in b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 1000:
                    slow.send(bytes([byte]))
                    time.sleep(0.05)
            except (ConnectionResetError, BrokenPipeError):
                pass
        self.assertLess(time.monotonic() - began, 20)
        self.assert_all_is_well()

    def test_many_connections(self):
        held = []
        for _ in range(200):
            held.append(connect(self.port))
            self.addCleanup(held[-1].close)
        self.assert_all_is_well()
        until(lambda: sum(1 for one in held if not self.has_ended(one)) <= 16, 10,
              "no more than the limit are open")
        self.assertLess(self.at.status()["process"]["open_fds"], 60)

    @staticmethod
    def has_ended(one):
        one.setblocking(False)
        try:
            return one.recv(1) == b""
        except BlockingIOError:
            return False
        except ConnectionResetError:
            return True

    def test_a_reader_that_does_not_read(self):
        with connect(self.port) as lazy:
            lazy.setblocking(False)
            request = b"GET /status.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
            try:
                for _ in range(20_000):
                    lazy.send(request)
            except (BlockingIOError, ConnectionError):
                pass
            self.assert_all_is_well()

    def test_asking_while_sessions_come_and_go(self):
        done = threading.Event()
        wrong = []

        def ask():
            connection = self.at.connection()
            while not done.is_set():
                for path in ("/metrics", "/status.json"):
                    connection.request("GET", path)
                    response = connection.getresponse()
                    response.read()
                    if response.status != 200:
                        wrong.append(response.status)
            connection.close()

        asking = [threading.Thread(target=ask) for _ in range(2)]
        for one in asking:
            one.start()
        try:
            for _ in range(100):
                with self.tunnel_of_others.connect() as application:
                    application.sendall(b"hello")
                    self.assertEqual(read_exactly(application, 5), b"hello")
                    application.shutdown(socket.SHUT_WR)
                    self.assertEqual(read_until_end(application).end, CLEAN)
        finally:
            done.set()
            for one in asking:
                one.join(20)
        self.assertEqual(wrong, [])
        until(lambda: self.at.server()["sessions"] == 0, 10, "all sessions have ended")
        self.assertEqual(self.at.server()["sessions_total"], 100)


if __name__ == "__main__":
    case.main()
