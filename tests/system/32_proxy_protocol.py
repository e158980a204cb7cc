"""PROXY headers: out to backends that are bare sockets, nginx and HAProxy; in from HAProxy, from
nginx, and from bytes made by hand."""

import socket

from support import case, nginx, programs
from support.ports import free_port, is_listening
from support.proxy_headers import CLIENT_NAME, read_header
from support.streams import CLEAN, Received, connect, read_exactly, read_until_end
from support.tunnel import BOTH_CARRIERS, PATH, TCP, TCP_STATIC, WEBSOCKET, WEBSOCKET_STATIC
from support.waiting import until

PROXIED = ["proxy-address = 127.0.0.1", "proxy-protocol = required"]

SITE = """
    server {{
        listen 127.0.0.1:{port} proxy_protocol;
        location / {{
            return 200 "$proxy_protocol_addr:$proxy_protocol_port to $proxy_protocol_server_port";
        }}
    }}
"""
STREAM = """
stream {{
    server {{ listen 127.0.0.1:{port}; proxy_pass 127.0.0.1:{to}; proxy_protocol on; }}
}}
"""
HAPROXY = """
global
    log stderr local0
defaults
    timeout connect 5s
    timeout client 60s
    timeout server 60s
"""
HAPROXY_WEB = HAPROXY + """
frontend web
    mode http
    bind 127.0.0.1:{port} accept-proxy
    http-request return status 200 content-type text/plain lf-string "%ci:%cp to %fp"
"""
HAPROXY_TCP = HAPROXY + """
listen front
    mode tcp
    bind 127.0.0.1:{port}
    server edge 127.0.0.1:{to} {options}
"""


class Case(case.SystemTest):
    def nginx(self, blocks, modules=""):
        """`blocks` gets the folder and the port."""
        folder = self.make_folder()
        port = free_port()
        command = nginx.command(folder, blocks(folder, port), modules)
        self.start(command, "nginx", lambda: is_listening(port), folder=folder)
        return port

    def haproxy(self, form, **values):
        folder = self.make_folder()
        port = free_port()
        config = folder / "haproxy.cfg"
        config.write_text(form.format(port=port, **values))
        command = [programs.find("haproxy", "haproxy"), "-db", "-f", config]
        self.start(command, "haproxy", lambda: is_listening(port), folder=folder)
        return port

    def logged_peer(self, tunnel):
        """The address that the server's log has for the last connection."""
        line = tunnel.server.wait_for_log("service it: ")[-1]
        return line.split("server.edge: ")[1].split(" ")[0].rstrip(":")


class Out(Case):
    @case.for_kinds(TCP, WEBSOCKET, TCP_STATIC, WEBSOCKET_STATIC)
    def test_what_a_backend_hears(self, kind):
        for version in ("v1", "v2"):
            with self.subTest(version):
                backend = self.backend()
                tunnel = self.tunnel(kind, f"{backend.target} send-proxy={version}", confined=True)
                application, service = tunnel.open(backend)
                # Before the application has said a word: a service may speak first.
                header = read_header(service)
                self.assertEqual(header.source[0], "127.0.0.1")
                self.assertEqual(header.destination, ("127.0.0.1", tunnel.server_port))
                named = version == "v2" and "static" in kind.keys
                self.assertEqual(header.tlvs.get(CLIENT_NAME), b"alice" if named else None)
                application.sendall(b"question")
                self.assertEqual(read_exactly(service, 8), b"question")
                service.sendall(b"answer")
                service.close()
                self.assertEqual(read_until_end(application), Received(b"answer", CLEAN))
                application.close()
                self.assertEqual(self.logged_peer(tunnel),
                                 "{}:{}".format(*header.source))
                # It is no part of the stream.
                tunnel.server.wait_for_log("ended; 6 B to the tunnel, 8 B from it")

    def test_a_backend_behind_a_unix_socket(self):
        backend = self.backend(family=socket.AF_UNIX, address=f"{self.make_folder()}/socket")
        tunnel = self.tunnel(TCP, f"{backend.target} send-proxy=v2")
        _, service = tunnel.open(backend)
        self.assertEqual(read_header(service).destination, ("127.0.0.1", tunnel.server_port))

    def assert_web_server_believes(self, port, version):
        tunnel = self.tunnel(TCP, f"127.0.0.1:{port} send-proxy={version}")
        with connect(tunnel.client_port) as application:
            application.sendall(b"GET / HTTP/1.0\r\nHost: x\r\n\r\n")
            answer = read_until_end(application)
        self.assertEqual(answer.end, CLEAN)
        head, _, body = answer.data.decode().partition("\r\n\r\n")
        self.assertTrue(head.startswith("HTTP/1.1 200") or head.startswith("HTTP/1.0 200"), head)
        self.assertEqual(body.strip(), f"{self.logged_peer(tunnel)} to {tunnel.server_port}")

    def test_nginx_believes_it(self):
        port = self.nginx(lambda folder, port: nginx.http(folder, SITE.format(port=port)))
        for version in ("v1", "v2"):
            with self.subTest(version):
                self.assert_web_server_believes(port, version)

    def test_haproxy_believes_it(self):
        port = self.haproxy(HAPROXY_WEB)
        for version in ("v1", "v2"):
            with self.subTest(version):
                self.assert_web_server_believes(port, version)

    def test_checks_are_no_connections(self):
        """LOCAL, or with the first version an ordinary header, and an end in good order."""
        for version in ("v1", "v2"):
            with self.subTest(version):
                backend = self.backend()
                tunnel = self.tunnel(TCP, f"{backend.target} send-proxy={version} check=1s")
                check = backend.accept()
                header = read_header(check)
                self.assertEqual(header.source is None, version == "v2")
                self.assertEqual(read_until_end(check), Received(b"", CLEAN))
                check.close()
                self.assertEqual(tunnel.server.log_lines("service it"), [])


class In(Case):
    def through(self, kind, front, **options):
        """A tunnel whose client goes by way of a proxy that `front(port)` starts."""
        backend = self.backend()
        tunnel = self.tunnel(kind, f"{backend.target} send-proxy=v2", server=PROXIED, **options)
        tunnel.front = front(tunnel.server_port)
        tunnel.replace_client(lambda text: text.replace(f"127.0.0.1:{tunnel.server_port}",
                                                        f"127.0.0.1:{tunnel.front}"))
        return tunnel, backend

    def assert_known_by_header(self, tunnel, backend):
        application, service = tunnel.open(backend)
        header = read_header(service)
        # Where the client went to is the proxy's port: only the header could tell.
        self.assertEqual(header.destination, ("127.0.0.1", tunnel.front))
        application.sendall(b"question")
        self.assertEqual(read_exactly(service, 8), b"question")
        service.close()
        self.assertEqual(read_until_end(application), Received(b"", CLEAN))
        application.close()
        self.assertEqual(self.logged_peer(tunnel), "{}:{}".format(*header.source))

    @case.for_kinds(*BOTH_CARRIERS)
    def test_from_haproxy(self, kind):
        for options in ("send-proxy", "send-proxy-v2", "send-proxy-v2 proxy-v2-options crc32c"):
            with self.subTest(options):
                tunnel, backend = self.through(
                    kind, lambda to, o=options: self.haproxy(HAPROXY_TCP, to=to, options=o))
                self.assert_known_by_header(tunnel, backend)

    def test_from_nginx(self):
        module = "load_module /usr/lib/nginx/modules/ngx_stream_module.so;"
        tunnel, backend = self.through(TCP, lambda to: self.nginx(
            lambda _, port: STREAM.format(port=port, to=to), module))
        self.assert_known_by_header(tunnel, backend)

    @case.for_kinds(*BOTH_CARRIERS)
    def test_checks_of_haproxy_are_no_strangers(self, kind):
        for options in ("send-proxy-v2 check inter 100", "send-proxy check inter 100"):
            with self.subTest(options):
                tunnel, backend = self.through(
                    kind, lambda to, o=options: self.haproxy(HAPROXY_TCP, to=to, options=o),
                    daemon=["log-level = debug"])
                until(lambda: len(tunnel.server.log_lines(": handshake failed")) >= 3, 10,
                      "checks have come")
                self.assert_known_by_header(tunnel, backend)
                self.assertEqual(tunnel.server.log_lines("no session: "), [])

    def test_without_a_good_header_there_is_silence(self):
        for kind in BOTH_CARRIERS:
            tunnel = self.tunnel(kind, "127.0.0.1:1", server=[*PROXIED, "handshake-timeout = 1s"])
            with self.subTest(str(kind)):
                request = f"GET {PATH} HTTP/1.1\r\nHost: x\r\n\r\n".encode()
                with connect(tunnel.server_port) as bare, connect(tunnel.server_port) as line:
                    bare.sendall(request)
                    line.sendall(b"PROXY TCP4 192.0.2.7 192.0.2.9 1 99999\r\n" + request)
                    for stranger in (bare, line):
                        self.assertEqual(read_until_end(stranger, 25), Received(b"", CLEAN))
                tunnel.server.wait_for_log("no session: no valid PROXY header: it is no header")
                tunnel.server.wait_for_log(
                    "no session: no valid PROXY header: its addresses are no addresses")

    def test_a_header_in_single_bytes_names_the_stranger(self):
        tunnel = self.tunnel(WEBSOCKET, "127.0.0.1:1", server=PROXIED)
        with connect(tunnel.server_port) as stranger:
            for byte in b"PROXY TCP6 2001:db8::7 2001:db8::9 56324 443\r\n":
                stranger.sendall(bytes([byte]))
            stranger.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            self.assertIn(b" 404 ", read_until_end(stranger).data)
        tunnel.server.wait_for_log(r"server.edge: \[2001:db8::7\]:56324: no session: no WebSocket")


if __name__ == "__main__":
    case.main()
