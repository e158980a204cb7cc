"""Whole machines: a root, processes and a network of their own, with systemd as process 1.

The root is this system's, with a layer of its own above that goes with the machine. What a user
types on a host can be typed here, services and paths included.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from .network import Host
from .waiting import together, until

_SKIPPED = 77  # what ctest takes for a test that was left out
_BOOT = pathlib.Path(__file__).with_name("machine_boot.sh")
_NAMESPACES = ("--pid", "--mount", "--uts", "--ipc", "--net", "--cgroup")


def boot_or_skip():
    """Where machines can't be made, says so and ends the process."""
    why = _why_not()
    if why:
        print(f"SKIPPED, nothing was tested: {why}")
        sys.exit(_SKIPPED)


def _why_not():
    if os.geteuid() != 0:
        return "only root can boot a machine of its own"
    if not pathlib.Path("/lib/systemd/systemd").exists():
        return "there is no systemd here: the package systemd has it"
    if _cgroups() is None:
        return "no cgroup2 file system is mounted here"
    try:
        trial = Machine("trial")
    except (AssertionError, OSError) as error:
        return f"no machine with systemd can be booted here: {error}"
    trial.close()
    return ""


def _cgroups():
    """Where this system has the one tree of control groups, beside those of version 1 or alone."""
    for line in pathlib.Path("/proc/mounts").read_text().splitlines():
        _, path, kind = line.split()[:3]
        if kind == "cgroup2" and os.access(path, os.W_OK):
            return pathlib.Path(path)
    return None


class Machine:
    def __init__(self, name, address=None, switch=None):
        """With `switch`, a Host, a cable goes from there to the machine, which has this address."""
        self.name, self.address = name, address
        self._folder = pathlib.Path(tempfile.mkdtemp(prefix=f"culvert-machine-{name}-"))
        self._group = pathlib.Path(tempfile.mkdtemp(prefix=f"culvert-{name}-", dir=_cgroups()))
        self._outside = subprocess.Popen(
            ["sh", "-ec", 'echo $$ >"$0/cgroup.procs"; exec "$@"', self._group,
             "unshare", *_NAMESPACES, "--fork", "--kill-child", "sh", _BOOT, self._folder, name],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            self._init = until(self._find_init, 30, f"{name}: there is a process 1")
            until(self._has_booted, 120, f"{name}: systemd has booted")
            if switch:
                self._connect(switch)
        except AssertionError as error:
            self.close()
            told = self._outside.stderr.read().strip()
            raise AssertionError(f"{error} {told}".strip()) from None

    @property
    def root(self):
        """The machine's root, seen from here."""
        return pathlib.Path(f"/proc/{self._init}/root")

    def command(self, *words):
        """The words as a command of root there, with nothing of our environment."""
        environment = ["env", "-i", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                       "HOME=/root", "USER=root", "LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive"]
        return ["nsenter", f"--target={self._init}", "--all", *environment, *words]

    def run(self, script, seconds=60):
        """(exit status, output) of what is typed at a shell there; 124 when it takes too long."""
        # No pipe: what goes to the background there may keep its end of it.
        with tempfile.TemporaryFile("w+", errors="replace") as output:
            done = subprocess.run(["timeout", str(seconds),
                                   *self.command("bash", "-euc", f"cd /root\n{script}")],
                                  stdin=subprocess.DEVNULL, stdout=output,
                                  stderr=subprocess.STDOUT, check=False)
            output.seek(0)
            return done.returncode, output.read()

    def must(self, script):
        """The output of a script that has to succeed."""
        status, told = self.run(script)
        if status != 0:
            raise AssertionError(f"{self.name}: status {status}: {script}\n{told}")
        return told

    def write(self, path, text, mode=0o644):
        file = self.root / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(mode)

    def copy(self, file, path):
        shutil.copy(file, self.root / path.lstrip("/"))

    def log(self):
        """What the services of the machine have said."""
        return self.run("journalctl --no-pager --quiet --lines 60")[1]

    def close(self):
        self._outside.kill()  # and --kill-child ends process 1, and with it all others
        self._outside.wait()
        for group, _, _ in os.walk(self._group, topdown=False):
            until(lambda path=group: _removed(path), 10, f"{group} is empty")
        shutil.rmtree(self._folder, ignore_errors=True)

    def _find_init(self):
        if self._outside.poll() is not None:
            raise AssertionError(f"{self.name}: could not be made:")
        tasks = pathlib.Path(f"/proc/{self._outside.pid}/task/{self._outside.pid}")
        children = (tasks / "children").read_text().split()
        return int(children[0]) if children else None

    def _has_booted(self):
        if self._outside.poll() is not None:
            raise AssertionError(f"{self.name}: did not boot:")
        if pathlib.Path(f"/proc/{self._init}/comm").read_text().strip() != "systemd":
            return False
        return self.run("systemctl is-system-running")[1].strip() in ("running", "degraded")

    def _connect(self, switch):
        switch.run("ip", "link", "add", self.name, "master", "switch", "up", "type", "veth",
                   "peer", "name", "eth0", "netns", str(self._init))
        self.must(f"ip link set lo up; ip address add {self.address}/24 dev eth0; "
                  "ip link set eth0 up")


def _removed(group):
    try:
        os.rmdir(group)
    except OSError:
        return False
    return True


class Site:
    """Machines on one network, who know each other's names: {name: address}."""

    def __init__(self, test, addresses):
        switch = Host()
        test.addCleanup(switch.close)
        switch.run("ip", "link", "add", "switch", "up", "type", "bridge")

        def boot(name, address):
            machine = Machine(name, address, switch)
            test.addCleanup(machine.close)
            return machine

        self.machines = together({name: lambda name=name, address=address: boot(name, address)
                                  for name, address in addresses.items()})
        names = "".join(f"{address} {name}.example {name}\n" for name, address in addresses.items())
        for machine in self.machines.values():
            machine.write("/etc/hosts", f"127.0.0.1 localhost\n::1 localhost\n{names}")
