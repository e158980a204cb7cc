"""The log: who reads it, or does not, and what strangers get into it."""

import fcntl
import os
import socket

from support import case
from support.backends import echo
from support.streams import connect, read_exactly
from support.tunnel import TCP, WEBSOCKET
from support.waiting import until


class Log(case.SystemTest):
    """The log's reader may be gone, full or asleep; the tunnel carries on."""

    CONNECTIONS = 150

    def assert_works(self, port, word=b"hello"):
        with connect(port) as application:
            application.sendall(word)
            self.assertEqual(read_exactly(application, len(word)), word)

    def exercise(self, stderr):
        tunnel = self.tunnel(TCP, self.service(echo).target, daemon=["log-level = debug"],
                             stderr=stderr)
        for i in range(self.CONNECTIONS):
            self.assert_works(tunnel.client_port, b"connection %d" % i)
        for daemon in (tunnel.client, tunnel.server):
            self.assertTrue(daemon.running())
            daemon.stop()
            self.assertEqual(daemon.wait(), 0)

    def test_a_full_disk(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            self.exercise(full)

    def test_a_closed_pipe(self):
        reader, writer = os.pipe()
        os.close(reader)
        self.addCleanup(os.close, writer)
        self.exercise(writer)

    def test_a_full_pipe_that_nobody_reads(self):
        reader, writer = os.pipe()
        for end in (reader, writer):
            self.addCleanup(os.close, end)
        filled = self.fill(writer)
        self.exercise(writer)
        self.assertFalse(fcntl.fcntl(writer, fcntl.F_GETFL) & os.O_NONBLOCK,
                         "the daemon changed a pipe that others write to")
        os.set_blocking(reader, False)
        self.assertEqual(os.read(reader, 1 << 20), b"x" * filled)

    def test_a_pipe_that_is_read_again(self):
        reader, writer = os.pipe()
        for end in (reader, writer):
            self.addCleanup(os.close, end)
        tunnel = self.tunnel(TCP, self.service(echo).target, stderr=writer)
        filled = self.fill(writer)
        self.assertGreater(filled, 0)
        for _ in range(5):
            self.assert_works(tunnel.client_port)
        os.set_blocking(reader, False)
        os.read(reader, 1 << 20)

        def told():
            self.assert_works(tunnel.client_port)
            try:
                return b"lines are lost: nobody took them" in os.read(reader, 1 << 20)
            except BlockingIOError:
                return False

        until(told, 10, "the log says that lines are lost")

    def test_a_socket_that_nobody_reads(self):
        ours, theirs = socket.socketpair()
        with ours, theirs:
            theirs.setblocking(False)
            try:
                while True:
                    theirs.send(b"x" * 4096)
            except BlockingIOError:
                theirs.setblocking(True)
            self.exercise(theirs)

    @staticmethod
    def fill(writer):
        os.set_blocking(writer, False)
        filled = 0
        try:
            while True:
                filled += os.write(writer, b"x" * 4096)
        except BlockingIOError:
            os.set_blocking(writer, True)
        return filled

    @case.for_kinds(TCP, WEBSOCKET)
    def test_strangers_write_few_lines_and_no_control_characters(self, kind):
        tunnel = self.tunnel(kind, self.service(echo).target, daemon=["log-level = debug"])
        rude = b"GET /\x1b[2J\x9b31m\r\nX: \x00\xff\xc2\x85\xe2\x80\xae\r\n\r\n" * 40
        for i in range(400):
            with connect(tunnel.server_port) as stranger:
                stranger.sendall(rude[i % 60 :])
        self.assert_works(tunnel.client_port)
        lines = tunnel.server.log_lines()
        self.assertTrue(any("no session" in line for line in lines), tunnel.server.log())
        self.assertLess(len(lines), 100)
        content = tunnel.server.log_path.read_bytes()
        self.assertRegex(content, rb"\A[\x20-\x7e\n]+\Z")


if __name__ == "__main__":
    case.main()
