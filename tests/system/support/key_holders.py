"""Peers of a daemon that hold the right keys, and do with them what a test likes: a client before a
real server, and a server before a real client."""

import dataclasses
import socket

from . import culvert1
from .streams import CLEAN, RESET, connect
from .tunnel import PATH, Tunnel, shared_keys
from .websocket import (
    BINARY, CLOSE, CONTINUATION, FrameParser, accept_for, frame, open_websocket, read_head,
)


def secrets_of(kind, keys=None):
    keys = keys or shared_keys()

    def key(name):
        return bytes.fromhex((keys.folder / name).read_text())

    psk = {"psk": key("edge.psk")} if "psk" in kind.keys else {}
    if "static" not in kind.keys:
        return culvert1.Secrets(**psk)
    return culvert1.Secrets(**psk, server=key("server.key"), client=key("client.key"),
                            server_public=bytes.fromhex(keys.server_public))


# ---- carriers ----


class TcpLine:
    """The stream on the connection itself."""

    def __init__(self, sock):
        self.sock = sock
        self.controls = []  # no such thing here
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, data):
        self.sock.sendall(data)

    def receive(self):
        """The next bytes; none at a FIN."""
        return self.sock.recv(1 << 17)

    def finish(self):
        self.sock.shutdown(socket.SHUT_WR)

    @property
    def port(self):
        return self.sock.getsockname()[1]


class WebSocketLine(TcpLine):
    """The stream in binary messages."""

    def __init__(self, sock, masked):
        super().__init__(sock)
        self._parser = FrameParser()
        self._masked = masked  # a client's frames are

    def send(self, data):
        self.sock.sendall(self.frame(BINARY, data))

    def frame(self, opcode, payload=b"", **form):
        return frame(opcode, payload, masked=form.pop("masked", self._masked), **form)

    def receive(self):
        stream = b""
        while not stream:
            raw = self.sock.recv(1 << 17)
            if not raw:
                return b""
            stream = self._take(raw)
        return stream

    def wait_for_control(self, opcode, payload):
        while (opcode, payload) not in self.controls:
            raw = self.sock.recv(1 << 17)
            if not raw:
                raise EOFError("the connection ended in front of the control frame")
            self._take(raw)

    def _take(self, raw):
        stream = b""
        for opcode, _, payload in self._parser.feed(raw):
            if opcode in (BINARY, CONTINUATION):
                stream += payload
            else:
                self.controls.append((opcode, payload))
        return stream


# ---- what stands on them ----


@dataclasses.dataclass
class Seen:
    """What a daemon said, but for PADs, and how its connection ended."""

    records: list
    end: str  # CLEAN or RESET


class Peer:
    """An end of the protocol behind its handshake."""

    def __init__(self, line, sending, receiving, rest=b""):
        self.line = line
        self.sealer = culvert1.Sealer(sending)
        self._opener = culvert1.Opener(receiving)
        self._records = self._opener.feed(rest)

    def send(self, kind, payload=b"", flags=0, length=None):
        self.line.send(self.sealer.seal(kind, payload, flags, length))

    def next_record(self):
        """The next that is no PAD."""
        while True:
            for number, record in enumerate(self._records):
                if record.kind != culvert1.PAD:
                    del self._records[: number + 1]
                    return record
            data = self.line.receive()
            if not data:
                raise EOFError("the connection ended in front of the next record")
            self._records = self._opener.feed(data)

    def read_to_end(self, seconds=20):
        self.line.sock.settimeout(seconds)
        records = []
        try:
            while True:
                records.append(self.next_record())
        except EOFError:
            return Seen(records, CLEAN)
        except ConnectionResetError:
            return Seen(records, RESET)

    @property
    def close_frames(self):
        return [payload for opcode, payload in self.line.controls if opcode == CLOSE]


class _Exactly:
    """`read(size)` over a line; what has come too early is `rest`."""

    def __init__(self, line):
        self._line, self.rest = line, b""

    def __call__(self, size):
        while len(self.rest) < size:
            piece = self._line.receive()
            if not piece:
                raise EOFError("the connection ended in the handshake")
            self.rest += piece
        taken, self.rest = self.rest[:size], self.rest[size:]
        return taken


class LoneServer(Tunnel):
    """The server daemon of a tunnel; the tests are its clients."""

    def start_client(self, **options):
        return None

    def call(self, **how):
        """A connection without a word of the protocol."""
        if self.kind.carrier == "ws":
            return WebSocketLine(open_websocket(self.server_port, PATH, **how), masked=True)
        return TcpLine(connect(self.server_port, **how))

    def dial(self, secrets=None, line=None, **changes):
        """A handshake, with changes as culvert1.Client takes them."""
        line = line or self.call()
        client = culvert1.Client(secrets or secrets_of(self.kind), **changes)
        line.send(client.message1)
        reader = _Exactly(line)
        c2s, s2c = client.finish(reader)
        return Peer(line, c2s, s2c, reader.rest)


class LoneClient(Tunnel):
    """The client daemon of a tunnel; the tests are its server."""

    def __init__(self, test, kind, **options):
        super().__init__(test, kind, "unused:1", **options)

    def start_server(self, **options):
        self._listener = socket.create_server(("127.0.0.1", self.server_port), backlog=128)
        self._test.addCleanup(self._listener.close)

    def accept_socket(self, seconds=10):
        self._listener.settimeout(seconds)
        sock, _ = self._listener.accept()
        sock.settimeout(20)
        return sock

    def accept(self):
        """The next connection of the daemon, behind its upgrade where there is one."""
        sock = self.accept_socket()
        if self.kind.carrier != "ws":
            return TcpLine(sock)
        _, fields, _ = read_head(sock)
        sock.sendall(switching_protocols(fields["sec-websocket-key"]))
        return WebSocketLine(sock, masked=False)

    def take(self, line, secrets=None):
        """Message 1; what comes is a culvert1.Server that can answer."""
        server = culvert1.Server(secrets or secrets_of(self.kind))
        server.take(_Exactly(line))  # the client says nothing more before message 2
        return server

    def answer(self, line, server, **changes):
        line.send(b"".join(server.answer(**changes).values()))
        c2s, s2c = server.secrets()
        return Peer(line, s2c, c2s)

    def serve(self):
        """A whole handshake with the next connection."""
        line = self.accept()
        return self.answer(line, self.take(line))


def switching_protocols(key, *extra_lines):
    lines = ["HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade",
             f"Sec-WebSocket-Accept: {accept_for(key)}", *extra_lines]
    return "\r\n".join([*lines, "", ""]).encode()
