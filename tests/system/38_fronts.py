"""nginx and HAProxy in front of a server, from the very samples that users get."""

import pathlib
import select
import socket
import ssl
import subprocess
import threading
import time

from support import case, nginx, programs
from support.backends import echo
from support.ports import free_port, is_listening
from support.streams import (CLEAN, RESET, Background, Received, connect, random_bytes, read_exactly,
                             read_until_end, reset)
from support.tunnel import PATH, TCP, WEBSOCKET
from support.waiting import together, until
from support.websocket import read_head

MIB = 1 << 20
SAMPLES = pathlib.Path(__file__).resolve().parents[2] / "config" / "samples"
FRONTS = ("nginx", "haproxy")
HOST = "edge.example"


def make_certificate(folder):
    """A certificate of its own for the host of the samples, and both in one file for HAProxy."""
    subprocess.run([programs.find("openssl", "openssl"), "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:P-256", "-nodes", "-keyout", folder / "key", "-out",
                    folder / "crt", "-subj", f"/CN={HOST}", "-addext",
                    f"subjectAltName=DNS:{HOST}"], check=True, capture_output=True, timeout=30)
    (folder / "pem").write_text((folder / "crt").read_text() + (folder / "key").read_text())


def site(connection):
    """The ordinary web site, where it is not nginx's own."""
    head = b""
    while b"\r\n\r\n" not in head:
        piece = connection.recv(4096)
        if not piece:
            return
        head += piece
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\nConnection: close\r\n\r\nthe site")


def with_values(name, values):
    """A sample with the places of this test in it; each of them has to be there."""
    text = (SAMPLES / name).read_text()
    for shown, value in values.items():
        if shown not in text:
            raise AssertionError(f"{name} has no {shown!r} any more")
        text = text.replace(shown, str(value))
    return text


class Front:
    """One of the two, in front of the servers of two tunnels."""

    def __init__(self, test, kind, http_server, tcp_server=None, timeout="60s"):
        self.folder = test.make_folder()
        make_certificate(self.folder)
        self.plain, self.tls, self.tcp = free_port(), free_port(), free_port()
        started = getattr(self, f"_start_{kind}")(test, http_server, tcp_server, timeout)
        self.process = test.start(started, kind, lambda: is_listening(self.plain)
                                  and is_listening(self.tls), folder=self.folder)

    def _start_nginx(self, _test, http_server, _tcp_server, timeout):
        root = self.folder / "html"
        root.mkdir()
        (root / "index.html").write_text("the site")
        (self.folder / "culvert.conf").write_text(with_values("nginx.conf", {
            "listen 80;": f"listen 127.0.0.1:{self.plain};",
            "listen 443 ssl;": f"listen 127.0.0.1:{self.tls} ssl;",
            "/etc/ssl/private/edge.example.crt": self.folder / "crt",
            "/etc/ssl/private/edge.example.key": self.folder / "key",
            "/var/www/html": root,
            "proxy_pass http://127.0.0.1:7701": f"proxy_pass http://127.0.0.1:{http_server}",
            "_timeout 60s": f"_timeout {timeout}",
        }))
        site = nginx.http(self.folder, f"    include {self.folder}/culvert.conf;")
        return nginx.command(self.folder, site)

    def _start_haproxy(self, test, http_server, tcp_server, timeout):
        config = self.folder / "haproxy.cfg"
        config.write_text(with_values("haproxy.cfg", {
            "bind :80\n": f"bind 127.0.0.1:{self.plain}\n",
            "bind :443 ": f"bind 127.0.0.1:{self.tls} ",
            "bind :7700\n": f"bind 127.0.0.1:{self.tcp}\n",
            "/etc/haproxy/edge.example.pem": self.folder / "pem",
            "server site 127.0.0.1:8080": f"server site {test.service(site).target}",
            "server culvert 127.0.0.1:7701": f"server culvert 127.0.0.1:{http_server}",
            "server culvert 127.0.0.1:7702": f"server culvert 127.0.0.1:{tcp_server or 1}",
            "timeout client 60s": f"timeout client {timeout}",
            "timeout server 60s": f"timeout server {timeout}",
            "timeout tunnel 60s": f"timeout tunnel {timeout}",
        }))
        return [programs.find("haproxy", "haproxy"), "-db", "-f", config]


class TlsStub:
    """The TLS of a client: plain connections in, TLS to the port out."""

    def __init__(self, certificate, port):
        self._context = ssl.create_default_context(cafile=certificate)
        self._target = port
        self._listener = socket.create_server(("127.0.0.1", free_port()), backlog=64)
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                plain, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(plain,), daemon=True).start()

    def _serve(self, plain):
        try:
            with plain, self._context.wrap_socket(connect(self._target),
                                                  server_hostname=HOST) as tls:
                self._carry(plain, tls)
        except OSError:
            pass  # the end of either is the end of both: records say which ends are good

    @staticmethod
    def _carry(plain, tls):
        """One thread: a TLS connection must not be read and written at a time."""
        for end in (plain, tls):
            end.setblocking(False)
        waiting = {plain: b"", tls: b""}  # to be written there
        while True:
            readable, writable, _ = select.select(
                [end for end, other in ((plain, tls), (tls, plain)) if not waiting[other]],
                [end for end in waiting if waiting[end]], [], 60)
            for end, other in ((plain, tls), (tls, plain)):
                if end in writable:
                    try:
                        waiting[end] = waiting[end][end.send(waiting[end]):]
                    except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
                        pass
                if end in readable or end is tls and tls.pending() and not waiting[other]:
                    try:
                        piece = end.recv(1 << 16)
                    except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
                        continue
                    if not piece:
                        return
                    waiting[other] += piece

    def close(self):
        self._listener.close()


class FrontTest(case.SystemTest):
    def behind(self, kind, target, *, tls=False, timeout="60s", lines=()):
        """A tunnel whose client comes by the front."""
        tunnel = self.tunnel(WEBSOCKET, target, server=["proxy-address = 127.0.0.1", *lines],
                             client=lines)
        front = Front(self, kind, tunnel.server_port, timeout=timeout)
        port = front.plain
        if tls:
            stub = TlsStub(front.folder / "crt", front.tls)
            self.addCleanup(stub.close)
            port = stub.port
        self.lead(tunnel, f"ws://127.0.0.1:{port}{PATH}")
        return tunnel, front

    def lead(self, tunnel, url):
        """Has the client go that way."""
        tunnel.replace_client(lambda text: text.replace(
            f"connect = {tunnel.server_url()}", f"connect = {url}"))


class Sites(FrontTest):
    @case.for_kinds(*FRONTS)
    def test_an_ordinary_site_and_nothing_else(self, kind):
        tunnel, front = self.behind(kind, self.service(echo).target)
        context = ssl.create_default_context(cafile=front.folder / "crt")
        for tls in (False, True):
            for path, status in (("/", "200"), (PATH, "404" if kind == "nginx" else "200")):
                with self.subTest(tls=tls, path=path):
                    visitor = connect(front.tls if tls else front.plain)
                    if tls:
                        visitor = context.wrap_socket(visitor, server_hostname=HOST)
                    with visitor:
                        visitor.sendall(f"GET {path} HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode())
                        self.assertIn(f" {status} ", read_head(visitor)[0])
        with tunnel.connect() as application:
            application.sendall(b"by the tunnel")
            self.assertEqual(read_exactly(application, 13), b"by the tunnel")


def variants():
    return [(kind, tls) for kind in FRONTS for tls in (False, True)]


class Tunnels(FrontTest):
    def each(self, try_one):
        for kind, tls in variants():
            with self.subTest(kind=kind, tls=tls):
                try_one(kind, tls)

    def test_much_both_ways(self):
        def try_one(kind, tls):
            tunnel, _ = self.behind(kind, self.service(echo).target, tls=tls)
            self.send_and_compare(tunnel, random_bytes(12 * MIB, f"{kind} {tls}"))
            tunnel.server.wait_for_log("service it: ended; ")

        self.each(try_one)

    def send_and_compare(self, tunnel, content):
        with tunnel.connect() as application:
            sending = Background(self.say, application, content)
            got = read_until_end(application, sending=sending)
        self.assertEqual(got.end, CLEAN)
        self.assert_same_bytes(got.data, content)

    @staticmethod
    def say(application, content):
        application.sendall(content)
        application.shutdown(socket.SHUT_WR)

    def test_half_closes_resets_and_cuts(self):
        def try_one(kind, tls):
            backend = self.backend()
            tunnel, front = self.behind(kind, backend.target, tls=tls)
            for first in (0, 1):
                near, far = self.pair(tunnel, backend, first)
                self.say(near, b"my last")
                self.assertEqual(read_until_end(far), Received(b"my last", CLEAN))
                self.say(far, b"and mine")
                self.assertEqual(read_until_end(near), Received(b"and mine", CLEAN))
            for first in (0, 1):
                near, far = self.pair(tunnel, backend, first)
                reset(near)
                self.assertEqual(read_until_end(far), Received(b"", RESET))
            ends = self.pair(tunnel, backend, 0)
            front.process.kill()
            for end in ends:
                self.assertEqual(read_until_end(end), Received(b"", RESET))

        self.each(try_one)

    @staticmethod
    def pair(tunnel, backend, first):
        ends = tunnel.open(backend)
        return ends[first], ends[1 - first]

    def test_quiet_connections(self):
        """A front that cuts what is quiet, in a tenth of the usual time: keepalives come before
        that, and where they don't, a cut is a reset."""
        def try_one(kind, kept):
            backend = self.backend()
            keepalive = "5s" if kept else "60s"
            tunnel, _ = self.behind(kind, backend.target, timeout="7s",
                                    lines=[f"keepalive = {keepalive}"])
            application, service = tunnel.open(backend)
            if not kept:
                for end in (application, service):
                    self.assertEqual(read_until_end(end), Received(b"", RESET))
                return
            time.sleep(16)
            application.sendall(b"still")
            self.assertEqual(read_exactly(service, 5), b"still")
            self.say(service, b"here")
            self.assertEqual(read_until_end(application), Received(b"here", CLEAN))

        together({f"{kind}, kept: {kept}": lambda kind=kind, kept=kept: try_one(kind, kept)
                  for kind in FRONTS for kept in (True, False)})

    def test_plain_tcp_by_haproxy(self):
        backend = self.backend()
        tunnel = self.tunnel(TCP, backend.target, server=["proxy-address = 127.0.0.1"])
        front = Front(self, "haproxy", 1, tunnel.server_port)
        self.lead(tunnel, f"tcp://127.0.0.1:{front.tcp}")
        for first in (0, 1):
            near, far = self.pair(tunnel, backend, first)
            self.say(near, b"my last")
            self.assertEqual(read_until_end(far), Received(b"my last", CLEAN))
            self.say(far, bytes(4 * MIB))
            self.assertEqual(read_until_end(near), Received(bytes(4 * MIB), CLEAN))
        ends = self.pair(tunnel, backend, 0)
        front.process.kill()
        for end in ends:
            self.assertEqual(read_until_end(end), Received(b"", RESET))


if __name__ == "__main__":
    case.main()
