"""A byte relay between the two daemons: the network and whoever sits on it.

It passes everything on as it comes, ends and resets included, until a test tells it otherwise.
"""

import queue
import select
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
            link = Link(client, server, self._dark)
            if self.on_link:
                self.on_link(link)
            self.links.append(link)
            link.start()

    def link(self, number=0, seconds=10):
        until(lambda: len(self.links) > number, seconds, "a tunnel connection at the relay")
        return self.links[number]

    def go_dark(self):
        """From now on nothing passes, neither bytes nor ends, on old and new connections."""
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
    """One connection through the relay: `up` runs from client to server, `down` back. A thread of
    its own does all the work, and what tests ask for while it runs."""

    def __init__(self, client, server, dark):
        self._ends = (client, server)
        self.up = Pipe(client, server, dark, self)
        self.down = Pipe(server, client, dark, self)
        self._pipes = (self.up, self.down)
        self._requests = queue.SimpleQueue()
        self._bell, self._ringer = socket.socketpair()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._over = False
        for end in self._ends:
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            end.setblocking(False)

    def start(self):
        self._thread.start()

    def finish(self):
        """A FIN to both ends."""
        self.do(lambda: [pipe.finish() for pipe in self._pipes])

    def reset(self):
        """A RST to both ends."""
        self.do(self._reset)

    def do(self, action):
        """Has the link's thread do this, and waits for it."""
        if threading.current_thread() is self._thread:
            action()
            return
        done = threading.Event()
        self._requests.put((action, done))
        self._ringer.send(b"!")
        while not (done.wait(0.05) or self._over):
            pass

    def _reset(self):
        for end in self._ends:
            reset(end)
        self._over = True

    def _run(self):
        while not self._over:
            try:
                self._step()
            except OSError:
                for pipe in self._pipes:
                    pipe.end = pipe.end or RESET
                self._reset()
            if all(pipe.end for pipe in self._pipes) and not self._over:
                for end in self._ends:
                    end.close()
                self._over = True

    def _step(self):
        poll = select.poll()
        poll.register(self._bell, select.POLLIN)
        wanted = {}
        for pipe in self._pipes:
            if pipe.wants_input():
                wanted[pipe.source] = wanted.get(pipe.source, 0) | select.POLLIN
            if pipe.wants_output():
                wanted[pipe.target] = wanted.get(pipe.target, 0) | select.POLLOUT
        for end, events in wanted.items():
            poll.register(end, events)
        look_for_light = 50  # ms
        ready = {descriptor for descriptor, _ in poll.poll(look_for_light)}
        if self._bell.fileno() in ready:
            self._bell.recv(1)
            action, done = self._requests.get()
            action()
            done.set()
            return
        for pipe in self._pipes:
            if pipe.wants_output() and pipe.target.fileno() in ready:
                pipe.push()
            if pipe.wants_input() and pipe.source.fileno() in ready:
                pipe.pull()


class _Edit:
    """Takes `size` bytes from position `at` on, and puts in their place what `change` makes."""

    def __init__(self, at, size, change):
        self.at, self.size, self.change = at, size, change
        self.taken = b""


class Pipe:
    def __init__(self, source, target, dark, link):
        self.source, self.target = source, target
        self._dark, self._link = dark, link
        self._edits = []
        self._piece_edits = []
        self._cut_at = None
        self._finished = False
        self.transform = None  # changes all that passes
        self.pending = b""
        self.count = 0  # bytes that came in
        self.end = None  # how the source ended: CLEAN or RESET

    # ---- what a test asks for; `ahead` counts from the next byte to come ----

    def edit(self, ahead, size, change):
        self._edits.append(_Edit(self.count + ahead, size, change))

    def flip(self, ahead, bit=0):
        self.edit(ahead, 1, lambda byte: bytes([byte[0] ^ 1 << bit]))

    def edit_piece(self, change):
        """Changes the next piece as a whole; for flights that their sender writes at once."""
        self._piece_edits.append(change)

    def cut(self, ahead):
        """A FIN to both ends once so many more bytes have been passed on."""
        self._cut_at = self.count + ahead
        if ahead == 0:
            self._link.finish()

    def inject(self, data):
        """Bytes of the relay's own, behind what has passed so far."""

        def add():
            self.pending += data

        self._link.do(add)

    def wait_for_end(self, seconds=10):
        return until(lambda: self.end, seconds, "the end of the tunnel connection")

    # ---- what the link asks for ----

    def wants_input(self):
        return self.end is None and not self.pending and not self._dark.is_set()

    def wants_output(self):
        return self.pending and not self._dark.is_set()

    def pull(self):
        try:
            piece = self.source.recv(1 << 16)
        except BlockingIOError:
            return
        except OSError:
            self.end = RESET
            raise
        if piece:
            self._take(piece)
        else:
            self.end = CLEAN
            self.finish()

    def push(self):
        self.pending = self.pending[self.target.send(self.pending) :]
        if self._finished and not self.pending:
            self._send_fin()

    def finish(self):
        if not self._finished:
            self._finished = True
            if not self.pending:
                self._send_fin()

    def _send_fin(self):
        try:
            self.target.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    # ---- what happens to the bytes ----

    def _take(self, piece):
        if self.transform:
            piece = self.transform(piece)
        if self._piece_edits:
            piece = self._piece_edits.pop(0)(piece)
        start, self.count = self.count, self.count + len(piece)
        cut_now = self._cut_at is not None and self.count >= self._cut_at
        if cut_now:
            piece = piece[: max(0, self._cut_at - start)]
        if not self._finished:
            self.pending += self._edited(piece, start)
        if cut_now:
            self._link.finish()

    def _edited(self, piece, start):
        out = b""
        for edit in sorted(self._edits, key=lambda e: e.at):
            first = max(edit.at + len(edit.taken) - start, 0)
            last = min(edit.at + edit.size - start, len(piece))
            if first >= last:
                continue
            out += piece[:first]
            edit.taken += piece[first:last]
            piece, start = piece[last:], start + last
            if len(edit.taken) == edit.size:
                out += edit.change(edit.taken)
                self._edits.remove(edit)
        return out + piece
