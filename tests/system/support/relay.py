"""A byte relay between the two daemons: the network and whoever sits on it.

It passes everything on as it comes, ends and resets included, until a test tells it otherwise.
"""

import socket
import threading

from .ports import free_port
from .streams import CLEAN, RESET, reset
from .waiting import until


class Relay:
    def __init__(self, target_port):
        self.port = free_port()
        self.links = []
        self.on_link = None  # called with each new link before its first byte moves
        self._target_port = target_port
        self._dark = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", self.port), backlog=512)
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self._target_port))
            except OSError:
                reset(client)
                continue
            for end in (client, server):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            link = Link(client, server, self._dark)
            if self.on_link:
                self.on_link(link)
            self.links.append(link)
            link.start()

    def link(self, number=0, seconds=10):
        until(lambda: len(self.links) > number, seconds, "a tunnel connection at the relay")
        return self.links[number]

    def go_dark(self):
        """From now on every byte is swallowed, both ways, on old and new connections."""
        self._dark.set()

    def light_up(self):
        self._dark.clear()

    def close(self):
        try:
            self._listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._listener.close()
        for link in self.links:
            link.reset()


class Link:
    """One connection through the relay: `up` runs from client to server, `down` back."""

    def __init__(self, client, server, dark):
        self._ends = (client, server)
        self.up = Pipe(client, server, dark, self)
        self.down = Pipe(server, client, dark, self)

    def start(self):
        for pipe in (self.up, self.down):
            threading.Thread(target=pipe.run, daemon=True).start()

    def finish(self):
        """A FIN to both ends."""
        for pipe in (self.up, self.down):
            pipe.finish()

    def reset(self):
        """A RST to both ends."""
        for end in self._ends:
            reset(end)


class _Edit:
    """Takes `size` bytes from position `at` on, and puts in their place what `change` makes."""

    def __init__(self, at, size, change):
        self.at, self.size, self.change = at, size, change
        self.taken = bytearray()


class Pipe:
    def __init__(self, source, target, dark, link):
        self._source, self._target, self._dark, self._link = source, target, dark, link
        self._lock = threading.Lock()
        self._edits = []
        self._whole_pieces = []
        self.transform = None  # changes all that passes
        self._cut_at = None
        self._finished = False
        self.count = 0  # bytes that came in
        self.first_piece = None
        self.end = None  # how the source ended: CLEAN or RESET

    # ---- what a test asks for; `ahead` counts from the next byte to come ----

    def edit(self, ahead, size, change):
        with self._lock:
            self._edits.append(_Edit(self.count + ahead, size, change))

    def flip(self, ahead, bit=0):
        self.edit(ahead, 1, lambda byte: bytes([byte[0] ^ 1 << bit]))

    def drop(self, ahead, size):
        self.edit(ahead, size, lambda _: b"")

    def edit_piece(self, change):
        """Changes the next piece as a whole; for flights that their sender writes at once."""
        self._whole_pieces.append(change)

    def cut(self, ahead):
        """A FIN to both ends once so many more bytes have been passed on."""
        with self._lock:
            self._cut_at = self.count + ahead
        if ahead == 0:
            self._link.finish()

    def inject(self, data):
        """Bytes of the relay's own, between two pieces."""
        self._target.sendall(data)

    def wait_for_end(self, seconds=10):
        return until(lambda: self.end, seconds, "the end of the tunnel connection")

    # ---- the machine ----

    def run(self):
        try:
            while piece := self._source.recv(1 << 16):
                if self.first_piece is None:
                    self.first_piece = piece
                self._pass_on(piece)
        except OSError:
            self.end = RESET
            self._link.reset()
            return
        self.end = CLEAN
        self.finish()

    def _pass_on(self, piece):
        if self.transform:
            piece = self.transform(piece)
        if self._whole_pieces:
            piece = self._whole_pieces.pop(0)(piece)
        with self._lock:
            out = self._changed(piece)
            cut_now = self._cut_at is not None and self.count >= self._cut_at
            if cut_now:
                out = out[: len(out) - (self.count - self._cut_at)]
        if out and not self._dark.is_set() and not self._finished:
            self._target.sendall(out)
        if cut_now:
            self._link.finish()

    def _changed(self, piece):
        start, self.count = self.count, self.count + len(piece)
        if not self._edits:
            return piece
        out = bytearray()
        for position, byte in enumerate(piece, start):
            edit = next((e for e in self._edits if e.at <= position < e.at + e.size), None)
            if edit is None:
                out.append(byte)
                continue
            edit.taken.append(byte)
            if len(edit.taken) == edit.size:
                out += edit.change(bytes(edit.taken))
                self._edits.remove(edit)
        return bytes(out)

    def finish(self):
        self._finished = True
        try:
            self._target.shutdown(socket.SHUT_WR)
        except OSError:
            pass
