"""The commands: what they print, what they return, and what they never print."""

import os
import re
import stat
import subprocess

from support import case, programs
from support.backends import echo
from support.ports import free_port, is_listening
from support.tunnel import FOUR_KINDS, TCP, WEBSOCKET, make_keys
from support.waiting import until

HEX_KEY = re.compile(r"[0-9a-f]{64}")


class CommandLine(case.SystemTest):
    def setUp(self):
        super().setUp()
        self.folder = self.make_folder()

    def culvert(self, *words, status=0):
        """Runs a command; returns stdout and stderr."""
        command = [programs.culvert(), *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, cwd=self.folder)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout, done.stderr


class Words(CommandLine):
    def test_version(self):
        for word in ("version", "--version"):
            out, _ = self.culvert(word)
            self.assertRegex(out, r"^culvert \d+\.\d+")

    def test_help_names_every_command(self):
        for word in ("help", "--help", "-h"):
            out, _ = self.culvert(word)
            for command in ("run", "check", "keygen psk", "keygen static", "pubkey", "probe", "pipe",
                            "version", "help"):
                self.assertRegex(out, rf"(?m)^ *culvert {command}\b")

    def test_help_names_every_key(self):
        out, _ = self.culvert("help", "config")
        for key in ("threads", "listen", "connect", "service", "psk", "identity", "server-key",
                    "clients", "keepalive", "dead-peer", "clock-skew", "max-unproven"):
            self.assertRegex(out, rf"(?m)^ *{key} = ")

    def test_wrong_usage(self):
        for words in ([], ["frobnicate"], ["run"], ["run", "a", "b"], ["check"], ["keygen"],
                      ["keygen", "rsa", "file"], ["keygen", "psk"], ["pubkey"], ["probe", "file"]):
            with self.subTest(words):
                out, complaint = self.culvert(*words, status=2)
                self.assertEqual(out, "")
                self.assertIn("help", complaint) if words[:2] != ["keygen", "rsa"] else None
                self.assertNotEqual(complaint, "")


MISTAKES = """\
[daemon]
thraeds = 2

[server.edge]
listen = 127.0.0.1:70000
carrier = udp
psk = missing.psk
service = redis 127.0.0.1:80x
keepalive = 10 fortnights
max-connections = 1e9
no equals sign
listen = 127.0.0.1:7700

[sever.other]

[client.redis]
listen = 127.0.0.1:7701
connect = http://127.0.0.1:7700
psk = edge.psk
dead-peer = 1s
"""
LINES_WITH_MISTAKES = [2, 5, 6, 7, 8, 9, 10, 11, 12, 14, 18, 20]


class Configuration(CommandLine):
    def test_every_mistake_is_named_with_its_line(self):
        self.culvert("keygen", "psk", "edge.psk")
        file = self.folder / "bad.conf"
        file.write_text(MISTAKES)
        for command in ("check", "run"):
            with self.subTest(command):
                out, complaint = self.culvert(command, file, status=2)
                told = re.findall(rf"(?m)^{re.escape(str(file))}:(\d+): (.+)$", out + complaint)
                self.assertEqual(sorted({int(line) for line, _ in told}), LINES_WITH_MISTAKES)
                self.assertIn("did you mean 'threads'?", told[0][1])

    def test_a_good_file(self):
        self.culvert("keygen", "psk", "edge.psk")
        file = self.folder / "good.conf"
        file.write_text("[server.s]\nlisten = 7700\npsk = edge.psk\nservice = a 127.0.0.1:1\n")
        self.culvert("check", file)

    def test_no_key_no_start(self):
        file = self.folder / "keyless.conf"
        file.write_text("[server.s]\nlisten = 7700\nservice = a 127.0.0.1:1\n")
        for command in ("check", "run"):
            _, complaint = self.culvert(command, file, status=2)
            self.assertIn("no key", complaint)

    def test_files_that_are_none(self):
        (self.folder / "empty.conf").write_text("")
        for name in ("missing.conf", "empty.conf", "."):
            for command in ("check", "run"):
                with self.subTest(command, file=name):
                    _, complaint = self.culvert(command, name, status=2)
                    self.assertNotEqual(complaint, "")


class LogLevels(CommandLine):
    def log_of(self, level, **environment):
        """What a daemon says that only starts and stops."""
        port = free_port()
        file = self.folder / "levels.conf"
        file.write_text(f"[daemon]\nlog-level = {level}\n"
                        f"[server.s]\nlisten = {port}\npsk = edge.psk\nservice = a 127.0.0.1:1\n")
        with subprocess.Popen([programs.culvert(), "run", file], stderr=subprocess.PIPE,
                              text=True, env=os.environ | environment) as daemon:
            try:
                until(lambda: is_listening(port), 60, "the daemon listens")
            finally:
                daemon.terminate()
            _, log = daemon.communicate(timeout=60)
        self.assertEqual(daemon.returncode, 0, log)
        return log

    def test_log_levels(self):
        self.culvert("keygen", "psk", "edge.psk")
        for level in ("debug", "info"):
            self.assertIn("listening on", self.log_of(level))
        for level in ("warning", "error"):
            self.assertNotIn("listening on", self.log_of(level))

    def test_a_kernel_that_is_not_there(self):
        self.culvert("keygen", "psk", "edge.psk")
        log = self.log_of("debug", CULVERT_KERNEL_KECCAK="abacus")
        self.assertRegex(log, "abacus no kernel of that name; using ")


class KeyFiles(CommandLine):
    def test_key_files_are_private(self):
        for kind in ("psk", "static"):
            self.culvert("keygen", kind, kind)
            mode = stat.S_IMODE((self.folder / kind).stat().st_mode)
            self.assertEqual(mode, 0o600)

    def test_a_key_is_never_overwritten(self):
        for kind in ("psk", "static"):
            self.culvert("keygen", kind, kind)
            content = (self.folder / kind).read_text()
            out, complaint = self.culvert("keygen", kind, kind, status=2)
            self.assertEqual(out, "")
            self.assertIn("exists already", complaint)
            self.assertEqual((self.folder / kind).read_text(), content)

    def test_the_public_key_is_printed(self):
        out, _ = self.culvert("keygen", "static", "key")
        self.assertRegex(out, r"^[0-9a-f]{64}\n$")
        self.assertEqual(self.culvert("pubkey", "key")[0], out)
        self.assertNotEqual((self.folder / "key").read_text().strip(), out.strip())

    def test_no_two_keys_are_alike(self):
        keys = set()
        for number in range(20):
            self.culvert("keygen", "psk", f"psk-{number}")
            keys.add((self.folder / f"psk-{number}").read_text())
        self.assertEqual(len(keys), 20)

    def test_no_secret_is_printed(self):
        printed = "".join(self.culvert("keygen", "psk", "psk"))
        printed += "".join(self.culvert("keygen", "static", "key"))
        printed += "".join(self.culvert("pubkey", "key"))
        # A secret in the wrong place, or of the wrong length, is no reason to show it either.
        for name in ("psk", "key"):
            secret = (self.folder / name).read_text().strip()
            (self.folder / "short").write_text(secret[:-1])
            (self.folder / "odd").write_text(secret[:-1] + "x")
            (self.folder / "open").write_text(secret)
            (self.folder / "open").chmod(0o644)
            for file in ("short", "odd", "open"):
                if file != "open":
                    (self.folder / file).chmod(0o600)
                config = self.folder / "culvert.conf"
                config.write_text(f"[client.c]\nlisten = 1\nconnect = tcp://h:1\npsk = {file}\n")
                printed += "".join(self.culvert("check", config, status=2))
                printed += "".join(self.culvert("pubkey", file, status=2))
            self.assertNotIn(secret[:32], printed)


class Probe(CommandLine):
    def probe(self, tunnel, status, section="client.app"):
        file = tunnel.folder / "client.conf"
        out, complaint = self.culvert("probe", file, section, status=status)
        return out + complaint

    def changed(self, tunnel, old, new):
        file = tunnel.folder / "client.conf"
        text = file.read_text()
        self.assertIn(old, text)
        file.write_text(text.replace(old, new))

    @case.for_kinds(*FOUR_KINDS)
    def test_success(self, kind):
        service = self.service(echo)
        tunnel = self.tunnel(kind, service.target)
        for section in ("client.app", "app"):
            told = self.probe(tunnel, 0, section)
            for stage in ("name", "connect", "carrier", "handshake", "open"):
                self.assertRegex(told, rf"(?m)^{stage} +ok")

    def fails_at(self, stage, tunnel, *says):
        told = self.probe(tunnel, 1)
        self.assertRegex(told, rf"(?m)^{stage} +FAILED")
        for words in says:
            self.assertIn(words, told)
        self.assertRegex(told, r"(?m)^ +check ", "it gives no advice")

    def test_fails_at_the_name(self):
        tunnel = self.tunnel(TCP, "127.0.0.1:1")
        self.changed(tunnel, "tcp://127.0.0.1:", "tcp://no-such-host.invalid:")
        self.fails_at("name", tunnel, "no-such-host.invalid")

    def test_fails_at_the_connection(self):
        tunnel = self.tunnel(TCP, "127.0.0.1:1")
        self.changed(tunnel, f"127.0.0.1:{tunnel.server_port}", f"127.0.0.1:{free_port()}")
        self.fails_at("connect", tunnel, "Connection refused")

    def test_fails_at_the_carrier(self):
        tunnel = self.tunnel(WEBSOCKET, "127.0.0.1:1")
        self.changed(tunnel, "/tunnel", "/elsewhere")
        self.fails_at("carrier", tunnel, "404", "path")

    def test_fails_at_the_handshake(self):
        tunnel = self.tunnel(TCP, "127.0.0.1:1", client_keys=make_keys())
        self.fails_at("handshake", tunnel, "no valid answer", "psk")

    def test_fails_at_the_service(self):
        for backend, service, says in (("127.0.0.1:1", "it", "backend unreachable"),
                                       ("127.0.0.1:1", "other", "no such service")):
            with self.subTest(says):
                self.fails_at("open", self.tunnel(TCP, backend, service=service), says)

    def test_a_section_that_is_not_there(self):
        tunnel = self.tunnel(TCP, "127.0.0.1:1")
        self.assertIn("client.app", self.probe(tunnel, 2, "client.other"))


if __name__ == "__main__":
    case.main()
