"""Where a daemon listens and what it connects to: families, unix sockets, names."""

import socket
import stat

from support import case
from support.backends import echo
from support.ports import free_port
from support.streams import connect, read_exactly
from support.tunnel import BOTH_CARRIERS, TCP, shared_keys
from support.waiting import until


class Listeners(case.SystemTest):
    def assert_echo(self, application, word=b"hello"):
        application.sendall(word)
        self.assertEqual(read_exactly(application, len(word)), word)

    def run_sections(self, sections, ports, **options):
        """One daemon with these sections; psk is added to each."""
        file = self.make_folder() / "culvert.conf"
        psk = f"psk = {shared_keys().folder}/edge.psk"
        file.write_text("\n".join(["[daemon]", "drain = 1s", *(
            "\n".join([*section, psk]) for section in sections), ""]))
        return self.start_daemon(file, "culvert", ports, **options)

    def test_both_families_on_one_port(self):
        service = self.service(echo)
        tunnel, plain = free_port(), free_port()
        daemon = self.run_sections([
            ["[server.four]", f"listen = 0.0.0.0:{tunnel}", f"service = it {service.target}"],
            ["[server.six]", f"listen = [::]:{tunnel}", f"service = it {service.target}"],
            ["[client.four]", f"listen = 0.0.0.0:{plain}", f"connect = tcp://[::1]:{tunnel}"],
            ["[client.six]", f"listen = [::]:{plain}", f"connect = tcp://127.0.0.1:{tunnel}"],
        ], [tunnel, plain])
        for host in ("127.0.0.1", "::1"):
            with connect(plain, host) as application:
                self.assert_echo(application)
        until(lambda: "[::1]:" in daemon.log(), 5, "a peer with an IPv6 address is logged")
        self.assertNotIn("::ffff:", daemon.log())

    def test_ipv6_alone_does_not_take_ipv4(self):
        service = self.service(echo)
        tunnel, plain = free_port(), free_port()
        self.run_sections([
            ["[server.six]", f"listen = [::]:{tunnel}", f"service = it {service.target}"],
            ["[client.six]", f"listen = [::1]:{plain}", f"connect = tcp://[::1]:{tunnel}"],
        ], [tunnel, plain])
        with connect(plain, "::1") as application:
            self.assert_echo(application)
        for port in (tunnel, plain):
            with self.assertRaises(ConnectionRefusedError):
                connect(port, "127.0.0.1")

    def test_a_port_alone_listens_on_the_loopback(self):
        service = self.service(echo)
        tunnel, plain = free_port(), free_port()
        self.run_sections([
            ["[server.s]", f"listen = {tunnel}", f"service = it {service.target}"],
            ["[client.c]", f"listen = {plain}", f"connect = tcp://127.0.0.1:{tunnel}"],
        ], [tunnel, plain])
        with connect(plain) as application:
            self.assert_echo(application)
        with self.assertRaises(ConnectionRefusedError):
            connect(plain, "127.0.0.2")

    def test_a_port_that_is_taken(self):
        taken = socket.create_server(("127.0.0.1", free_port()))
        self.addCleanup(taken.close)
        port = taken.getsockname()[1]
        for section in (["[server.s]", "service = it 127.0.0.1:1"],
                        ["[client.c]", "connect = tcp://127.0.0.1:1"]):
            with self.subTest(section[0]):
                daemon = self.run_sections([[*section, f"listen = 127.0.0.1:{port}"]], [])
                self.assertEqual(daemon.wait(5), 2)
                self.assertRegex(daemon.log(), rf"cannot listen on 127\.0\.0\.1:{port}: .*in use")

    def test_unix_sockets(self):
        for kind in BOTH_CARRIERS:
            with self.subTest(kind):
                folder = self.make_folder()
                address = str(folder / "echo.sock")
                service = self.service(echo, family=socket.AF_UNIX, address=address)
                tunnel = self.tunnel(kind, service.target)
                path = folder / "plain.sock"
                tunnel.replace_client(lambda text: text.replace(
                    f"listen = 127.0.0.1:{tunnel.client_port}", f"listen = unix:{path}"), ports=[])
                until(path.exists, 5, "the socket is there")
                with self.unix_connect(path) as application:
                    self.assert_echo(application)
                    application.shutdown(socket.SHUT_WR)
                    self.assertEqual(application.recv(1), b"")

                self.assertTrue(stat.S_ISSOCK(path.stat().st_mode))
                tunnel.client.stop()
                self.assertFalse(path.exists(), "the socket file is left behind")

    def test_a_leftover_of_a_killed_daemon_is_replaced(self):
        tunnel = self.tunnel(TCP, self.service(echo).target)
        path = self.make_folder() / "plain.sock"

        def on_unix(text):
            return text.replace(f"listen = 127.0.0.1:{tunnel.client_port}", f"listen = unix:{path}")

        tunnel.replace_client(on_unix, ports=[])
        tunnel.client.wait_for_log("ready")
        tunnel.client.kill()
        self.assertTrue(path.exists())
        tunnel.replace_client(on_unix, ports=[])
        tunnel.client.wait_for_log("ready")
        with self.unix_connect(path) as application:
            self.assert_echo(application)

    def test_a_unix_socket_in_use_is_not_taken_away(self):
        folder = self.make_folder()
        service = self.service(echo, family=socket.AF_UNIX, address=str(folder / "echo.sock"))
        file = folder / "culvert.conf"
        file.write_text(f"[client.c]\nlisten = {service.target}\nconnect = tcp://127.0.0.1:1\n"
                        f"psk = {shared_keys().folder}/edge.psk\n")
        daemon = self.start_daemon(file, "culvert", [])
        self.assertEqual(daemon.wait(5), 2)
        self.assertIn("cannot listen on", daemon.log())
        with self.unix_connect(folder / "echo.sock") as application:
            self.assert_echo(application)

    def unix_connect(self, path):
        sock = socket.socket(socket.AF_UNIX)
        sock.settimeout(10)
        sock.connect(str(path))
        return sock

    def test_names_with_addresses_of_two_families(self):
        """Whatever `localhost` stands for first, the address where somebody listens is found."""
        for host, family in (("127.0.0.1", socket.AF_INET), ("::1", socket.AF_INET6)):
            with self.subTest(host):
                if host == "::1" and not self.localhost_has(family):
                    print("skipped: localhost has no IPv6 address on this machine")
                    continue
                service = self.service(echo, family=family, address=host)
                tunnel = self.tunnel(TCP, f"localhost:{service.port}")
                with tunnel.connect() as application:
                    self.assert_echo(application)

    @staticmethod
    def localhost_has(family):
        return any(found[0] == family for found in socket.getaddrinfo("localhost", 1))


if __name__ == "__main__":
    case.main()
