"""Plain sockets: sending, receiving, and how a stream ended."""

import dataclasses
import errno
import os
import random
import select
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


def connect_without_asking(port, host="127.0.0.1", seconds=20):
    """A connection whose reset, however early, is told to the first read that finds no data left.

    connect() and every send() take the socket's pending error for themselves, with data still to
    be read behind it."""
    connecting = socket.socket()
    connecting.setblocking(False)
    error = connecting.connect_ex((host, port))
    if error not in (0, errno.EINPROGRESS):
        connecting.close()
        raise OSError(error, os.strerror(error))
    select.select([], [connecting], [], seconds)
    connecting.settimeout(seconds)
    return connecting


def read_until_end(sock, seconds=20, sending=None):
    """All that comes, and whether a FIN or a RST ended it. The timeout counts between pieces.

    A RST is told once for each socket, to whoever uses it next: where somebody sends in the
    background, `sending` is his thread."""
    sock.settimeout(seconds)
    data = bytearray()
    try:
        while piece := sock.recv(1 << 18):
            data += piece
    except ConnectionResetError:
        return Received(bytes(data), RESET)
    told_to_sender = sending is not None and sending.was_reset(seconds)
    return Received(bytes(data), RESET if told_to_sender else CLEAN)


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


class Background(threading.Thread):
    """A function in a thread, where the sockets that it uses may fail."""

    def __init__(self, function, *arguments):
        super().__init__(daemon=True)
        self._function, self._arguments = function, arguments
        self._error = None
        self.start()

    def run(self):
        try:
            self._function(*self._arguments)
        except OSError as error:
            self._error = error

    def was_reset(self, seconds):
        """Whether a RST ended it. Behind a FIN the error would be another, EPIPE."""
        self.join(seconds)
        return isinstance(self._error, ConnectionResetError)


def flood(sock, piece=bytes(1 << 16)):
    """Sends until the connection fails."""
    while True:
        try:
            sock.sendall(piece)
        except TimeoutError:
            pass  # whoever does not read may go on so
