"""The process defends itself: rights that it gives up, and how the program is built."""

import functools
import os
import pathlib
import pwd
import re
import resource
import signal
import stat
import subprocess
import tempfile
import unittest

from support import case, programs
from support.backends import echo
from support.ports import free_port, is_listening
from support.streams import connect, random_bytes, read_exactly
from support.tunnel import TCP, TCP_STATIC, WEBSOCKET, make_keys, shared_keys

ROOT = os.geteuid() == 0
NOBODY = pwd.getpwnam("nobody")
SIGSYS_STATUS = -signal.SIGSYS

root_only = unittest.skipUnless(ROOT, "only root may start a daemon that becomes another user")
root_looks = unittest.skipUnless(ROOT, "only root may look into a daemon that is not dumpable")


def status_of_threads(pid):
    """What /proc says of each thread, as dictionaries."""
    return [
        dict(line.split(":\t", 1) for line in (task / "status").read_text().splitlines())
        for task in pathlib.Path(f"/proc/{pid}/task").iterdir()
    ]


class DefencesTest(case.SystemTest):
    def tunnel(self, kind, target, **options):
        return super().tunnel(kind, target, **{"confined": True, **options})

    def assert_works(self, port, word=b"hello"):
        with connect(port) as application:
            application.sendall(word)
            self.assertEqual(read_exactly(application, len(word)), word)


class Confinement(DefencesTest):
    def assert_confined(self, daemon):
        threads = status_of_threads(daemon.pid)
        for thread in threads:
            self.assertEqual(thread["NoNewPrivs"], "1", thread)
            self.assertEqual(thread["Seccomp"], "2", thread)
            for which in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
                # Root keeps the right to reach sockets of others: CAP_DAC_OVERRIDE.
                self.assertIn(int(thread[which], 16), (0, 1 << 1) if ROOT else (0,), thread)
        return threads

    @case.for_kinds(TCP, WEBSOCKET, TCP_STATIC)
    def test_every_thread_is_confined(self, kind):
        # A name, so that the threads of name lookups are among them.
        service = self.service(echo)
        tunnel = self.tunnel(kind, f"localhost:{service.port}", daemon=["threads = 3"],
                             client=["pool = 2"])
        self.assert_works(tunnel.client_port, random_bytes(1 << 20, "confined"))
        for daemon in (tunnel.server, tunnel.client):
            self.assertGreaterEqual(len(self.assert_confined(daemon)), 4)
            self.assertTrue(daemon.log_lines("confined: system calls filtered"), daemon.log())

    def test_no_core_dumps_and_no_debuggers(self):
        tunnel = self.tunnel(TCP, self.service(echo).target)
        for daemon in (tunnel.server, tunnel.client):
            limits = pathlib.Path(f"/proc/{daemon.pid}/limits").read_text()
            self.assertRegex(limits, r"Max core file size +0 +0 ")
            # Files of a process that is not dumpable belong to root, whoever runs it.
            self.assertEqual(os.stat(f"/proc/{daemon.pid}/environ").st_uid, 0)
            daemon.send_signal(signal.SIGABRT)
            self.assertEqual(daemon.wait(), -signal.SIGABRT)
            self.assertEqual(list(tunnel.folder.glob("*core*")), [])
            daemon.check_end = lambda: None

    def test_without_the_sandbox(self):
        tunnel = self.tunnel(TCP, self.service(echo).target, daemon=["sandbox = off"])
        self.assert_works(tunnel.client_port)
        for daemon in (tunnel.server, tunnel.client):
            self.assertTrue(daemon.log_lines("info +sandbox = off"), daemon.log())
            for thread in status_of_threads(daemon.pid):
                self.assertEqual((thread["Seccomp"], thread["NoNewPrivs"]), ("0", "1"))
            self.assertEqual(os.stat(f"/proc/{daemon.pid}/environ").st_uid, os.geteuid())


@root_looks
class ForbiddenCalls(DefencesTest):
    """A debugger makes a running daemon call what an attacker would."""

    def make_call(self, daemon, call):
        """What the debugger says of the call's value, "" when the process did not survive it."""
        gdb = programs.find("gdb", "gdb")
        # Of all libraries' symbols only libc's are needed.
        command = [gdb, "--batch", "--nx", "-p", str(daemon.pid), "-iex", "set auto-load off",
                   "-iex", "set debuginfod enabled off", "-iex", "set auto-solib-add off",
                   "-ex", "sharedlibrary libc.so", "-ex", f"print {call}"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        if "ptrace: Operation not permitted" in done.stderr:
            self.skipTest("this machine lets nobody trace: " + done.stderr.strip())
        value = re.search(r"^\$1 = (.*)$", done.stdout, re.MULTILINE)
        return value[1] if value else ""

    def busy_daemon(self, *daemon):
        tunnel = self.tunnel(TCP, self.service(echo).target, daemon=daemon)
        self.assert_works(tunnel.client_port)
        return tunnel.server, tunnel

    def idle_daemon(self, folder):
        port = free_port()
        file = folder / f"{port}.conf"
        file.write_text(f"[daemon]\nsandbox = strict\n[server.s]\nlisten = {port}\nservice = it 127.0.0.1:1\n"
                        f"psk = {shared_keys().folder}/edge.psk\n")
        daemon = self.start_daemon(file, f"culvert-{port}", [])
        daemon.wait_for_log("ready", 30)
        return daemon

    def test_they_kill(self):
        numbers = system_calls()
        folder = self.make_folder()
        for name, arguments in {
            "execve": "0, 0, 0",
            "ptrace": "0, 0, 0, 0",
            "clone": "17, 0, 0, 0, 0",  # a process, as fork() makes one
            "openat": "-100, 0, 02 | 0100, 0600",  # for writing, and making it
            "mprotect": "0, 4096, 7",
            "listen": "0, 1",
            "kill": "1, 0",
            "setuid": "0",
        }.items():
            with self.subTest(name):
                daemon = self.idle_daemon(folder)
                call = f"(long) syscall({numbers[name]}, {arguments})"
                self.assertEqual(self.make_call(daemon, call), "")
                self.assertEqual(daemon.wait(), SIGSYS_STATUS)
                daemon.check_end = lambda: None

    def test_others_go_on(self):
        """The same way of asking, with calls that are allowed, or fail as in an old kernel."""
        daemon, tunnel = self.busy_daemon()
        numbers = system_calls()
        pid = self.make_call(daemon, f"(long) syscall({numbers['getpid']})")
        self.assertEqual(pid, str(daemon.pid))
        for name, arguments in {"clone3": "0, 0", "openat2": "-100, 0, 0, 0"}.items():
            result = self.make_call(daemon, f"(long) syscall({numbers[name]}, {arguments})")
            self.assertEqual(result, "-1", name)
        self.assert_works(tunnel.client_port)

    def test_files_are_out_of_reach(self):
        for sandbox in ("on", "strict"):
            with self.subTest(sandbox):
                self.look_for_files(sandbox)

    def look_for_files(self, sandbox):
        daemon, tunnel = self.busy_daemon(f"sandbox = {sandbox}")
        if not daemon.log_lines("Landlock [1-9]"):
            self.skipTest("this kernel has no Landlock: " + daemon.log())

        def opens(path):
            return self.make_call(daemon, f'(int) open("{path}", 0)') != "-1"

        self.assertTrue(opens("/etc/hosts"))
        # For a reload.
        self.assertEqual(opens(tunnel.folder / "server.conf"), sandbox == "on")
        for path in ("/proc/self/maps", "/root", "/bin/sh", "/tmp"):
            self.assertFalse(opens(path), path)
        self.assert_works(tunnel.client_port)


def system_calls():
    """Their numbers on this machine, by name."""
    text = subprocess.run(["cc", "-E", "-dM", "-include", "sys/syscall.h", "-x", "c", "/dev/null"],
                          capture_output=True, text=True, check=True).stdout
    return {name: int(number) for name, number in re.findall(r"__NR_(\w+) (\d+)\n", text)}


@root_only
class AnotherUser(DefencesTest):
    def run_daemon(self, lines, *, daemon=("user = nobody",), ports=(), listen=None, **options):
        folder = self.make_folder()
        folder.chmod(0o755)
        keys = make_keys()
        file = folder / "culvert.conf"
        file.write_text("\n".join([
            "[daemon]", "drain = 1s", *daemon, *lines, f"psk = {keys.folder}/edge.psk", ""]))
        return self.start_daemon(file, "culvert", list(ports), **options)

    def server_lines(self, port, target, host="127.0.0.1"):
        return ["[server.edge]", f"listen = {host}:{port}", f"service = it {target}"]

    def test_it_is_that_user_and_nobody_else(self):
        service = self.service(echo)
        tunnel = self.tunnel(TCP, service.target, daemon=["user = nobody", "threads = 2"])
        self.assert_works(tunnel.client_port)
        for daemon in (tunnel.server, tunnel.client):
            for thread in status_of_threads(daemon.pid):
                self.assertEqual(set(thread["Uid"].split()), {str(NOBODY.pw_uid)})
                self.assertEqual(set(thread["Gid"].split()), {str(NOBODY.pw_gid)})
                self.assertNotIn("0", thread["Groups"].split())
                for which in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
                    self.assertEqual(int(thread[which], 16), 0, thread)
            # Root's: a debugger of the same user must not get in after the change either.
            self.assertEqual(os.stat(f"/proc/{daemon.pid}/environ").st_uid, 0)

    def test_another_group(self):
        tunnel = self.tunnel(TCP, self.service(echo).target,
                             daemon=["user = nobody", "group = daemon"])
        self.assert_works(tunnel.client_port)
        thread = status_of_threads(tunnel.server.pid)[0]
        group = str(pwd.getpwnam("daemon").pw_gid)
        self.assertEqual(set(thread["Gid"].split()), {group})

    def test_ports_and_keys_of_root(self):
        """What only root may have: a port below 1024, a key file of mode 0600."""
        port = next(port for port in range(700, 1000) if not is_listening(port))
        service = self.service(echo)
        daemon = self.run_daemon(self.server_lines(port, service.target), ports=[port])
        uids = {uid for thread in status_of_threads(daemon.pid) for uid in thread["Uid"].split()}
        self.assertEqual(uids, {str(NOBODY.pw_uid)})

    def test_unix_sockets_belong_to_the_user_and_are_removed_where_he_may(self):
        for removable in (True, False):
            with self.subTest(removable=removable):
                folder = self.make_folder()
                folder.chmod(0o755)
                if removable:
                    os.chown(folder, NOBODY.pw_uid, NOBODY.pw_gid)
                path = folder / "plain.sock"
                lines = ["[client.c]", f"listen = unix:{path}", "connect = tcp://127.0.0.1:1"]
                daemon = self.run_daemon(lines)
                daemon.wait_for_log("ready", 30)
                self.assertTrue(stat.S_ISSOCK(path.stat().st_mode))
                self.assertEqual(path.stat().st_uid, NOBODY.pw_uid)
                daemon.stop()
                self.assertEqual(path.exists(), not removable)
                again = self.run_daemon(lines)
                again.wait_for_log("ready", 30)  # one that is left is replaced

    def test_users_that_are_none(self):
        for line, complaint in {
            "user = no-such-user-here": "user: this system has no user 'no-such-user-here'",
            "user = root": "user: 'root' is root",
            "group = no-such-group": "group: this system has no group 'no-such-group'",
        }.items():
            with self.subTest(line):
                daemon = self.run_daemon(self.server_lines(free_port(), "127.0.0.1:1"),
                                         daemon=[line])
                self.assertEqual(daemon.wait(), 2)
                self.assertRegex(daemon.log(), re.escape(f"culvert.conf:3: {complaint}"))

    def test_without_root_it_does_not_start(self):
        lines = self.server_lines(free_port(), "127.0.0.1:1")
        daemon = self.as_nobody(["user = daemon"], lines)
        self.assertEqual(daemon.wait(), 2)
        self.assertIn("user = daemon needs a start by root", daemon.log())
        # The user that it is already needs nobody.
        self.as_nobody(["user = nobody"], lines).wait_for_log("ready", 30)

    def as_nobody(self, daemon_lines, lines, **options):
        """A daemon that `nobody` has started."""
        folder = self.make_folder()
        psk = folder / "edge.psk"
        psk.write_text((make_keys().folder / "edge.psk").read_text())
        psk.chmod(0o600)
        for path in (folder, psk):
            os.chown(path, NOBODY.pw_uid, NOBODY.pw_gid)
        file = folder / "culvert.conf"
        file.write_text("\n".join(["[daemon]", *daemon_lines, *lines, f"psk = {psk}", ""]))
        return self.start_daemon(file, "culvert", [], user=NOBODY.pw_uid, group=NOBODY.pw_gid,
                                 extra_groups=[], **options)

    def test_where_nothing_may_be_locked_it_runs_and_says_so(self):
        service = self.service(echo)
        port = free_port()
        daemon = self.as_nobody(["user = nobody"], self.server_lines(port, service.target),
                                preexec_fn=functools.partial(
                                    resource.setrlimit, resource.RLIMIT_MEMLOCK, (0, 0)))
        daemon.wait_for_log("ready", 30)
        daemon.wait_for_log("keys are not locked", 30)
        self.assertTrue(is_listening(port))


class Program(unittest.TestCase):
    """What the compiler and the linker have put into the program."""

    def readelf(self, *options):
        readelf = programs.find("readelf", "binutils")
        return subprocess.run([readelf, "--wide", *options, programs.culvert()], text=True,
                              capture_output=True, check=True).stdout

    def test_its_segments(self):
        self.assertRegex(self.readelf("--file-header"), r"Type: +DYN")
        dynamic = self.readelf("--dynamic")
        self.assertRegex(dynamic, r"\(FLAGS_1\).*NOW.*PIE")
        self.assertNotRegex(dynamic, r"TEXTREL|RPATH|RUNPATH")
        segments = self.readelf("--program-headers")
        self.assertRegex(segments, r"GNU_RELRO ")
        self.assertRegex(segments, r"GNU_STACK .* RW +0x")
        self.assertNotRegex(segments, r"(LOAD|GNU_STACK) .* (RWE|WE) ")

    def test_its_checks(self):
        imported = self.readelf("--dyn-syms")
        self.assertIn("__stack_chk_fail", imported)
        self.assertIn("__memcpy_chk", imported)
        self.assertIn("__glibcxx_assert_fail", imported)

    @unittest.skipUnless(os.uname().machine == "x86_64", "about x86-64")
    def test_its_functions_may_be_the_aim_of_an_indirect_call(self):
        objdump = programs.find("objdump", "binutils")
        code = subprocess.run([objdump, "--disassemble=main", programs.culvert()], text=True,
                              capture_output=True, check=True).stdout
        self.assertRegex(code, r"<main>:\n.*endbr64")


class SystemdUnits(unittest.TestCase):
    FOLDER = pathlib.Path(__file__).parents[2] / "config/samples/systemd"
    MOST_EXPOSED = 2.0  # of 10, as systemd-analyze counts

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.units = []
        for unit in sorted(self.FOLDER.iterdir()):
            # Of a template an instance.
            copy = pathlib.Path(folder.name) / unit.name.replace("@", "@edge")
            copy.write_text(unit.read_text().replace("/usr/local/bin/culvert", programs.culvert()))
            self.units.append(copy)

    def analyze(self, *words):
        program = programs.find("systemd-analyze", "systemd")
        return subprocess.run([program, *words], text=True, capture_output=True, check=False,
                              env={**os.environ, "LC_ALL": "C.UTF-8"})

    def test_little_is_exposed(self):
        services = [unit for unit in self.units if unit.suffix == ".service"]
        self.assertEqual([unit.name for unit in services], ["culvert.service",
                                                            "culvert@edge.service"])
        for unit in services:
            with self.subTest(unit.name):
                done = self.analyze("security", "--offline=true", "--no-pager", unit)
                told = re.search(rf"exposure level for {unit.name}: ([0-9.]+)", done.stdout)
                self.assertTrue(told, done.stdout + done.stderr)
                self.assertLessEqual(float(told[1]), self.MOST_EXPOSED, done.stdout)

    def test_they_are_well_formed(self):
        for unit in self.units:
            with self.subTest(unit.name):
                done = self.analyze("verify", unit)
                told = [line for line in (done.stdout + done.stderr).splitlines()
                        if "culvert" in line]
                self.assertEqual((told, done.returncode), ([], 0), done.stderr)


if __name__ == "__main__":
    case.main()
