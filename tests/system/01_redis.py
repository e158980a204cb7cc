"""Redis through the tunnel: the same data arrives, under pipelining and with large values."""

import random
import signal
import subprocess

from support import case, programs
from support.ports import free_port, is_listening
from support.streams import connect
from support.tunnel import EVERY_KIND, FOUR_KINDS


class Redis(case.SystemTest):
    def setUp(self):
        super().setUp()
        self.port = free_port()
        server = programs.find("redis-server", "redis-server")
        options = f"--bind 127.0.0.1 --port {self.port} --appendonly no --save".split() + [""]
        self.start([server, *options], "redis", lambda: is_listening(self.port),
                   how_to_stop=signal.SIGKILL)

    def benchmark(self, port, *options):
        program = programs.find("redis-benchmark", "redis-tools")
        command = [program, "-h", "127.0.0.1", "-p", str(port), "-q", *options]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        output = done.stdout + done.stderr
        self.assertEqual(done.returncode, 0, output)
        self.assertIn("requests per second", output)
        self.assertNotRegex(output, "(?i)error|closed")

    @case.for_kinds(*FOUR_KINDS)
    def test_benchmark(self, kind):
        port = self.tunnel(kind, f"127.0.0.1:{self.port}").client_port
        self.benchmark(port, "-t", "set,get,lrange_100", "-n", "20000")
        self.benchmark(port, "-t", "set,get", "-n", "20000", "-P", "32")
        self.benchmark(port, "-t", "set,get", "-n", "4000", "-d", "16384", "-P", "4")

    @case.for_kinds(*EVERY_KIND)
    def test_what_was_stored_is_what_was_sent(self, kind):
        tunnel = self.tunnel(kind, f"127.0.0.1:{self.port}")
        choose = random.Random(str(kind))
        values = {
            b"key-%d" % i: choose.randbytes(choose.choice((0, 1, 100, 1350, 16384, 70000)))
            for i in range(200)
        }
        through, beside = Resp(tunnel.connect()), Resp(connect(self.port))
        self.addCleanup(through.close)
        self.addCleanup(beside.close)

        through.send(*[(b"SET", key, value) for key, value in values.items()])
        self.assertEqual([through.answer() for _ in values], [b"OK"] * len(values))
        for client in (beside, through):
            client.send(*[(b"GET", key) for key in values])
            for key, value in values.items():
                self.assert_same_bytes(client.answer(), value, key.decode())

    @case.for_kinds(*FOUR_KINDS)
    def test_command_line_client(self, kind):
        tunnel = self.tunnel(kind, f"127.0.0.1:{self.port}")
        client = [programs.find("redis-cli", "redis-tools"), "-h", "127.0.0.1", "-p"]

        def ask(port, *words, **options):
            done = subprocess.run([*client, str(port), *words], capture_output=True, timeout=30,
                                  check=True, **options)
            return done.stdout

        text = b"".join(b"line %d\n" % i for i in range(20_000))
        self.assertEqual(ask(tunnel.client_port, "-x", "SET", "text", input=text), b"OK\n")
        self.assert_same_bytes(ask(self.port, "GET", "text"), text + b"\n")
        self.assert_same_bytes(ask(tunnel.client_port, "GET", "text"), text + b"\n")


class Resp:
    """As much of Redis's protocol as the tests speak."""

    def __init__(self, sock):
        self._sock = sock
        self._reader = sock.makefile("rb")

    def send(self, *commands):
        self._sock.sendall(b"".join(self._encoded(command) for command in commands))

    @staticmethod
    def _encoded(command):
        words = b"".join(b"$%d\r\n%b\r\n" % (len(word), word) for word in command)
        return b"*%d\r\n" % len(command) + words

    def answer(self):
        kind, rest = self._reader.read(1), self._reader.readline().rstrip(b"\r\n")
        if kind != b"$":
            return rest
        return self._reader.read(int(rest) + 2)[:-2]

    def close(self):
        self._reader.close()
        self._sock.close()


if __name__ == "__main__":
    case.main()
