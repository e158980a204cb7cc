"""Clients by name: who they are, which services they may use, how many connections they may have."""

import os
import socket
import subprocess
import unittest

from support import case, derivation, memory, programs
from support.backends import echo, say
from support.streams import RESET, Received, read_exactly, read_until_end
from support.team import Team
from support.tunnel import TCP, TCP_STATIC, WEBSOCKET, WEBSOCKET_STATIC
from support.waiting import together, until

NOTHING_BUT_A_RESET = Received(b"", RESET)
KINDS = (TCP, WEBSOCKET, TCP_STATIC, WEBSOCKET_STATIC)


class ClientsTest(case.SystemTest):
    def team(self, kind, members, services=None, **options):
        services = services or {"main": self.service(echo).target}
        return Team(self, kind, services, members, **options)

    def assert_echo(self, application, word=b"hello"):
        application.sendall(word)
        self.assertEqual(read_exactly(application, len(word)), word)

    def assert_refused(self, team, name, service=None):
        application = team.connect(name, service)
        self.assertEqual(read_until_end(application), NOTHING_BUT_A_RESET)


class Names(ClientsTest):
    @case.for_kinds(*KINDS)
    def test_stand_in_the_line_of_each_session(self, kind):
        team = self.team(kind, {"alice": "", "bob@home": "", "carol": ""})
        for name in ("carol", "alice", "bob@home"):
            with team.connect(name) as application:
                self.assert_echo(application)
            self.assert_one_log_line(
                team.server, rf"server.team: 127\.0\.0\.1:\d+ client {name} service \(default\): ended")

    @case.for_kinds(TCP, WEBSOCKET)
    def test_as_many_psks_as_there_may_be(self, kind):
        names = [f"client-{number}" for number in range(16)]
        team = self.team(kind, dict.fromkeys(names, ""))

        def use(name):
            with team.connect(name) as application:
                self.assert_echo(application)
            team.server.wait_for_log(f"client {name} service", 10)

        together({name: lambda name=name: use(name) for name in names})

    def test_with_a_pool_each_psk_has_its_own_waiting_sessions(self):
        team = self.team(TCP, {"alice": "", "bob": ""}, client=["pool = 2"],
                         server=["max-waiting = 4"])  # two sections of each
        for name in ("alice", "bob"):
            for _ in range(5):
                with team.connect(name, "main") as application:
                    self.assert_echo(application)
        self.assertEqual(team.server.log_lines("too many sessions of this key"), [])

    @unittest.skipUnless(os.geteuid() == 0,
                         "only root may look into a daemon that is not dumpable")
    def test_the_psks_of_a_list_are_nowhere_but_in_locked_memory(self):
        team = self.team(TCP, {"alice": "", "bob": "rate=1G"})
        with team.connect("bob") as application:
            self.assert_echo(application)
            psks = {name: team.psk_of(name) for name in ("alice", "bob")}
            nowhere = {f"{name} as {form}": bytes_of(psk) for name, psk in psks.items()
                       for form, bytes_of in (("hex", str.encode), ("bytes", bytes.fromhex))}
            starts = {f"start of {name}": derivation.start_state(bytes.fromhex(psk))
                      for name, psk in psks.items()}
            found = memory.where(team.server.pid, {
                "control": derivation.start_hash(), **nowhere, **starts})
            self.assertTrue(found["control"], "the search finds nothing at all")
            for name in nowhere:
                self.assertEqual([str(place) for place in found[name]], [], name)
            for name in starts:
                self.assertTrue(found[name], f"{name} is not there")
                self.assertTrue(all(place.guarded for place in found[name]), name)


class Rights(ClientsTest):
    @case.for_kinds(*KINDS)
    def test_a_client_reaches_its_services_and_no_others(self, kind):
        services = {"main": self.service(say(b"main")).target,
                    "web": self.service(say(b"web")).target}
        team = self.team(kind, {"alice": "", "bob": "services=web"}, services,
                         asks=["main", "web", "nowhere"])
        for name, service, answer in (("alice", None, b"main"), ("alice", "main", b"main"),
                                      ("alice", "web", b"web"), ("bob", "web", b"web")):
            self.assertEqual(read_exactly(team.connect(name, service), len(answer)), answer)
        # The default is the first service, whoever asks.
        for service in (None, "main", "nowhere"):
            self.assert_refused(team, "bob", service)
        # His own log can't tell a forbidden service from one that there is not.
        for service in ("main", "nowhere"):
            team.client.wait_for_log(
                rf"client.bob-{service}: .*: ended by the other end: "
                r"no such service, or not for this client; 0 B")
        team.server.wait_for_log(r"client bob service main: service refused: not for this client")
        team.server.wait_for_log(r"client bob service nowhere: service refused: there is no such")

    @case.for_kinds(*KINDS)
    def test_so_many_connections_of_a_client(self, kind):
        team = self.team(kind, {"alice": "max-connections=3", "bob": ""},
                         daemon=["threads = 2"])
        three = [team.connect("alice") for _ in range(3)]
        for application in three:
            self.assert_echo(application)
        for _ in range(10):
            self.assert_refused(team, "alice")
        others = [team.connect("bob") for _ in range(6)]
        for application in [*others, *three]:
            self.assert_echo(application)
        team.server.wait_for_log(
            "client alice: limit of connections reached: those of this client")

        three.pop().close()

        def works_again():
            try:
                with team.connect("alice") as application:
                    self.assert_echo(application)
            except (ConnectionResetError, AssertionError):
                return False
            return True

        until(works_again, 5, "a place is free again")

    def test_however_many_come_at_once_so_many_get_in(self):
        team = self.team(TCP, {"alice": "max-connections=5"}, daemon=["threads = 4"])

        def knock():
            application = team.connect("alice")
            try:
                self.assert_echo(application)
            except (ConnectionResetError, BrokenPipeError):
                application.close()
                return None
            return application

        for _ in range(3):
            inside = [application for application
                      in together({f"{n}": knock for n in range(40)}).values() if application]
            self.assertEqual(len(inside), 5)
            before = len(team.server.log_lines("client alice .*: ended"))
            for application in inside:
                application.close()
            until(lambda b=before: len(team.server.log_lines("client alice .*: ended")) == b + 5,
                  10, "their places are free")


class Lists(ClientsTest):
    """What `culvert check` and `culvert run` say of lists that are no good."""

    def check(self, folder, lines, files):
        for name, text in files.items():
            (folder / name).write_text(text)
            (folder / name).chmod(0o600)
        (folder / "t.conf").write_text("\n".join(
            ["[server.team]", "listen = 127.0.0.1:7700", "service = web 127.0.0.1:80", *lines, ""]))
        done = subprocess.run([programs.culvert(), "check", "t.conf"], cwd=folder, text=True,
                              capture_output=True, check=False)
        return done.returncode, (done.stdout + done.stderr).splitlines()

    def test_mistakes_have_file_and_line_and_show_no_key(self):
        one, two = "1" * 64, "2" * 64
        status, said = self.check(self.make_folder(), ["psks = team.psk"], {
            "team.psk": f"a {one} services=wep\n# b\nc {two} rate=1M rate=2M\n{one} d\n"})
        self.assertEqual(status, 2)
        self.assertEqual(said, [
            "team.psk:3: rate stands there twice",
            "team.psk:4: the name is a key: a line is NAME PSK",
            "team.psk:1: services: [server.team] has no service 'wep', did you mean 'web'?",
        ])

    def test_a_list_that_everyone_may_read(self):
        folder = self.make_folder()
        lines, files = ["psks = team.psk"], {"team.psk": f"a {'1' * 64}\n"}
        self.assertEqual(self.check(folder, lines, files)[0], 0)
        (folder / "team.psk").chmod(0o644)
        done = subprocess.run([programs.culvert(), "check", "t.conf"], cwd=folder, text=True,
                              capture_output=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("team.psk: is open to everyone (mode 0644): chmod 600 it",
                      done.stdout + done.stderr)

    def test_strangers_get_no_byte_with_a_list_of_psks(self):
        team = self.team(TCP, {"alice": "", "bob": ""})
        with socket.create_connection(("127.0.0.1", team.server_port), timeout=20) as stranger:
            stranger.sendall(os.urandom(300))
            stranger.shutdown(socket.SHUT_WR)
            self.assertEqual(stranger.recv(1), b"")
        team.server.wait_for_log("no session: wrong key or not a culvert peer")


if __name__ == "__main__":
    case.main()
