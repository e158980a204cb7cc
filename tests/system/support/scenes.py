"""A running session with a peer that holds the keys, at either of the daemons, and what may come of
what the peer does."""

import functools
import socket

from .culvert1 import DATA, END, OPEN, Record
from .key_holders import LoneClient, LoneServer, Seen
from .streams import CLEAN, RESET, Received, read_exactly, read_until_end
from .waiting import until


class Scene:
    """A running session: the peer is the test's, the daemon is real, and `plain` is the socket of
    the application or service behind the daemon."""

    # So many failures a daemon logs one by one; then another takes its place.
    SCENES_EACH = 10

    def __init__(self, test, kind):
        self.test, self.kind = test, kind
        self._left = 0

    def open(self):
        if self._left == 0:
            self.begin()
            self._left = self.SCENES_EACH
        self._left -= 1
        self.enter()

    # The ends of the two streams, from open to ended, in good order.

    def end_ours(self):
        self.peer.send(END)
        self.test.assertEqual(self.plain.recv(1), b"")
        self.ours_ended = True

    def end_theirs(self):
        self.plain.shutdown(socket.SHUT_WR)
        self.test.assertEqual(self.peer.next_record(), Record(END))
        self.theirs_ended = True

    def end_both(self):
        self.end_ours()
        self.end_theirs()

    # What may come of it.

    def goes_on(self):
        """Both streams run, as far as they have not ended, and end cleanly."""
        if not self.ours_ended:
            self.peer.send(DATA, b"go on")
            self.test.assertEqual(read_exactly(self.plain, 5), b"go on")
        if not self.theirs_ended:
            self.plain.sendall(b"you too")
            self.test.assertEqual(self.peer.next_record(), Record(DATA, b"you too"))
        if not self.ours_ended:
            self.end_ours()
        if not self.theirs_ended:
            self.end_theirs()
        self.ends_cleanly()

    def ends_cleanly(self):
        self.test.assertEqual(self.peer.read_to_end(), Seen([], CLEAN))
        closes = [b"\x03\xe8"] if self.kind.carrier == "ws" else []
        self.test.assertEqual(self.peer.close_frames, closes)
        self.peer.line.sock.close()
        self.plain_is(CLEAN)
        self.logs("ended;")

    def is_reset(self, reason):
        """RST to the peer and no word; RST to the plaintext side; the reason in the log."""
        self.test.assertEqual(self.peer.read_to_end(), Seen([], RESET))
        self.test.assertEqual(self.peer.close_frames, [])
        self.plain_is(RESET)
        self.logs(reason)

    def is_left(self, reason):
        """FIN to the peer and no word; RST to the plaintext side; the reason in the log."""
        self.test.assertEqual(self.peer.read_to_end(), Seen([], CLEAN))
        self.plain_is(RESET)
        self.logs(reason)

    def plain_is(self, end):
        """How it ended. Behind a FIN a RST can be seen only as an error of the socket."""
        if not self.ours_ended:
            self.test.assertEqual(read_until_end(self.plain), Received(b"", end))
            return
        error = functools.partial(self.plain.getsockopt, socket.SOL_SOCKET, socket.SO_ERROR)
        if end == RESET:
            until(error, 10, "a reset")
        else:
            self.test.assertEqual(error(), 0)

    def logs(self, reason):
        """One line about this connection, and it says why."""
        about = rf"127\.0\.0\.1:{self.port}[: ]"
        self.daemon.wait_for_log(f"{about}.*{reason}")
        self.test.assertEqual(len(self.daemon.log_lines(about)), 1, self.daemon.log())

    def close(self):
        self.peer.line.sock.close()
        self.plain.close()


class AtServer(Scene):
    def begin(self):
        self.backend = self.test.backend()
        self.tunnel = LoneServer(self.test, self.kind, self.backend.target)
        self.daemon = self.tunnel.server

    def enter(self):
        self.ours_ended = self.theirs_ended = False
        self.peer = self.tunnel.dial()
        self.peer.send(OPEN, b"it")
        self.plain = self.backend.accept()
        self.port = self.peer.line.port


class AtClient(Scene):
    def begin(self):
        self.tunnel = LoneClient(self.test, self.kind)
        self.daemon = self.tunnel.client

    def enter(self):
        self.ours_ended = self.theirs_ended = False
        self.plain = self.tunnel.connect()
        self.peer = self.tunnel.serve()
        self.test.assertEqual(self.peer.next_record(), Record(OPEN, b"it"))
        self.port = self.plain.getsockname()[1]
