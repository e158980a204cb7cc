"""`culvert pipe`: one connection over stdin and stdout, for ssh and for scripts."""

import getpass
import hashlib
import os
import pathlib
import pty
import signal
import socket
import subprocess
import tty

from support import case, programs
from support.backends import echo, say
from support.ports import free_port, is_listening
from support.streams import (CLEAN, RESET, Background, Received, flood, random_bytes, read_exactly,
                             read_until_end, reset)
from support.tunnel import FOUR_KINDS, TCP, TCP_STATIC, WEBSOCKET, shared_keys
from support.waiting import together, until

MIB = 1 << 20


class PipeTest(case.SystemTest):
    def words(self, tunnel, *more, service=None):
        """The command line without a configuration file."""
        lines = shared_keys().client_lines(tunnel.kind.keys)
        keys = [word for line in lines
                for word in ("--" + line.split(" = ")[0], line.split(" = ")[1])]
        last = [] if service is None else [service]
        return [programs.culvert(), "pipe", "--connect", tunnel.server_url(), *keys, *more, *last]

    def start_pipe(self, words, **streams):
        """The running command; its stdin and stdout are pipes unless others are given."""
        options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, **streams}
        running = subprocess.Popen(list(map(str, words)), stderr=subprocess.PIPE, **options)
        self.addCleanup(self._end, running)
        return running

    @staticmethod
    def _end(running):
        if running.poll() is None:
            running.kill()
        for stream in (running.stdin, running.stdout, running.stderr):
            if stream:
                try:
                    stream.close()
                except BrokenPipeError:
                    pass
        running.wait(10)

    def assert_ends(self, running, status, complaint=None, seconds=30):
        self.assertEqual(running.wait(seconds), status)
        said = running.stderr.read().decode()
        if complaint is None:
            self.assertEqual(said, "")
        else:
            self.assertRegex(said, rf"\Aculvert: .*{complaint}.*\n\Z")  # one line

    def shell(self, script, **variables):
        """A script as people write them; its exit status, stdout and stderr."""
        done = subprocess.run(["bash", "-c", "set -o pipefail\n" + script], capture_output=True,
                              env={**os.environ, "CULVERT": programs.culvert(), **variables},
                              timeout=60, cwd=self.make_folder())
        return done.returncode, done.stdout, done.stderr.decode()


class Data(PipeTest):
    @case.for_kinds(*FOUR_KINDS)
    def test_much_both_ways_at_once(self, kind):
        tunnel = self.tunnel(kind, self.service(echo).target)
        content = random_bytes(24 * MIB + 1, str(kind))
        running = self.start_pipe(self.words(tunnel, service="it"))
        sending = Background(self.send_and_end, running.stdin, content)
        self.assert_same_bytes(running.stdout.read(), content)
        sending.join(20)
        self.assert_ends(running, 0)

    @staticmethod
    def send_and_end(stream, content):
        stream.write(content)
        stream.close()

    def test_files_and_the_section_of_a_file(self):
        tunnel = self.tunnel(TCP, self.service(echo).target)
        folder = self.make_folder()
        content = random_bytes(8 * MIB + 7, "file")
        (folder / "in").write_bytes(content)
        for section in ("app", "client.app"):
            with open(folder / "in", "rb") as source, open(folder / "out", "wb") as target:
                words = [programs.culvert(), "pipe", tunnel.folder / "client.conf", section]
                self.assert_ends(self.start_pipe(words, stdin=source, stdout=target), 0)
            self.assert_same_bytes((folder / "out").read_bytes(), content)

    def test_a_script_with_tar(self):
        tunnel = self.tunnel(WEBSOCKET, self.service(echo).target)
        folder = self.make_folder()
        (folder / "tree" / "below").mkdir(parents=True)
        for number in range(40):
            (folder / "tree" / "below" / f"{number}").write_bytes(random_bytes(70_000, number))
        status, _, complaint = self.shell(
            'mkdir out; tar -C "$FROM" -c tree | "$CULVERT" pipe "$FILE" app | tar -C out -x '
            '&& diff -r "$FROM/tree" out/tree',
            FROM=str(folder), FILE=str(tunnel.folder / "client.conf"))
        self.assertEqual((status, complaint), (0, ""))

    def test_nothing_at_all(self):
        tunnel = self.tunnel(TCP, self.service(echo).target)
        running = self.start_pipe(self.words(tunnel), stdin=subprocess.DEVNULL)
        self.assertEqual(running.stdout.read(), b"")
        self.assert_ends(running, 0)

    def test_stdin_is_closed(self):
        tunnel = self.tunnel(TCP, self.service(say(b"hello")).target)
        status, said, complaint = self.shell('"$CULVERT" pipe "$FILE" app <&-',
                                             FILE=str(tunnel.folder / "client.conf"))
        self.assertEqual((status, said, complaint), (0, b"hello", ""))

    def test_a_service_of_another_name(self):
        other = self.service(say(b"other"))
        tunnel = self.tunnel(TCP, self.service(say(b"first")).target,
                             server=[f"service = other {other.target}"])
        file = tunnel.folder / "client.conf"
        for words, answer in (([programs.culvert(), "pipe", file, "app"], b"first"),
                              ([programs.culvert(), "pipe", file, "app", "other"], b"other"),
                              (self.words(tunnel, service="other"), b"other"),
                              (self.words(tunnel), b"first")):
            running = self.start_pipe(words, stdin=subprocess.DEVNULL)
            self.assertEqual(running.stdout.read(), answer)
            self.assert_ends(running, 0)


class Ends(PipeTest):
    @case.for_kinds(TCP, WEBSOCKET)
    def test_half_close_by_stdin(self, kind):
        backend = self.backend()
        running = self.start_pipe(self.words(self.tunnel(kind, backend.target)))
        running.stdin.write(b"question")
        running.stdin.close()
        with backend.accept() as service:
            self.assertEqual(read_until_end(service), Received(b"question", CLEAN))
            service.sendall(b"answer")
            self.assertEqual(running.stdout.read(6), b"answer")
            self.assertIsNone(running.poll())
        self.assertEqual(running.stdout.read(), b"")
        self.assert_ends(running, 0)

    @case.for_kinds(TCP, WEBSOCKET)
    def test_half_close_by_the_service(self, kind):
        backend = self.backend()
        running = self.start_pipe(self.words(self.tunnel(kind, backend.target)))
        with backend.accept() as service:
            service.sendall(b"all I have")
            service.shutdown(socket.SHUT_WR)
            self.assertEqual(running.stdout.read(), b"all I have")  # to its end
            running.stdin.write(b"and I more")
            running.stdin.flush()
            self.assertEqual(read_exactly(service, 10), b"and I more")
            self.assertIsNone(running.poll())
            running.stdin.close()
            self.assertEqual(read_until_end(service), Received(b"", CLEAN))
        self.assert_ends(running, 0)

    def test_a_cut_is_not_an_end(self):
        """Whatever ends the tunnel early: bytes that came whole, and a status that says so."""
        for name, cut in (("fin", lambda link: link.finish()), ("rst", lambda link: link.reset())):
            with self.subTest(name):
                backend = self.backend()
                tunnel = self.tunnel(TCP, backend.target, relay=True)
                running = self.start_pipe(self.words(tunnel))
                service = backend.accept()
                service.sendall(b"a part")
                self.assertEqual(running.stdout.read(6), b"a part")
                cut(tunnel.relay.link())
                self.assertEqual(running.stdout.read(), b"")  # a pipe knows no other end
                self.assert_ends(running, 1, "tunnel connection lost")
                self.assertEqual(read_until_end(service).end, RESET)

    def test_a_changed_bit(self):
        backend = self.backend()
        tunnel = self.tunnel(TCP, backend.target, relay=True)
        running = self.start_pipe(self.words(tunnel))
        service = backend.accept()
        tunnel.relay.link().down.flip(ahead=30)
        service.sendall(bytes(1000))
        self.assertEqual(running.stdout.read(), b"")
        self.assert_ends(running, 1, "bad record")

    def test_a_service_that_resets(self):
        backend = self.backend()
        running = self.start_pipe(self.words(self.tunnel(TCP, backend.target)))
        service = backend.accept()
        service.sendall(b"then")
        self.assertEqual(running.stdout.read(4), b"then")
        reset(service)
        self.assert_ends(running, 1, "connection reset at the other end")

    def test_a_signal_is_not_an_end(self):
        backend = self.backend()
        running = self.start_pipe(self.words(self.tunnel(TCP, backend.target)))
        service = backend.accept()
        running.stdin.write(b"a part")
        running.stdin.flush()
        self.assertEqual(read_exactly(service, 6), b"a part")
        running.send_signal(signal.SIGTERM)
        self.assertEqual(running.wait(10), -signal.SIGTERM)
        self.assertEqual(read_until_end(service), Received(b"", RESET))

    def test_nobody_reads_stdout_any_more(self):
        backend = self.backend()
        running = self.start_pipe(self.words(self.tunnel(TCP, backend.target)))
        service = backend.accept()
        running.stdout.close()
        flooding = Background(flood, service)
        self.assert_ends(running, 1, "stdout: Broken pipe")
        self.assertTrue(flooding.was_reset(10))

    def test_head_in_a_script(self):
        tunnel = self.tunnel(TCP, self.service(flood).target)
        status, said, complaint = self.shell('"$CULVERT" pipe "$FILE" app </dev/null | head -c 100',
                                             FILE=str(tunnel.folder / "client.conf"))
        self.assertEqual((status, len(said)), (1, 100))
        self.assertEqual(complaint, "culvert: stdout: Broken pipe\n")

    def test_a_full_disk(self):
        tunnel = self.tunnel(TCP, self.service(say(b"some")).target)
        with open("/dev/full", "wb") as full:
            running = self.start_pipe(self.words(tunnel), stdin=subprocess.DEVNULL, stdout=full)
            self.assert_ends(running, 1, "stdout: No space left on device")

    def test_stdin_that_cannot_be_read(self):
        backend = self.backend()
        folder = os.open("/", os.O_RDONLY)
        self.addCleanup(os.close, folder)
        running = self.start_pipe(self.words(self.tunnel(TCP, backend.target)), stdin=folder)
        self.assert_ends(running, 1, "stdin: Is a directory")

    def test_failures_that_nobody_sees_on_stdout_end_the_command(self):
        """A tunnel that ends while stdout is full, and stays so."""
        backend = self.backend()
        tunnel = self.tunnel(TCP, backend.target, relay=True)
        # Nothing is read then: the loss is noticed when a keepalive is due.
        running = self.start_pipe([*self.words(tunnel), "--keepalive", "5s"])
        service = backend.accept()
        service.sendall(bytes(300_000))  # more than a pipe holds
        until(lambda: tunnel.relay.link().down.count > 300_000, 10, "the bytes are through")
        tunnel.relay.link().reset()
        self.assert_ends(running, 1, "tunnel connection lost", seconds=15)


class Streams(PipeTest):
    """What stdin and stdout may be."""

    def test_a_socket_for_both(self):
        for family in (socket.AF_UNIX, socket.AF_INET):
            for cut in (False, True):
                with self.subTest(family=family, cut=cut):
                    self.try_socket(family, cut)

    def try_socket(self, family, cut):
        backend = self.backend()
        tunnel = self.tunnel(TCP, backend.target, relay=True)
        ours, theirs = self.pair(family)
        running = self.start_pipe(self.words(tunnel), stdin=theirs, stdout=theirs)
        theirs.close()
        service = backend.accept()
        ours.sendall(b"up")
        self.assertEqual(read_exactly(service, 2), b"up")
        service.sendall(b"down")
        self.assertEqual(read_exactly(ours, 4), b"down")
        if cut:
            tunnel.relay.link().reset()
            self.assertEqual(read_until_end(ours).end, RESET if family == socket.AF_INET else CLEAN)
            self.assert_ends(running, 1, "tunnel connection lost")
            return
        service.shutdown(socket.SHUT_WR)
        self.assertEqual(read_until_end(ours), Received(b"", CLEAN))
        self.assertIsNone(running.poll())
        ours.sendall(b"more")
        ours.shutdown(socket.SHUT_WR)
        self.assertEqual(read_until_end(service), Received(b"more", CLEAN))
        self.assert_ends(running, 0)
        self.assertEqual(ours.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR), 0)  # no late reset

    def pair(self, family):
        if family == socket.AF_UNIX:
            pair = socket.socketpair()
        else:
            with socket.create_server(("127.0.0.1", free_port())) as listener:
                ours = socket.create_connection(listener.getsockname())
                pair = ours, listener.accept()[0]
        for one in pair:
            self.addCleanup(one.close)
        pair[0].settimeout(20)
        return pair

    def test_a_terminal(self):
        backend = self.backend()
        master, terminal = pty.openpty()
        tty.setraw(terminal)
        running = self.start_pipe(self.words(self.tunnel(TCP, backend.target)), stdin=terminal,
                                  stdout=terminal)
        os.close(terminal)
        self.addCleanup(os.close, master)
        service = backend.accept()
        os.write(master, b"typed\n")
        self.assertEqual(read_exactly(service, 6), b"typed\n")
        service.sendall(b"shown\n")
        self.assertEqual(os.read(master, 100), b"shown\n")
        service.close()
        os.write(master, b"too late\n")
        self.assert_ends(running, 1, "connection reset at the other end")

    def test_streams_that_somebody_has_made_non_blocking(self):
        tunnel = self.tunnel(TCP, self.service(echo).target)
        content = random_bytes(2 * MIB, "non-blocking")
        stdin, to_stdin = os.pipe2(os.O_CLOEXEC)
        from_stdout, stdout = os.pipe2(os.O_CLOEXEC)
        for shared in (stdin, stdout):
            os.set_blocking(shared, False)
        running = self.start_pipe(self.words(tunnel), stdin=stdin, stdout=stdout)
        os.close(stdin)
        os.close(stdout)
        with open(to_stdin, "wb") as sink, open(from_stdout, "rb") as source:
            sending = Background(Data.send_and_end, sink, content)
            self.assert_same_bytes(source.read(), content)
            sending.join(20)
        self.assert_ends(running, 0)

    def test_slow_readers_hold_back_writers(self):
        """Nobody reads, at either end: memory stays as it is, and nothing is lost."""
        backend = self.backend()
        tunnel = self.tunnel(TCP, backend.target)
        content = random_bytes(64 * MIB, "slow")
        running = self.start_pipe(self.words(tunnel))
        service = backend.accept()
        up = Background(Data.send_and_end, running.stdin, content)
        down = Background(self.say_all, service, content)
        settled = [0, 0]

        def stands_still():
            moved = self.read_and_written(running.pid)
            settled[0], settled[1] = moved, settled[1] + 1 if moved == settled[0] else 0
            return settled[1] > 20

        until(stands_still, 20, "nothing moves any more")
        self.assertLess(self.memory(running.pid), 24 * MIB)
        digests = together({
            "up": lambda: self.digest(lambda: service.recv(1 << 18)),
            "down": lambda: self.digest(lambda: running.stdout.read(1 << 18)),
        })
        self.assertEqual(set(digests.values()), {hashlib.sha256(content).hexdigest()})
        for sending in (up, down):
            sending.join(20)
        self.assert_ends(running, 0)

    @staticmethod
    def say_all(service, content):
        service.sendall(content)
        service.shutdown(socket.SHUT_WR)

    @staticmethod
    def digest(read):
        digest = hashlib.sha256()
        while piece := read():
            digest.update(piece)
        return digest.hexdigest()

    @staticmethod
    def status(pid, field):
        lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith(field + ":")).split()[1])

    def memory(self, pid):
        return self.status(pid, "VmRSS") * 1024

    def read_and_written(self, pid):
        return self.status(pid, "voluntary_ctxt_switches")

    def test_it_is_confined(self):
        backend = self.backend()
        running = self.start_pipe(self.words(self.tunnel(TCP, backend.target)))
        backend.accept().close()
        self.assertEqual(self.status(running.pid, "Seccomp"), 2)
        self.assertEqual(self.status(running.pid, "NoNewPrivs"), 1)


class Refusals(PipeTest):
    def refused(self, *words, status, complaint):
        done = subprocess.run([programs.culvert(), "pipe", *map(str, words)], capture_output=True,
                              text=True, timeout=30, stdin=subprocess.DEVNULL)
        self.assertEqual((done.returncode, done.stdout), (status, ""), done.stderr)
        self.assertRegex(done.stderr, complaint)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_wrong_words(self):
        psk = shared_keys().folder / "edge.psk"
        good = ("--connect", "tcp://127.0.0.1:1", "--psk", psk)
        for words, complaint in (
            ([], "pipe takes FILE SECTION"),
            (["file"], "pipe takes FILE SECTION"),
            (["a", "b", "c", "d"], "pipe takes FILE SECTION"),
            (["no-such-file", "app"], "no-such-file: No such file"),
            (["--psk", psk], "the command line lacks connect = tcp://"),
            (good[:2], "no key: the command line needs psk = FILE or identity = FILE"),
            ([*good, "--conect", "x"], "unknown key 'conect', did you mean 'connect'"),
            ([*good, "--listen", "1"], "'listen' is no key of the command line"),
            ([*good, "--psk", psk], "'psk' stands here again"),
            ([*good, "one", "two"], "'service' stands here again"),
            ([*good, "a b"], "'a b' is not a name"),
            ([*good, "--keepalive"], "keepalive: the value is missing"),
            ([*good, "--keepalive=2s"], "keepalive: '2s' is out of range"),
            ([*good, "--pool=4"], "'pool' is no key of the command line"),
            (["--connect=http://h:1", "--psk", psk], "connect: unknown scheme 'http'"),
            (["--connect=tcp://h:1", "--psk=missing"], "psk: missing: No such file"),
        ):
            with self.subTest(words):
                self.refused(*words, status=2, complaint=complaint)

    def test_a_section_that_is_not_there(self):
        tunnel = self.tunnel(TCP, "127.0.0.1:1")
        self.refused(tunnel.folder / "client.conf", "other", status=2,
                     complaint=r"has no section \[client.other\]; it has: client.app")
        self.refused(tunnel.folder / "client.conf", "app", "a:b", status=2,
                     complaint="'a:b' is not a name")

    def test_nobody_is_there(self):
        self.refused("--connect", f"tcp://127.0.0.1:{free_port()}",
                     "--psk", shared_keys().folder / "edge.psk", status=1,
                     complaint=r"^culvert: server unreachable: 127\.0\.0\.1:\d+: Connection refused")

    def test_services_that_are_not_there(self):
        tunnel = self.tunnel(TCP, f"127.0.0.1:{free_port()}")
        for service, complaint in (("it", "ended by the other end: backend unreachable"),
                                   ("other", "ended by the other end: no such service")):
            running = self.start_pipe(self.words(tunnel, service=service), stdin=subprocess.DEVNULL)
            self.assert_ends(running, 1, complaint)

    def test_a_wrong_key(self):
        tunnel = self.tunnel(TCP, "127.0.0.1:1", server=["handshake-timeout = 1s"])
        key = self.make_folder() / "other.psk"
        subprocess.run([programs.culvert(), "keygen", "psk", key], check=True, timeout=10)
        self.refused("--connect", tunnel.server_url(), "--psk", key, status=1,
                     complaint="^culvert: handshake failed: no valid answer: wrong key, wrong "
                               "address, clocks more than 120 s apart, or not a culvert server$")

    def test_the_key_of_another_realm(self):
        tunnel = self.tunnel(TCP, self.service(say(b"in")).target, server=["realm = production"],
                             client=["realm = production"])
        running = self.start_pipe(self.words(tunnel, "--realm", "production"),
                                  stdin=subprocess.DEVNULL)
        self.assertEqual(running.stdout.read(), b"in")
        self.assert_ends(running, 0)


SSHD = """
ListenAddress 127.0.0.1:{port}
HostKey {folder}/host
AuthorizedKeysFile {folder}/client.pub
PidFile none
StrictModes no
UsePAM {pam}
PermitRootLogin yes
PasswordAuthentication no
KbdInteractiveAuthentication no
"""


class Ssh(PipeTest):
    def test_proxy_command(self):
        folder = self.make_folder()
        folder.chmod(0o755)  # sshd reads the keys as the user who logs in
        port = self.start_sshd(folder)
        tunnel = self.tunnel(TCP_STATIC, f"127.0.0.1:{port}")
        command = " ".join(map(str, self.words(tunnel, service="it")))
        content = random_bytes(4 * MIB, "ssh")
        echoed = self.ssh(folder, command, "cat", input=content)
        self.assertEqual((echoed.returncode, echoed.stderr), (0, b""))
        self.assert_same_bytes(echoed.stdout, content)
        self.assertEqual(self.ssh(folder, command, "exit 7").returncode, 7)
        tunnel.server.wait_for_log("service it: ended; ")
        self.assertEqual(tunnel.server.log_lines("warning"), [])

    def test_proxy_command_with_a_file_and_the_wrong_service(self):
        folder = self.make_folder()
        tunnel = self.tunnel(TCP, f"127.0.0.1:{free_port()}")
        self.keygen(folder, "client")
        (folder / "known").write_text("")
        done = self.ssh(folder, f"{programs.culvert()} pipe {tunnel.folder}/client.conf app", "true")
        self.assertEqual(done.returncode, 255)
        self.assertIn(b"culvert: ended by the other end: backend unreachable\n", done.stderr)

    def ssh(self, folder, command, *words, **options):
        return subprocess.run(
            [programs.find("ssh", "openssh-client"), "-F", "none", "-T", "-o",
             f"ProxyCommand={command}", "-o", f"UserKnownHostsFile={folder}/known", "-o",
             "StrictHostKeyChecking=yes", "-o", "IdentitiesOnly=yes", "-o", "BatchMode=yes", "-i",
             folder / "client", f"{getpass.getuser()}@behind.example", *words],
            capture_output=True, timeout=60, **options)

    def start_sshd(self, folder):
        self.keygen(folder, "client")
        host = self.keygen(folder, "host")
        (folder / "known").write_text(f"behind.example {host}\n")
        root = os.geteuid() == 0
        if root:
            pathlib.Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # as its unit does
        port = free_port()
        config = folder / "sshd.conf"
        config.write_text(SSHD.format(folder=folder, port=port, pam="yes" if root else "no"))
        self.start([programs.find("sshd", "openssh-server"), "-D", "-e", "-f", config], "sshd",
                   lambda: is_listening(port), folder=folder)
        return port

    @staticmethod
    def keygen(folder, name):
        subprocess.run([programs.find("ssh-keygen", "openssh-client"), "-q", "-t", "ed25519", "-N", "",
                        "-f", folder / name], check=True, timeout=10)
        return (folder / f"{name}.pub").read_text().strip()


if __name__ == "__main__":
    case.main()
