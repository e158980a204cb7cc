"""Plain sockets: sending, receiving, and how a stream ended."""

import dataclasses
import random
import socket
import struct
import threading

CLEAN = "clean end"
RESET = "reset"


@dataclasses.dataclass
class Received:
    data: bytes
    end: str  # CLEAN or RESET


def connect(port, host="127.0.0.1", source=None, seconds=20):
    return socket.create_connection(
        (host, port), timeout=seconds, source_address=source and (source, 0)
    )


def read_until_end(sock, seconds=20, limit=None):
    """All that comes, and whether a FIN or a RST ended it. The timeout counts between pieces."""
    sock.settimeout(seconds)
    data = bytearray()
    while limit is None or len(data) < limit:
        try:
            piece = sock.recv(1 << 18)
        except ConnectionResetError:
            return Received(bytes(data), RESET)
        if not piece:
            return Received(bytes(data), CLEAN)
        data += piece
    raise AssertionError(f"the stream is longer than {limit} bytes")


def read_exactly(sock, size, seconds=20):
    sock.settimeout(seconds)
    data = bytearray()
    while len(data) < size:
        piece = sock.recv(min(size - len(data), 1 << 18))
        if not piece:
            raise AssertionError(f"the stream ended after {len(data)} of {size} bytes")
        data += piece
    return bytes(data)


def reset(sock):
    """Closes with a RST."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()


def random_bytes(size, seed):
    return random.Random(seed).randbytes(size)


def in_background(function, *arguments):
    """Runs function in a thread; sockets that a test tears down may fail there."""

    def run():
        try:
            function(*arguments)
        except OSError:
            pass

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread


def flood(sock, piece=bytes(1 << 16)):
    """Sends until the connection fails."""
    sock.settimeout(None)
    while True:
        sock.sendall(piece)
