"""Many connections at once, slow readers, and a quick one beside a busy one."""

import asyncio
import collections
import multiprocessing
import random
import socket
import statistics
import threading
import time
import zlib

from support import case
from support.backends import echo
from support.streams import Background, flood, random_bytes, read_exactly
from support.tunnel import BOTH_CARRIERS, FOUR_KINDS, TCP
from support.waiting import together, until

KIB, MIB = 1 << 10, 1 << 20
TWO_THREADS = ["threads = 2"]


class ManyConnections(case.SystemTest):
    @case.for_kinds(*FOUR_KINDS)
    def test_five_hundred_tagged_streams(self, kind):
        seed = random.SystemRandom().getrandbits(32)
        print(f"seed {seed}")
        choose = random.Random(seed)
        sizes = [int(2 ** choose.uniform(0, 17)) for _ in range(500)]

        async def one(number, size):
            sent = b"%d:" % number + random_bytes(size, seed + number)
            reader, writer = await asyncio.open_connection("127.0.0.1", tunnel.client_port)
            writer.write(sent)
            writer.write_eof()
            got = await asyncio.wait_for(reader.read(-1), 60)
            writer.close()
            self.assert_same_bytes(got, sent, f"connection {number}")

        async def all_at_once():
            async def serve(reader, writer):
                while piece := await reader.read(1 << 16):
                    writer.write(piece)
                    await writer.drain()
                writer.write_eof()

            backend = await asyncio.start_server(serve, sock=listener, backlog=1024)
            async with backend:
                await asyncio.gather(*(one(number, size) for number, size in enumerate(sizes)))

        listener = socket.create_server(("127.0.0.1", 0))
        target = f"127.0.0.1:{listener.getsockname()[1]}"
        tunnel = self.tunnel(kind, target, daemon=TWO_THREADS)
        asyncio.run(all_at_once())

        for daemon in (tunnel.server, tunnel.client):
            until(lambda daemon=daemon: len(daemon.log_lines(": ended;")) == 500, 10,
                  "a line for each session")
            self.assertEqual(daemon.log_lines(" (error|warning) "), [])
            # Nothing is left behind but listeners, timers and the like.
            until(lambda daemon=daemon: daemon.open_files() < 40, 5, "the descriptors are closed")

    @case.for_kinds(*BOTH_CARRIERS)
    def test_connections_come_and_go(self, kind):
        service = self.service(echo)
        tunnel = self.tunnel(kind, service.target, daemon=TWO_THREADS)

        def come_and_go(worker):
            for number in range(100):
                with tunnel.connect() as application:
                    sent = random_bytes(1 + number * 50, worker * 1000 + number)
                    application.sendall(sent)
                    self.assert_same_bytes(read_exactly(application, len(sent)), sent)

        come_and_go(0)
        before = [daemon.memory() for daemon in (tunnel.server, tunnel.client)]
        together({f"worker {i}": lambda i=i: come_and_go(i) for i in range(8)})
        after = [daemon.memory() for daemon in (tunnel.server, tunnel.client)]
        for name, was, now in zip(("server", "client"), before, after):
            self.assertLess(now - was, 8 * MIB, f"the {name} has grown")


class SlowReaders(case.SystemTest):
    COUNT = 20
    STALL = 10
    PER_CONNECTION = 512 * KIB

    @case.for_kinds(*FOUR_KINDS)
    def test_a_flood_at_applications_that_do_not_read(self, kind):
        enough = threading.Event()
        sent = []  # size and checksum of what each connection was sent
        progress = collections.Counter()

        def pour(connection):
            piece = random_bytes(64 * KIB, id(connection))
            size, checksum = 0, 0
            connection.settimeout(None)
            while not enough.is_set():
                connection.sendall(piece)
                size, checksum = size + len(piece), zlib.crc32(piece, checksum)
                progress[connection] = size
            sent.append((size, checksum))

        def taste(connection):
            # The first byte tells the flood from the ping-pong.
            (pour if connection.recv(1) == b"f" else echo)(connection)

        service = self.service(taste)
        tunnel = self.tunnel(kind, service.target, daemon=TWO_THREADS)
        quick = tunnel.connect()
        quick.sendall(b"e")
        self.ping(quick)
        daemons = (tunnel.server, tunnel.client)
        before = [daemon.memory() for daemon in daemons]
        slow = [tunnel.connect() for _ in range(self.COUNT)]
        for application in slow:
            application.sendall(b"f")

        self.wait_for_standstill(progress)
        stalled_until = time.monotonic() + self.STALL
        while time.monotonic() < stalled_until:
            began = time.monotonic()
            self.ping(quick)
            self.assertLess(time.monotonic() - began, 1, "others have to wait")
            for daemon, was in zip(daemons, before):
                grown = daemon.memory() - was
                self.assertLess(grown, self.COUNT * self.PER_CONNECTION, daemon.name)
            time.sleep(0.2)

        enough.set()
        got = together({
            f"reader {number}": lambda application=application: self.drain(application)
            for number, application in enumerate(slow)
        })
        until(lambda: len(sent) == self.COUNT, 5, "all floods have ended")
        self.assertEqual(sorted(got.values()), sorted(sent))
        # Each has stalled in front of a full pipe, not been cut short.
        self.assertGreater(min(size for size, _ in sent), 64 * KIB)

    def wait_for_standstill(self, progress):
        """Until the floods have filled all that can be filled."""
        seen = [-1]

        def unchanged():
            time.sleep(0.3)
            seen.append(progress.total())
            return len(progress) == self.COUNT and seen[-1] == seen[-2]

        until(unchanged, 15, "the floods stand still")

    def test_a_flood_at_a_service_that_does_not_read(self):
        backend = self.backend()
        tunnel = self.tunnel(TCP, backend.target)
        before = [daemon.memory() for daemon in (tunnel.server, tunnel.client)]
        pairs = [tunnel.open(backend) for _ in range(self.COUNT)]
        data = random_bytes(16 * MIB, "flood")
        for application, _ in pairs:
            Background(lambda a=application: (a.settimeout(60), a.sendall(data),
                                                 a.shutdown(socket.SHUT_WR)))
        for _ in range(10):
            time.sleep(0.3)
            for daemon, was in zip((tunnel.server, tunnel.client), before):
                self.assertLess(daemon.memory() - was, self.COUNT * self.PER_CONNECTION)
        for _, service in pairs:
            self.assert_same_bytes(read_exactly(service, len(data)), data)
            self.assertEqual(service.recv(1), b"")

    def ping(self, application):
        application.sendall(b"ping")
        self.assertEqual(read_exactly(application, 4), b"ping")

    @staticmethod
    def drain(application):
        size, checksum = 0, 0
        application.settimeout(30)
        while piece := application.recv(1 << 18):
            size, checksum = size + len(piece), zlib.crc32(piece, checksum)
        return size, checksum


class Latency(case.SystemTest):
    @case.for_kinds(*FOUR_KINDS)
    def test_a_ping_pong_beside_a_bulk_stream(self, kind):
        backend = self.backend()
        tunnel = self.tunnel(kind, backend.target)
        bulk, source = tunnel.open(backend)
        quick, partner = tunnel.open(backend)
        # Elsewhere: the interpreter lets only one of its threads run at a time.
        for task, sock in ((flood, source), (self.swallow, bulk), (echo, partner)):
            self.in_another_process(task, sock)
        times = []
        for _ in range(500):
            began = time.perf_counter()
            quick.sendall(b"x")
            read_exactly(quick, 1)
            times.append(1000 * (time.perf_counter() - began))
        p50, p99 = statistics.median(times), statistics.quantiles(times, n=100)[98]
        print(f"{kind}: median {p50:.1f} ms, 99th percentile {p99:.1f} ms")
        # Far above what it takes; a queue of seconds would still show.
        self.assertLess(p99, 500)

    def in_another_process(self, task, sock):
        worker = multiprocessing.get_context("fork").Process(target=task, args=(sock,), daemon=True)
        worker.start()
        sock.close()
        self.addCleanup(worker.join, 10)
        self.addCleanup(worker.kill)

    @staticmethod
    def swallow(sock):
        while sock.recv(1 << 18):
            pass


if __name__ == "__main__":
    case.main()
