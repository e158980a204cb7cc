"""Processes of the bench: started in order, each with its children known, stopped by their ids."""

import os
import pathlib
import signal
import socket
import subprocess
import time

START_SECONDS = 10
STOP_SECONDS = 3


class DidNotStart(Exception):
    """The text says which program, and what it said itself."""


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Process:
    """A program and the processes that it starts; its output goes to a file in `folder`."""

    def __init__(self, folder, name, command, environment=None):
        self.name = name
        self.log = folder / f"{name}.out"
        with self.log.open("w") as output:
            self.process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL,
                                            stdout=output, stderr=output,
                                            env={**os.environ, **(environment or {})})

    def wait_for(self, port):
        deadline = time.monotonic() + START_SECONDS
        while not listens(port):
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise DidNotStart(f"{self.name} does not listen: {self.last_words()}")
            time.sleep(0.02)

    def last_words(self):
        return " ".join(self.log.read_text(errors="replace").split())[-300:]

    def pids(self):
        """The process and all that came of it, now."""
        return descendants(self.process.pid)

    def stop(self):
        family = self.pids()
        for pid in family:
            send(pid, signal.SIGTERM)
        try:
            self.process.wait(timeout=STOP_SECONDS)
        except subprocess.TimeoutExpired:
            pass
        for pid in family:
            send(pid, signal.SIGKILL)
        self.process.wait()


def send(pid, what):
    try:
        os.kill(pid, what)
    except ProcessLookupError:
        pass


def descendants(root):
    children = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                # The name in parentheses may hold anything; the parent is the second word after it.
                words = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue  # it has ended meanwhile
            if words[0] != "Z":
                children.setdefault(int(words[1]), []).append(int(entry.name))
    found = [root]
    for pid in found:
        found += children.get(pid, [])
    return found
