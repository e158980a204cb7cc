"""Programs that run during a test: their log, their end, their appetite."""

import os
import pathlib
import re
import signal
import subprocess

from .waiting import until

_TICKS = os.sysconf("SC_CLK_TCK")
# What no log may hold; whoever makes keys adds them.
secrets = []
_FAULTS = re.compile(r"Sanitizer|terminate called|runtime error|Assertion .* failed")


class Process:
    """A running program. Its output goes to a file."""

    def __init__(self, command, folder, name, **popen_options):
        self.name = name
        self.log_path = pathlib.Path(folder) / f"{name}.log"
        with open(self.log_path, "ab") as log:
            options = {"stdout": log, "stderr": subprocess.STDOUT, **popen_options}
            self._popen = subprocess.Popen(
                [str(word) for word in command], stdin=subprocess.DEVNULL, cwd=folder, **options
            )

    @property
    def pid(self):
        return self._popen.pid

    def running(self):
        return self._popen.poll() is None

    def log(self):
        return self.log_path.read_text(errors="replace")

    def log_lines(self, pattern="."):
        return [line for line in self.log().splitlines() if re.search(pattern, line)]

    def wait_for_log(self, pattern, seconds=5):
        return until(lambda: self.log_lines(pattern), seconds, f"{self.name} logs {pattern!r}")

    def wait_until_ready(self, condition, seconds=15):
        def ready():
            if not self.running():
                raise AssertionError(f"{self.name} ended before it was ready:\n{self.log()}")
            return condition()

        until(ready, seconds, f"{self.name} is ready")

    def send_signal(self, number):
        self._popen.send_signal(number)

    def kill(self):
        self.send_signal(signal.SIGKILL)
        self.wait()

    def wait(self, seconds=15):
        """The exit status; negative when a signal ended the process."""
        try:
            return self._popen.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{self.name} does not end within {seconds} s") from None

    def stop(self, how=signal.SIGTERM, seconds=15):
        """Ends the process in whatever state it is."""
        if not self.running():
            return
        self.send_signal(how)
        try:
            self.wait(seconds)
        except AssertionError:
            self.kill()
            raise

    # ---- appetite ----

    def memory(self):
        """Resident bytes."""
        status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) * 1024

    def cpu_seconds(self):
        fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def threads(self):
        try:
            return len(os.listdir(f"/proc/{self.pid}/task"))
        except FileNotFoundError:
            return 0

    def open_files(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))


class Daemon(Process):
    """A culvert daemon, which has to end in good order whatever a test did to it."""

    def stop(self, how=signal.SIGTERM, seconds=15):
        if self.running():
            self.send_signal(how)
            try:
                self._popen.wait(0.5)
            except subprocess.TimeoutExpired:
                super().stop(how, seconds)  # the second signal does not wait for connections
        self.check_end()

    def kill(self):
        super().kill()
        self._killed = True

    def check_end(self):
        status = self._popen.returncode
        if getattr(self, "_killed", False) and status == -signal.SIGKILL:
            status = 0
        if status not in (0, 1, 2):
            raise AssertionError(f"{self.name} ended with status {status}:\n{self.log()}")
        if _FAULTS.search(self.log()):
            raise AssertionError(f"{self.name} has a fault:\n{self.log()}")
        if any(secret in self.log() for secret in secrets):
            raise AssertionError(f"{self.name} has written a key to its log")
