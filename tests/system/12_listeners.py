"""Where a daemon listens and what it connects to: families, unix sockets, names."""

import grp
import os
import pwd
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
        self.assertRegex(daemon.log(), r"cannot listen on unix:.*echo\.sock: Address already in use: "
                                       "another process, or another section, has this place")
        with self.unix_connect(folder / "echo.sock") as application:
            self.assert_echo(application)

    def client_on(self, path, *lines, daemon=(), status=None, **options):
        """A client daemon with that unix socket; with a status, one that does not start."""
        file = self.make_folder() / "culvert.conf"
        file.write_text("\n".join(["[daemon]", *daemon, "[client.c]", f"listen = unix:{path}",
                                   "connect = tcp://127.0.0.1:1",
                                   f"psk = {shared_keys().folder}/edge.psk", *lines, ""]))
        daemon = self.start_daemon(file, "culvert", [], **options)
        if status is None:
            daemon.wait_for_log("ready")
        else:
            self.assertEqual(daemon.wait(10), status, daemon.log())
        return daemon

    def test_what_is_no_socket_is_left_alone(self):
        folder = self.make_folder()
        (folder / "file").write_text("precious")
        (folder / "folder").mkdir()
        (folder / "link").symlink_to("file")
        (folder / "dangling").symlink_to("nothing")
        for name in ("file", "folder", "link", "dangling"):
            with self.subTest(name):
                daemon = self.client_on(folder / name, status=2)
                self.assertIn("something that is no socket is there", daemon.log())
        self.assertEqual((folder / "file").read_text(), "precious")
        self.assertEqual(sorted(path.name for path in folder.iterdir()),
                         ["dangling", "file", "folder", "link"])

    def test_a_link_to_a_leftover_is_left_alone(self):
        folder = self.make_folder()
        with socket.socket(socket.AF_UNIX) as dead:
            dead.bind(str(folder / "dead"))
        (folder / "link").symlink_to("dead")
        self.client_on(folder / "link", status=2)
        self.assertTrue((folder / "link").is_symlink())
        self.assertTrue((folder / "dead").exists())

    def test_the_mode_of_a_unix_socket(self):
        path = self.make_folder() / "s"
        for umask in (0o000, 0o077):
            for mode in ("0600", "0666"):
                prefix = ["/bin/sh", "-c", f'umask {umask:o}; exec "$@"', "sh"]
                daemon = self.client_on(path, f"listen-mode = {mode}", prefix=prefix)
                self.assertEqual(stat.S_IMODE(path.stat().st_mode), int(mode, 8))
                daemon.stop()

    def test_the_owner_of_a_unix_socket(self):
        if os.geteuid() != 0:
            self.refused_to_give()
            return
        folder = self.make_folder()
        folder.chmod(0o755)
        nobody, daemon_user = pwd.getpwnam("nobody"), pwd.getpwnam("daemon")
        daemon_group = grp.getgrnam("daemon").gr_gid
        for owner, mode, user, expected in (
            ("nobody", None, None, (nobody.pw_uid, 0, 0o660)),
            ("nobody:daemon", "0620", None, (nobody.pw_uid, daemon_group, 0o620)),
            (":daemon", None, None, (0, daemon_group, 0o660)),
            # With a user to become, what is not said is his.
            ("nobody", "0600", "daemon", (nobody.pw_uid, daemon_user.pw_gid, 0o600)),
            (":nogroup", None, "daemon", (daemon_user.pw_uid, grp.getgrnam("nogroup").gr_gid, 0o660)),
        ):
            with self.subTest(owner=owner, mode=mode, user=user):
                path = folder / "s"
                lines = [f"listen-owner = {owner}", *([f"listen-mode = {mode}"] if mode else [])]
                daemon = self.client_on(path, *lines, daemon=[f"user = {user}"] if user else [])
                about = path.stat()
                self.assertEqual((about.st_uid, about.st_gid, stat.S_IMODE(about.st_mode)), expected)
                daemon.stop()
                path.unlink(missing_ok=True)  # who may not write to the folder can't

    def refused_to_give(self):
        path = self.make_folder() / "s"
        daemon = self.client_on(path, "listen-owner = root", status=2)
        self.assertIn("cannot give unix:", daemon.log())
        self.assertFalse(path.exists())

    def test_the_log_says_who_came_by_a_unix_socket(self):
        path = self.make_folder() / "s"
        daemon = self.client_on(path)
        self.unix_connect(path).close()
        daemon.wait_for_log(rf"client\.c: unix \(uid {os.getuid()}, pid {os.getpid()}\) service")

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
