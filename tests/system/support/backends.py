"""Services behind a tunnel that do what a test tells them."""

import socket
import threading

from .ports import free_port


class Backend:
    """Listens; the test takes the connections and plays the service itself."""

    def __init__(self, family=socket.AF_INET, address=None, port=None, backlog=512):
        if family == socket.AF_UNIX:
            self.target = f"unix:{address}"
        else:
            address = (address or "127.0.0.1", port or free_port())
            self.port = address[1]
            self.target = f"{address[0]}:{self.port}"
        self._listener = socket.socket(family)
        if family != socket.AF_UNIX:
            self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._listener.bind(address)
        self._listener.listen(backlog)

    def accept(self, seconds=10):
        self._listener.settimeout(seconds)
        try:
            connection, _ = self._listener.accept()
        except TimeoutError:
            raise AssertionError(f"no connection reached the backend in {seconds} s") from None
        connection.settimeout(20)
        return connection

    def untouched(self):
        """Whether nobody has connected since the last accept."""
        self._listener.settimeout(0)
        try:
            connection, _ = self._listener.accept()
        except BlockingIOError:
            return True
        connection.close()
        return False

    def close(self):
        self._listener.close()


class Service(Backend):
    """Serves each connection with `handler(socket)` in a thread of its own."""

    def __init__(self, handler, **options):
        super().__init__(**options)
        self._handler = handler
        self.connections = 0
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._handle, args=(connection,), daemon=True).start()

    def _handle(self, connection):
        try:
            with connection:
                self._handler(connection)
        except OSError:
            pass  # the tests look at the client's side

    def close(self):
        try:
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes accept()
        except OSError:
            pass
        super().close()


def echo(connection):
    while piece := connection.recv(1 << 16):
        connection.sendall(piece)
    connection.shutdown(socket.SHUT_WR)


def say(words):
    """A handler: says this and ends."""
    return lambda connection: connection.sendall(words)


class BlackHole:
    """An address that swallows connections, as behind a firewall that drops: a listener whose
    queue is full answers nobody."""

    def __init__(self, address="127.0.0.1", port=None):
        self.port = port or free_port()
        self.target = f"{address}:{self.port}"
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self._sockets = [socket.socket(family)]
        self._sockets[0].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._sockets[0].bind((address, self.port))
        self._sockets[0].listen(0)
        for _ in range(4):
            waiting = socket.socket(family)
            waiting.setblocking(False)
            waiting.connect_ex((address, self.port))
            self._sockets.append(waiting)

    def close(self):
        for one in self._sockets:
            one.close()
