"""The log for machines, and the log for the journal: what stands in a line, and that it is one."""

import datetime
import json
import os
import re
import socket

from support import case
from support.backends import echo
from support.ports import free_port
from support.streams import CLEAN, RESET, connect, read_exactly, read_until_end, reset
from support.tunnel import BOTH_CARRIERS, TCP, TCP_STATIC, WEBSOCKET_STATIC
from support.waiting import until

JSON = "log-format = json"
LEVELS = {"error", "warning", "info", "debug"}
SESSION = {"section", "peer", "client", "service", "carrier", "bytes_to_tunnel",
           "bytes_from_tunnel", "duration_s", "reason", "detail", "failed"}


def parsed(daemon):
    """Every line of the log, as an object."""
    return [json.loads(line) for line in daemon.log().splitlines()]


def sessions(daemon):
    return [line for line in parsed(daemon) if "reason" in line]


class JsonLog(case.SystemTest):
    def exchange(self, tunnel, word=b"hello"):
        with tunnel.connect() as application:
            application.sendall(word)
            self.assertEqual(read_exactly(application, len(word)), word)
            application.shutdown(socket.SHUT_WR)
            self.assertEqual(read_until_end(application).end, CLEAN)

    def wait_for_sessions(self, daemon, count):
        until(lambda: len(sessions(daemon)) >= count, 10, f"{count} lines of sessions")
        found = sessions(daemon)
        self.assertEqual(len(found), count)
        return found

    @case.for_kinds(*BOTH_CARRIERS, TCP_STATIC, WEBSOCKET_STATIC)
    def test_one_line_a_session(self, kind):
        tunnel = self.tunnel(kind, self.service(echo).target, daemon=[JSON, "log-level = debug"])
        for size in (1, 20_000, 300_000):
            self.exchange(tunnel, bytes(size))
        for daemon, section in ((tunnel.server, "server.edge"), (tunnel.client, "client.app")):
            found = self.wait_for_sessions(daemon, 3)
            self.assertEqual([one["bytes_to_tunnel"] for one in found], [1, 20_000, 300_000])
            self.assertEqual([one["bytes_from_tunnel"] for one in found], [1, 20_000, 300_000])
            for one in found:
                self.assertEqual(set(one), SESSION | {"time", "level", "message"})
                self.assertEqual((one["section"], one["reason"], one["detail"], one["failed"],
                                  one["level"], one["carrier"], one["service"]),
                                 (section, "clean", "ended", False, "info", kind.carrier, "it"))
                named = kind.keys == "static" and section == "server.edge"
                self.assertEqual(one["client"], "alice" if named else "")
                self.assertRegex(one["peer"], r"\A127\.0\.0\.1:\d+\Z")
                self.assertLess(one["duration_s"], 60)
                self.assertIn(f"{section}: {one['peer']}", one["message"])
        for daemon in (tunnel.server, tunnel.client):
            daemon.stop()
            for line in parsed(daemon):
                self.assertIn(line["level"], LEVELS)
                when = datetime.datetime.fromisoformat(line["time"])
                self.assertIsNotNone(when.tzinfo)
                self.assertIsInstance(line["message"], str)

    def test_reasons(self):
        tunnel = self.tunnel(TCP, self.service(echo).target, daemon=[JSON],
                             server=[f"service = down 127.0.0.1:{free_port()}"])
        self.exchange(tunnel)
        application = tunnel.connect()
        application.sendall(b"hello")
        read_exactly(application, 5)
        reset(application)
        self.assertEqual([one["reason"] for one in self.wait_for_sessions(tunnel.client, 2)],
                         ["clean", "application_reset"])
        self.assertEqual([(one["reason"], one["failed"], one["level"])
                          for one in self.wait_for_sessions(tunnel.server, 2)],
                         [("clean", False, "info"), ("alerted", True, "warning")])
        tunnel.replace_client(lambda text: text.replace("service = it", "service = down"))
        self.assertEqual(tunnel.outcome().end, RESET)
        failed = self.wait_for_sessions(tunnel.server, 3)[2]
        self.assertEqual((failed["reason"], failed["service"]), ("backend_unreachable", "down"))
        self.assertIn("Connection refused", failed["detail"])
        tunnel.server.stop()
        self.assertEqual(tunnel.outcome().end, RESET)
        reasons = [one["reason"] for one in self.wait_for_sessions(tunnel.client, 2)]
        self.assertEqual(reasons, ["alerted", "connect_failed"])

    def test_quotes_and_foreign_letters(self):
        nowhere = str(self.make_folder() / 'quo"te \\ b\u00e4ck.sock').replace(" ", "")
        tunnel = self.tunnel(TCP, f"unix:{nowhere}", daemon=[JSON])
        self.assertEqual(tunnel.outcome().end, RESET)
        one, = self.wait_for_sessions(tunnel.server, 1)
        self.assertEqual(one["reason"], "backend_unreachable")
        self.assertIn(f"unix:{nowhere}: ", one["detail"])
        self.assertIn(f"unix:{nowhere}: ", one["message"])

    def test_limits_hold(self):
        tunnel = self.tunnel(TCP, self.service(echo).target, daemon=[JSON, "log-level = debug"])
        rude = b"GET /\x1b[2J\x9b31m\\\"\r\nX: \x00\xff\xc2\x85\xe2\x80\xae\r\n\r\n" * 40
        for i in range(300):
            with connect(tunnel.server_port) as stranger:
                stranger.sendall(rude[i % 60 :])
        self.exchange(tunnel)
        lines = parsed(tunnel.server)
        self.assertTrue(any("no session" in line["message"] for line in lines))
        self.assertLess(len(lines), 100)

    def test_a_mistake_of_the_configuration_is_told_in_text(self):
        folder = self.make_folder()
        (folder / "bad.conf").write_text("[daemon]\nlog-format = xml\n[client.a]\nlisten = 1\n")
        daemon = self.start_daemon(folder / "bad.conf", "bad", [])
        self.assertEqual(daemon.wait(), 2)
        self.assertIn("bad.conf:2: log-format: unknown value 'xml'", daemon.log())


class Journal(case.SystemTest):
    """As systemd starts it: stderr is a socket, and the environment says which."""

    def started(self, *lines, told=True):
        ours, theirs = socket.socketpair()
        self.addCleanup(ours.close)
        about = os.fstat(theirs.fileno())
        stream = f"{about.st_dev}:{about.st_ino}" if told else f"{about.st_dev}:1"
        environment = {**os.environ, "JOURNAL_STREAM": stream}
        tunnel = self.tunnel(TCP, f"127.0.0.1:{free_port()}", daemon=lines, stderr=theirs,
                             env=environment)
        theirs.close()
        self.assertEqual(tunnel.outcome().end, RESET)
        for daemon in (tunnel.client, tunnel.server):
            daemon.stop()
        content = bytearray()
        ours.settimeout(10)
        while piece := ours.recv(1 << 16):
            content += piece
        return content.decode().splitlines()

    def test_lines_begin_with_their_level_and_have_no_time(self):
        lines = self.started("log-level = debug")
        self.assertGreater(len(lines), 6)
        for line in lines:
            self.assertRegex(line, r"\A<[3467]>[a-z]")
        self.assert_level("6", "ready: ", lines)
        self.assert_level("4", "backend unreachable", lines)
        self.assert_level("7", ": kernel ", lines)

    def assert_level(self, level, text, lines):
        found = [line for line in lines if text in line]
        self.assertTrue(found, lines)
        for line in found:
            self.assertTrue(line.startswith(f"<{level}>"), line)

    def test_json_has_the_level_too(self):
        lines = self.started(JSON)
        self.assertGreater(len(lines), 4)
        for line in lines:
            found = re.fullmatch(r"<([3467])>(\{.*\})", line)
            self.assertTrue(found, line)
            level = json.loads(found[2])["level"]
            self.assertEqual(found[1], {"error": "3", "warning": "4", "info": "6"}[level])

    def test_another_stderr_than_the_journal_gets_times(self):
        for line in self.started(told=False):
            self.assertRegex(line, r"\A\d{4}-\d\d-\d\dT\S+ (error|warning|info) ")


if __name__ == "__main__":
    case.main()
