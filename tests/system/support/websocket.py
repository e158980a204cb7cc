"""RFC 6455 by hand, as correct or as wrong as a test needs it."""

import base64
import hashlib
import os
import struct

from .streams import connect

CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0x0, 0x1, 0x2, 0x8, 0x9, 0xA
_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


def frame(opcode, payload=b"", *, final=True, masked=True, reserved=0, length=None):
    """A frame; `length` is what the header claims, where that is not the truth."""
    length = len(payload) if length is None else length
    head = bytes([(0x80 if final else 0) | reserved << 4 | opcode])
    mask_bit = 0x80 if masked else 0
    if length < 126:
        head += bytes([mask_bit | length])
    elif length < 1 << 16:
        head += struct.pack(">BH", mask_bit | 126, length)
    else:
        head += struct.pack(">BQ", mask_bit | 127, length)
    if not masked:
        return head + payload
    mask = os.urandom(4)
    return head + mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload))


class FrameParser:
    """Takes bytes in any pieces and returns whole frames: (opcode, final, payload)."""

    def __init__(self):
        self._held = b""

    def feed(self, data):
        self._held += data
        frames = []
        while parsed := self._parse():
            frames.append(parsed)
        return frames

    def _parse(self):
        held = self._held
        if len(held) < 2:
            return None
        length, at = held[1] & 0x7F, 2
        extended = {126: 2, 127: 8}.get(length, 0)
        if extended:
            length = int.from_bytes(held[2 : 2 + extended], "big")
            at += extended
        mask = b""
        if held[1] & 0x80:
            mask = held[at : at + 4]
            at += 4
        if len(held) < at + length:
            return None
        payload = held[at : at + length]
        if mask:
            payload = bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload))
        self._held = held[at + length :]
        return held[0] & 0x0F, bool(held[0] & 0x80), payload


def upgrade_request(path, port, *extra_lines, key=None):
    lines = [
        f"GET {path} HTTP/1.1",
        f"Host: 127.0.0.1:{port}",
        "Upgrade: websocket",
        "Connection: Upgrade",
        f"Sec-WebSocket-Key: {key or new_key()}",
        "Sec-WebSocket-Version: 13",
        *extra_lines,
    ]
    return "\r\n".join([*lines, "", ""]).encode()


def new_key():
    return base64.b64encode(os.urandom(16)).decode()


def accept_for(key):
    return base64.b64encode(hashlib.sha1((key + _GUID).encode()).digest()).decode()


def read_head(sock):
    """The status line and the header lines of an HTTP answer, and what came behind them."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = sock.recv(4096)
        if not piece:
            raise AssertionError(f"the HTTP answer ends early: {data!r}")
        data += piece
    head, _, rest = data.partition(b"\r\n\r\n")
    status, *lines = head.decode().split("\r\n")
    fields = dict(line.split(": ", 1) for line in lines)
    fields = {name.lower(): value for name, value in fields.items()}
    return status, fields, rest


def open_websocket(port, path, **how):
    """A connection, made as `how` says, with the upgrade behind it."""
    sock = connect(port, **how)
    sock.sendall(upgrade_request(path, port))
    status, _, rest = read_head(sock)
    if " 101 " not in status or rest:
        sock.close()
        raise AssertionError(f"no upgrade, or bytes behind it: {status} {rest!r}")
    return sock


class Reframer:
    """Changes a client's WebSocket traffic into other, still correct, frames. Meant as the
    `transform` of a relay's pipe."""

    def __init__(self, change):
        self._change = change  # payload of a message -> list of frames
        self._parser = None  # until the upgrade request is through
        self._head = b""

    def __call__(self, data):
        if self._parser is None:
            self._head += data
            if b"\r\n\r\n" not in self._head:
                return data
            self._parser = FrameParser()
            return data  # the client waits for the 101 before its first frame
        out = b""
        for opcode, _, payload in self._parser.feed(data):
            out += b"".join(self._change(payload)) if opcode == BINARY else frame(opcode, payload)
        return out
