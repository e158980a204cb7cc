"""Services behind a tunnel that do what a test tells them."""

import socket
import threading

from .ports import free_port


class Backend:
    """Listens; the test takes the connections and plays the service itself."""

    def __init__(self, family=socket.AF_INET, address=None, backlog=512):
        if family == socket.AF_UNIX:
            self.target = f"unix:{address}"
        else:
            address = (address or "127.0.0.1", free_port())
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
