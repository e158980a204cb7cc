"""`culvert status` and `culvert top`: what they print, in a terminal and without one."""

import fcntl
import json
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

from support import case, programs
from support.backends import echo
from support.made_up_daemon import MadeUpDaemon
from support.ports import free_port
from support.tunnel import TCP_STATIC
from support.waiting import until

ENTER, LEAVE = b"\x1b[?1049h", b"\x1b[?1049l"


class Terminal:
    """A terminal with `culvert top` in it. Knows just enough to tell the last frame."""

    def __init__(self, *words, columns=100, rows=30, environment=()):
        self.main, self.side = pty.openpty()
        self.resize(columns, rows)
        self.before = termios.tcgetattr(self.side)
        self.output = b""
        self.process = subprocess.Popen(
            [programs.culvert(), "top", *map(str, words)], stdin=self.side, stdout=self.side,
            stderr=self.side, start_new_session=True,
            env={**os.environ, "LC_ALL": "C.UTF-8", **dict(environment)},
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.main)
        os.close(self.side)

    def resize(self, columns, rows):
        fcntl.ioctl(self.main, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, keys):
        os.write(self.main, keys)

    def read(self, seconds=0.05):
        while select.select([self.main], [], [], seconds)[0]:
            self.output += os.read(self.main, 1 << 16)
            seconds = 0
        return self.output

    def frames(self):
        """The complete ones, each as its lines."""
        return [re.split("\r+\n", re.sub(r"\x1b\[K", "", frame.decode()))
                for frame in re.findall(rb"\x1b\[H(.*?)\x1b\[J", self.read(), re.DOTALL)]

    def wait_for(self, condition, what, seconds=30):
        """Until a frame fulfils the condition; that frame."""
        seen = len(self.frames()) - 1

        def found():
            return next((frame for frame in self.frames()[max(seen, 0):] if condition(frame)), None)

        return until(found, seconds, f"{what}: {self.output[-2000:]!r}")

    def wait_for_end(self, seconds=15):
        def ended():
            self.read(0)
            return self.process.poll() is not None

        until(ended, seconds, "culvert top has ended")
        self.read(0)
        return self.process.returncode

    def attributes(self):
        return termios.tcgetattr(self.side)


class TerminalTest(case.SystemTest):
    def culvert(self, *words, status=0, **environment):
        done = subprocess.run([programs.culvert(), *map(str, words)], capture_output=True, text=True,
                              timeout=30, stdin=subprocess.DEVNULL, env={**os.environ, **environment})
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout, done.stderr

    def daemon_with_load(self, admin=None):
        """A tunnel with an admin listener at the server, one session open and one ended."""
        self.port = free_port()
        there = self.service(echo)
        tunnel = self.tunnel(TCP_STATIC, there.target,
                             daemon_of={"server": [f"admin = {admin or self.port}"]})
        for keep in (False, True):
            application = tunnel.connect()
            application.sendall(b"x" * 2048)
            got = 0
            while got < 2048:
                got += len(application.recv(4096))
            if not keep:
                application.close()
        return tunnel

    def top(self, *words, **options):
        terminal = Terminal(*words, **options)
        self.addCleanup(terminal.close)
        return terminal


class Status(TerminalTest):
    def test_a_summary_for_people(self):
        tunnel = self.daemon_with_load()
        server = tunnel.folder / "server.conf"
        until(lambda: "1 now, 2 ever, 0 failed" in self.culvert("status", server)[0], 20,
              "one session is over")
        out, complaints = self.culvert("status", server)
        self.assertEqual(complaints, "")
        self.assertRegex(out, rf"^culvert \S+ \(culvert/1\), process {tunnel.server.pid}, up .+: ready\n")
        self.assertRegex(out, r"(?m)^  streams     4\.0 KiB to the tunnel, 4\.0 KiB from it$")
        self.assertRegex(out, r"(?m)^  handshakes  2, 0 failed; half within .+s, 99 % within .+s$")
        self.assertRegex(out, r"(?m)^server\.edge +1 +2 +4\.0 KiB +4\.0 KiB +127\.0\.0\.1:\d+ tcp$")
        self.assertRegex(out, r"(?m)^  it +1 +2 +4\.0 KiB +4\.0 KiB +127\.0\.0\.1:\d+ \(default\)$")
        self.assertRegex(out, r"(?m)^alice +1 +2 +4\.0 KiB +4\.0 KiB$")

    def test_every_way_to_say_where(self):
        tunnel = self.daemon_with_load()
        for place in (tunnel.folder / "server.conf", self.port, f"127.0.0.1:{self.port}",
                      f"http://127.0.0.1:{self.port}/", f"localhost:{self.port}"):
            with self.subTest(place):
                self.assertIn("server.edge", self.culvert("status", place)[0])

    def test_over_a_unix_socket(self):
        folder = self.make_folder()
        tunnel = self.daemon_with_load(f"unix:{folder}/admin.sock")
        for place in (tunnel.folder / "server.conf", f"unix:{folder}/admin.sock"):
            self.assertIn("server.edge", self.culvert("status", place)[0])

    def test_json_is_what_the_daemon_says(self):
        tunnel = self.daemon_with_load()
        for words in (("--json", self.port), (tunnel.folder / "server.conf", "--json")):
            told = json.loads(self.culvert("status", *words)[0])
            self.assertEqual(told["pid"], tunnel.server.pid)
            self.assertEqual(told["servers"][0]["name"], "edge")

    def test_nobody_answers(self):
        for place, why in ((f"127.0.0.1:{free_port()}", "Connection refused: does the daemon run?"),
                           (f"unix:{self.make_folder()}/x.sock", "No such file or directory: does")):
            for command in ("status", "top"):
                out, complaint = self.culvert(command, place, status=1)
                self.assertEqual(out, "")
                self.assertIn(why, complaint)

    def test_somebody_else_answers(self):
        answers = {
            b"SSH-2.0-x\r\n": "something answers that is not culvert's admin listener",
            b"HTTP/1.1 404 Not Found\r\n\r\n": "it answers 'HTTP/1.1 404 Not Found'",
            b"HTTP/1.1 200 OK\r\n\r\n<html>": "what answers there is not culvert's admin listener",
            b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{}": "the answer was cut",
            b"HTTP/1.1 200 \x1b]0;x\x07\r\n\r\n{}": "not culvert's admin listener",
            b"": "something answers that is not culvert's admin listener",
        }
        for answer, why in answers.items():
            with self.subTest(answer):
                def say(connection, answer=answer):
                    connection.recv(4096)
                    connection.sendall(answer)

                other = self.service(say)
                _, complaint = self.culvert("status", other.target, status=1)
                self.assertIn(why, complaint)
                self.assertNotIn("\x1b", complaint)

    def test_silence_has_an_end(self):
        other = self.service(lambda connection: connection.recv(1 << 16) and time.sleep(8))
        began = time.monotonic()
        _, complaint = self.culvert("status", other.target, status=1)
        self.assertIn("no answer within 3 s", complaint)
        self.assertLess(time.monotonic() - began, 20)

    def test_a_daemon_that_is_not_ready(self):
        daemon = MadeUpDaemon()
        self.addCleanup(daemon.close)
        daemon.status |= {"ready": False, "draining": True}
        self.assertIn(": draining\n", self.culvert("status", daemon.url, status=1)[0])

    def test_wrong_words(self):
        file = self.make_folder() / "x.conf"
        file.write_text("[daemon]\n")
        for words, why in (((file,), "has no key 'admin'"), (("/nowhere",), "no file '/nowhere'"),
                           (("a", "b"), "takes one file or address")):
            for command in ("status", "top"):
                if command == "top" and len(words) > 1:
                    why = "see `culvert help`"
                self.assertIn(why, self.culvert(command, *words, status=2)[1])

    def test_names_steer_no_terminal(self):
        daemon = MadeUpDaemon(users=["evil\x1b]0;title\x07"])
        self.addCleanup(daemon.close)
        for command in ("status", "top"):
            out = self.culvert(command, daemon.url)[0]
            self.assertIn(r"evil\x1b]0;title\x07", out)
            self.assertNotIn("\x1b", out)


class Top(TerminalTest):
    def made_up(self, **options):
        daemon = MadeUpDaemon(**options)
        self.addCleanup(daemon.close)
        return daemon

    def test_it_shows_the_daemon_and_leaves_the_terminal_as_it_was(self):
        tunnel = self.daemon_with_load()
        terminal = self.top(tunnel.folder / "server.conf")
        frame = terminal.wait_for(lambda lines: "0 B/s to the tunnel" in "\n".join(lines), "rates")
        self.assertRegex(frame[0], rf"^culvert .* process {tunnel.server.pid}, .*: ready$")
        self.assertTrue(any(line.startswith("server.edge") for line in frame), frame)
        self.assertTrue(any(line.startswith("alice") for line in frame), frame)
        self.assertNotEqual(terminal.attributes(), terminal.before)
        terminal.type(b"q")
        self.assertEqual(terminal.wait_for_end(), 0)
        self.assertEqual(terminal.output.count(ENTER), 1)
        self.assertTrue(terminal.output.endswith(LEAVE), terminal.output[-100:])
        self.assertEqual(terminal.attributes(), terminal.before)

    def test_rates_second_by_second(self):
        daemon = self.made_up(users=["alice"], each_second=1 << 20)
        terminal = self.top(daemon.url)
        frame = terminal.wait_for(lambda lines: "1.0 MiB/s to the tunnel, 512 KiB/s from it" in
                                  "\n".join(lines), "the rate")
        self.assertTrue(any(re.match(r"alice +0 +0 +1\.0 MiB/s +512 KiB/s$", line) for line in frame), frame)
        terminal.wait_for(lambda lines: "██" in "\n".join(lines), "bars")
        daemon.start_anew()
        terminal.wait_for(lambda lines: "throughput  - to the tunnel, - from it" in lines, "a restart")
        terminal.wait_for(lambda lines: "1.0 MiB/s to the tunnel" in "\n".join(lines), "rates again")

    def test_a_daemon_that_does_not_answer_for_a_while(self):
        daemon = self.made_up()
        terminal = self.top(daemon.url)
        terminal.wait_for(lambda lines: lines[0].endswith(": ready"), "the daemon")
        daemon.broken = True
        frame = terminal.wait_for(lambda lines: lines[1].startswith("NO ANSWER: "), "trouble")
        self.assertTrue(any(line.startswith("server.edge") for line in frame), frame)
        daemon.broken = False
        terminal.wait_for(lambda lines: not lines[1].startswith("NO ANSWER"), "an answer")

    def test_it_fits_into_any_terminal(self):
        daemon = self.made_up(users=[f"client-{'long-' * 30}{i}" for i in range(60)])
        terminal = self.top(daemon.url, columns=100, rows=30)
        frame = terminal.wait_for(lambda lines: len(lines) == 30, "a full screen")
        self.assertRegex(frame[-1], r"^and \d+ more$")
        for columns, rows in ((40, 10), (200, 50), (10, 3), (1, 1)):
            terminal.resize(columns, rows)
            frame = terminal.wait_for(lambda lines: len(lines) <= rows and
                                      all(len(line) <= columns for line in lines), f"{columns}x{rows}")
            if columns >= 40:
                self.assertEqual(len(frame), rows)

    def test_nothing_flickers(self):
        terminal = self.top(self.made_up().url)
        until(lambda: len(terminal.frames()) >= 3, 30, "three frames")
        self.assertNotIn(b"\x1b[2J", terminal.output)  # nothing is cleared before it is drawn anew
        self.assertEqual(terminal.output.count(ENTER), 1)

    def test_other_ways_to_end_it(self):
        for keys, number in ((b"\x03", None), (b"\x04", None), (b"Q", None),
                             (None, signal.SIGTERM), (None, signal.SIGHUP)):
            with self.subTest(keys=keys, signal=number):
                terminal = self.top(self.made_up().url)
                terminal.wait_for(lambda lines: True, "a frame")
                if keys:
                    terminal.type(keys)
                else:
                    terminal.process.send_signal(number)
                self.assertEqual(terminal.wait_for_end(), -number if number else 0)
                self.assertTrue(terminal.output.endswith(LEAVE), terminal.output[-100:])
                self.assertEqual(terminal.attributes(), terminal.before)

    def test_it_can_be_put_to_sleep(self):
        terminal = self.top(self.made_up().url)
        terminal.wait_for(lambda lines: True, "a frame")
        terminal.type(b"\x1a")
        stat = pathlib.Path(f"/proc/{terminal.process.pid}/stat")
        until(lambda: stat.read_text().rpartition(")")[2].split()[0] == "T", 15, "it sleeps")
        terminal.read()
        self.assertTrue(terminal.output.endswith(LEAVE), terminal.output[-100:])
        self.assertEqual(terminal.attributes(), terminal.before)
        terminal.process.send_signal(signal.SIGCONT)
        until(lambda: terminal.read().count(ENTER) == 2, 15, "it has the screen again")
        terminal.wait_for(lambda lines: lines[0].endswith(": ready"), "a frame")
        terminal.type(b"q")
        self.assertEqual(terminal.wait_for_end(), 0)

    def test_a_terminal_without_unicode(self):
        terminal = self.top(self.made_up(each_second=1 << 20).url, environment=[("LC_ALL", "C")])
        terminal.wait_for(lambda lines: "##" in "\n".join(lines), "bars")
        self.assertTrue(re.sub(rb"\xc2\xb5", b"", terminal.output).isascii())

    def test_without_a_terminal_it_prints_once(self):
        daemon = self.made_up(users=["alice"], each_second=1 << 20)
        out, _ = self.culvert("top", daemon.url)
        self.assertEqual(out.count("process 4242"), 1)
        self.assertIn("1.0 MiB/s to the tunnel", out)
        self.assertNotIn("\x1b", out)
        self.assertEqual(daemon.answers, 2)


del TerminalTest  # the base has no tests

if __name__ == "__main__":
    case.main()
