"""Both ends of a tunnel, as two daemons, in every form a tunnel can have."""

import dataclasses
import functools
import os
import pathlib
import subprocess
import tempfile
import threading

from . import process, programs
from .ports import free_port
from .relay import Relay
from .streams import RESET, Received, connect, connect_without_asking, read_until_end


@dataclasses.dataclass(frozen=True)
class Kind:
    carrier: str  # tcp, ws
    keys: str  # psk, static, static+psk

    def __str__(self):
        return f"{self.carrier} {self.keys}"


TCP = Kind("tcp", "psk")
WEBSOCKET = Kind("ws", "psk")
TCP_STATIC = Kind("tcp", "static")
WEBSOCKET_STATIC = Kind("ws", "static")
BOTH_CARRIERS = (TCP, WEBSOCKET)
FOUR_KINDS = (TCP, WEBSOCKET, TCP_STATIC, WEBSOCKET_STATIC)
EVERY_KIND = (*FOUR_KINDS, Kind("tcp", "static+psk"), Kind("ws", "static+psk"))

PATH = "/tunnel"

# What stands around a plaintext of 126 to 65,000 bytes on its way: protocol and WebSocket.
RECORD_HEADER, RECORD_TAG = 4, 16
RECORD_OVERHEAD = RECORD_HEADER + RECORD_TAG


def frame_header(kind, direction):
    """Bytes of WebSocket in front of a record that travels alone."""
    if kind.carrier == "tcp":
        return 0
    return 8 if direction == "up" else 4


@dataclasses.dataclass(frozen=True)
class Keys:
    """A set of keys that fit each other."""

    folder: pathlib.Path
    server_public: str

    def server_lines(self, keys):
        lines = {
            "psk": ["psk = edge.psk"],
            "static": ["identity = server.key", "clients = clients.pub"],
        }
        return self._lines(lines, keys)

    def client_lines(self, keys):
        lines = {
            "psk": ["psk = edge.psk"],
            "static": ["identity = client.key", f"server-key = {self.server_public}"],
        }
        return self._lines(lines, keys)

    def _lines(self, lines, keys):
        return [
            line.replace("= ", f"= {self.folder}/") if _names_file(line) else line
            for part in keys.split("+")
            for line in lines[part]
        ]


def _names_file(line):
    return line.split()[0] in ("psk", "identity", "clients")


def make_keys():
    """Keys nobody else has; the folder goes when the keys do."""
    holder = tempfile.TemporaryDirectory(prefix="culvert-keys-")
    folder = pathlib.Path(holder.name)
    _keygen("psk", folder / "edge.psk")
    server_public = _keygen("static", folder / "server.key")
    client_public = _keygen("static", folder / "client.key")
    (folder / "clients.pub").write_text(f"alice {client_public}\n")
    for name in ("edge.psk", "server.key", "client.key"):
        process.secrets.append((folder / name).read_text().strip())
    _holders.append(holder)
    return Keys(folder, server_public)


_holders = []


_one_at_a_time = threading.Lock()


def shared_keys():
    """The keys of all tunnels of a test file, unless a test wants others."""
    with _one_at_a_time:  # threads that ask at once shall get the same
        return _shared_keys()


@functools.cache
def _shared_keys():
    return make_keys()


def _keygen(kind, path):
    done = subprocess.run(
        [programs.culvert(), "keygen", kind, path], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


class Tunnel:
    """Client daemon and server daemon, ready to carry connections to `target`.

    With `relay`, a Relay stands between them. `server`, `client` and `daemon` are lines that
    their sections get in addition; `daemon_of` has lines for the [daemon] of one end, by the name
    of its section. Where the test is not root's it could not count the files of
    a daemon that lets nobody look, so that one is not confined unless `confined` asks for it.
    """

    def __init__(self, test, kind, target, *, relay=False, server=(), client=(), daemon=(),
                 daemon_of=None, server_keys=None, client_keys=None, service="it", confined=False,
                 **process_options):
        self._test = test
        self.kind = kind
        self._replaced = 0
        self.folder = test.make_folder()
        self.server_port, self.client_port = free_port(), free_port()
        self.relay = Relay(self.server_port) if relay else None
        if relay:
            test.addCleanup(self.relay.close)
        # The fixture stops its daemons in the middle of things.
        short_drain = [] if any(line.startswith("drain") for line in daemon) else ["drain = 1s"]
        stays = os.geteuid() == 0 or confined or any("sandbox" in line for line in daemon)
        self._daemon_lines = ["[daemon]", *short_drain, *daemon,
                              *([] if stays else ["sandbox = off"])]
        self._daemon_of = daemon_of or {}
        self._server_lines = [
            "[server.edge]",
            f"listen = 127.0.0.1:{self.server_port}",
            f"carrier = {kind.carrier}",
            *([f"path = {PATH}"] if kind.carrier == "ws" else []),
            *(server_keys or shared_keys()).server_lines(kind.keys),
            f"service = it {target}",
            *server,
        ]
        self._client_lines = [
            "[client.app]",
            f"listen = 127.0.0.1:{self.client_port}",
            f"connect = {self.server_url()}",
            f"service = {service}",
            *(client_keys or shared_keys()).client_lines(kind.keys),
            *client,
        ]
        self.server = self.start_server(**process_options)
        self.client = self.start_client(**process_options)

    def server_url(self):
        port = self.relay.port if self.relay else self.server_port
        path = PATH if self.kind.carrier == "ws" else ""
        return f"{self.kind.carrier}://127.0.0.1:{port}{path}"

    def start_server(self, **options):
        self.server = self._start("server", self._server_lines, self.server_port, options)
        return self.server

    def start_client(self, **options):
        self.client = self._start("client", self._client_lines, self.client_port, options)
        return self.client

    def _start(self, name, lines, port, options):
        file = self.folder / f"{name}.conf"
        own = self._daemon_of.get(name, [])
        file.write_text("\n".join([*self._daemon_lines, *own, *lines, ""]))
        return self._test.start_daemon(file, name, [port], **options)

    def replace_client(self, change=lambda text: text, ports=None, **options):
        """Another client daemon in the place of the first, with a changed configuration."""
        self.client.stop()
        self._replaced += 1
        name = f"client-{self._replaced}"
        file = self.folder / f"{name}.conf"
        file.write_text(change((self.folder / "client.conf").read_text()))
        ports = [self.client_port] if ports is None else ports
        self.client = self._test.start_daemon(file, name, ports, **options)

    def connect(self, seconds=20):
        """An application's connection into the tunnel."""
        application = connect(self.client_port, seconds=seconds)
        self._test.addCleanup(application.close)
        return application

    def outcome(self, opening=b"", seconds=20):
        """What an application gets that connects, says this, and reads to the end."""
        with connect_without_asking(self.client_port, seconds=seconds) as application:
            try:
                if opening:
                    application.sendall(opening)
            except (ConnectionResetError, BrokenPipeError):  # so early that it met the sending
                return Received(read_until_end(application, seconds).data, RESET)
            return read_until_end(application, seconds)

    def open(self, backend):
        """A connection through the tunnel: the application's end and the backend's."""
        application = self.connect()
        service = backend.accept()
        self._test.addCleanup(service.close)
        return application, service
