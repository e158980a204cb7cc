"""WebSocket peers from other code bases: what they see of a culvert server, and what it bears."""

import asyncio
import http.client
import socket
import time

import websockets
from support import case
from support.streams import CLEAN, RESET, Received, random_bytes, read_until_end
from support.streams import connect as connect_socket
from support.tunnel import PATH, WEBSOCKET, WEBSOCKET_STATIC
from support.waiting import together, until
from support.websocket import (
    BINARY, CLOSE, CONTINUATION, PING, PONG, TEXT, FrameParser, Reframer, accept_for, frame,
    new_key, open_websocket, read_head, upgrade_request,
)

# The server's deadline for strangers, and what the measuring may add.
EARLIEST, LATEST = 9.8, 20.8

# Frames that no WebSocket peer may send.
FAULTS = {
    "text frame": frame(TEXT, b"hello"),
    "unmasked frame": frame(BINARY, b"hello", masked=False),
    "length of 2^63": frame(BINARY, b"hello", length=1 << 63),
    "length of 2^64 - 1": frame(BINARY, b"hello", length=(1 << 64) - 1),
    "reserved bit 1": frame(BINARY, b"hello", reserved=4),
    "reserved bit 3": frame(BINARY, b"hello", reserved=1),
    "unknown opcode": frame(0x3, b"hello"),
    "oversized ping": frame(PING, bytes(126)),
    "fragmented ping": frame(PING, b"hello", final=False),
    "continuation of nothing": frame(CONTINUATION, b"hello"),
}


class Strangers(case.SystemTest):
    """Peers without a key."""

    def setUp(self):
        super().setUp()
        self.backend = self.backend()
        self.tunnel = self.tunnel(WEBSOCKET, self.backend.target,
                                  server=["max-unproven-per-address = 1000"])
        self.port = self.tunnel.server_port
        self.url = f"ws://127.0.0.1:{self.port}{PATH}"

    def test_garbage_meets_silence_until_the_deadline(self):
        async def send_garbage(size):
            began = time.monotonic()
            async with websockets.connect(self.url, ping_interval=None, compression=None) as peer:
                if size:
                    await peer.send(random_bytes(size, size))
                with self.assertRaises(websockets.ConnectionClosedError) as caught:
                    self.fail(f"the server said {await peer.recv()!r}")
            self.assertIsNone(caught.exception.rcvd, "a Close frame came")
            return size, time.monotonic() - began

        async def all_sizes():
            sizes = (0, 1, 95, 96, 97, 160, 300, 4096, 100_000)
            return await asyncio.gather(*(send_garbage(size) for size in sizes))

        for size, seconds in asyncio.run(all_sizes()):
            self.assertTrue(EARLIEST <= seconds <= LATEST, f"{size} bytes: {seconds:.2f} s")
        self.assertTrue(self.backend.untouched())

    def test_nothing_follows_the_upgrade(self):
        def stay(payload):
            began = time.monotonic()
            with open_websocket(self.port, PATH) as sock:
                sock.sendall(payload)
                got = read_until_end(sock, seconds=25)
            self.assertEqual((got.data, got.end), (b"", CLEAN))
            seconds = time.monotonic() - began
            self.assertTrue(EARLIEST <= seconds <= LATEST, f"{seconds:.2f} s")

        payloads = {
            "no frame": b"",
            "one message": frame(BINARY, random_bytes(200, 1)),
            "half a frame": frame(BINARY, random_bytes(200, 2), length=400),
            "a length that nobody could hold": frame(BINARY, random_bytes(200, 3), length=1 << 62),
            "fragments": frame(BINARY, random_bytes(100, 4), final=False)
            + frame(CONTINUATION, random_bytes(100, 5)),
        }
        together({name: lambda data=data: stay(data) for name, data in payloads.items()})

    def test_faulty_frames_close_at_once(self):
        for name, bad in FAULTS.items():
            for before in (b"", frame(BINARY, random_bytes(300, name))):
                with self.subTest(name, after_garbage=bool(before)):
                    with open_websocket(self.port, PATH) as sock:
                        sock.sendall(before + bad)
                        began = time.monotonic()
                        got = read_until_end(sock, seconds=5)
                    self.assertEqual(got.data, b"")
                    self.assertLess(time.monotonic() - began, 1)

    def test_a_text_frame_of_another_code_base(self):
        async def send_text():
            async with websockets.connect(self.url, ping_interval=None) as peer:
                await peer.send("hello")
                with self.assertRaises(websockets.ConnectionClosed):
                    await asyncio.wait_for(peer.recv(), 2)

        asyncio.run(send_text())

    def test_a_declared_length_takes_no_memory(self):
        before = self.tunnel.server.memory()
        peers = [open_websocket(self.port, PATH) for _ in range(50)]
        for peer in peers:
            peer.sendall(frame(BINARY, bytes(1000), length=1 << 40))
        time.sleep(0.5)
        grown = self.tunnel.server.memory() - before
        for peer in peers:
            peer.close()
        self.assertLess(grown, 8 << 20)

    def test_other_requests_get_404(self):
        for path in ("/", "/tunnel/", "/tunnel?x=1", "/robots.txt"):
            for method in ("GET", "HEAD", "POST"):
                with self.subTest(method=method, path=path):
                    peer = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
                    peer.request(method, path, body=b"x=1" if method == "POST" else None)
                    answer = peer.getresponse()
                    self.assertEqual(answer.status, 404)
                    self.assertEqual(answer.getheader("Connection").lower(), "close")
                    answer.read()
                    peer.close()

    def test_requests_that_are_no_upgrade_get_404_and_the_end(self):
        good = upgrade_request(PATH, self.port)
        requests = {
            "no upgrade": b"GET /tunnel HTTP/1.1\r\nHost: x\r\n\r\n",
            "wrong path": good.replace(b"/tunnel", b"/wrong"),
            "other version": good.replace(b"Version: 13", b"Version: 8"),
            "no key": good.replace(b"Sec-WebSocket-Key", b"X-Key"),
            "HTTP/1.0": good.replace(b"HTTP/1.1", b"HTTP/1.0"),
        }
        for name, request in requests.items():
            with self.subTest(name), connect_socket(self.port) as sock:
                sock.sendall(request)
                status, fields, _ = read_head(sock)
                self.assertIn(" 404 ", status)
                self.assertEqual(fields["connection"], "close")
                self.assertEqual(read_until_end(sock, seconds=2).end, CLEAN)

    def test_an_offer_of_compression_is_declined(self):
        async def offer():
            async with websockets.connect(self.url, ping_interval=None, close_timeout=1,
                                          compression="deflate") as peer:
                self.assertEqual(peer.extensions, [])
                self.assertNotIn("Sec-WebSocket-Extensions", peer.response_headers)

        asyncio.run(offer())

    def test_pings_are_answered(self):
        with open_websocket(self.port, PATH) as sock:
            for payload in (b"", b"x", bytes(range(125))):
                sock.sendall(frame(PING, payload))
                self.assertEqual(self.next_frame(sock), (PONG, True, payload))

    def test_pings_of_another_code_base(self):
        async def ping():
            async with websockets.connect(self.url, ping_interval=None, close_timeout=1) as peer:
                await asyncio.wait_for(await peer.ping(b"are you there?"), 2)

        asyncio.run(ping())

    def test_an_upgrade_of_one_byte_a_segment(self):
        key = new_key()
        with connect_socket(self.port) as sock:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for byte in upgrade_request(PATH, self.port, key=key):
                sock.sendall(bytes([byte]))
            status, fields, _ = read_head(sock)
            self.assertIn(" 101 ", status)
            self.assertEqual(fields["sec-websocket-accept"], accept_for(key))
            for byte in frame(PING, b"slow"):
                sock.sendall(bytes([byte]))
            self.assertEqual(self.next_frame(sock), (PONG, True, b"slow"))

    def test_a_close_ends_the_connection(self):
        with open_websocket(self.port, PATH) as sock:
            sock.sendall(frame(CLOSE, b"\x03\xe8"))
            self.assertEqual(read_until_end(sock, seconds=2).end, CLEAN)

    def next_frame(self, sock):
        parser = FrameParser()
        sock.settimeout(5)
        while not (frames := parser.feed(sock.recv(4096))):
            pass
        return frames[0]


class Sessions(case.SystemTest):
    """What proxies may do to the frames of a session, and what they may not."""

    def reframed(self, kind, change):
        backend = self.backend()
        tunnel = self.tunnel(kind, backend.target, relay=True)
        tunnel.relay.on_link = lambda link: setattr(link.up, "transform", Reframer(change))
        application, service = tunnel.open(backend)
        sent = random_bytes(300_000, str(kind))
        application.sendall(sent)
        application.shutdown(socket.SHUT_WR)
        got = read_until_end(service)
        self.assert_same_bytes(got.data, sent)
        self.assertEqual(got.end, CLEAN)
        service.sendall(b"thanks")
        service.close()
        self.assertEqual(read_until_end(application).data, b"thanks")

    @case.for_kinds(WEBSOCKET, WEBSOCKET_STATIC)
    def test_fragments_with_a_ping_between_them(self, kind):
        def three_fragments(payload):
            third = len(payload) // 3
            return [
                frame(BINARY, payload[:third], final=False),
                frame(PING, bytes(125)),
                frame(CONTINUATION, payload[third : 2 * third], final=False),
                frame(CONTINUATION, b"", final=False),
                frame(CONTINUATION, payload[2 * third :]),
            ]

        self.reframed(kind, three_fragments)

    def test_messages_of_a_few_bytes(self):
        def crumbs(payload):
            return [frame(BINARY, payload[i : i + 7]) for i in range(0, len(payload), 7)]

        self.reframed(WEBSOCKET, crumbs)

    def test_faulty_frames_reset_a_session(self):
        backend = self.backend()
        tunnel = self.tunnel(WEBSOCKET, backend.target, relay=True)
        for number, (name, bad) in enumerate(FAULTS.items()):
            with self.subTest(name):
                application, service = tunnel.open(backend)
                link = tunnel.relay.link(number)
                link.up.inject(bad)
                self.assertEqual(read_until_end(service), self.nothing_but_a_reset())
                self.assertEqual(read_until_end(application), self.nothing_but_a_reset())
                self.assertEqual(link.down.wait_for_end(), RESET)

    def test_masked_frames_of_a_server_reset_a_session(self):
        backend = self.backend()
        tunnel = self.tunnel(WEBSOCKET, backend.target, relay=True)
        application, service = tunnel.open(backend)
        tunnel.relay.link().down.inject(frame(BINARY, b"hello", masked=True))
        self.assertEqual(read_until_end(application), self.nothing_but_a_reset())
        self.assertEqual(read_until_end(service), self.nothing_but_a_reset())

    def test_a_close_frame_before_the_end_is_truncation(self):
        backend = self.backend()
        tunnel = self.tunnel(WEBSOCKET, backend.target, relay=True)
        application, service = tunnel.open(backend)
        application.sendall(b"hello")
        self.assertEqual(service.recv(100), b"hello")
        tunnel.relay.link().up.inject(frame(CLOSE, b"\x03\xe8"))
        self.assertEqual(read_until_end(service), self.nothing_but_a_reset())
        self.assertEqual(read_until_end(application), self.nothing_but_a_reset())

    def test_a_clean_end_is_close_1000_and_a_fin(self):
        backend = self.backend()
        tunnel = self.tunnel(WEBSOCKET, backend.target, relay=True)
        seen = {"up": [], "down": []}

        def watch(link):
            link.up.transform = lambda data: seen["up"].append(data) or data
            link.down.transform = lambda data: seen["down"].append(data) or data

        tunnel.relay.on_link = watch
        application, service = tunnel.open(backend)
        for end in (application, service):
            end.shutdown(socket.SHUT_WR)
        link = tunnel.relay.link()
        until(lambda: link.up.end and link.down.end, 5, "the end of both directions")
        self.assertEqual((link.up.end, link.down.end), (CLEAN, CLEAN))
        for direction, pieces in seen.items():
            _, _, frames = b"".join(pieces).partition(b"\r\n\r\n")
            self.assertEqual(FrameParser().feed(frames)[-1], (CLOSE, True, b"\x03\xe8"), direction)

    @staticmethod
    def nothing_but_a_reset():
        return Received(b"", RESET)


if __name__ == "__main__":
    case.main()
