"""System calls, counted by strace in runs of their own: strace slows what it watches."""

import signal
import subprocess
import time

import measuring
from measuring import Failed

ATTACH_SECONDS = 0.5
MIB = 2**20


class Counter:
    """Counts the calls of processes until it is asked for their number."""

    def __init__(self, pids, path):
        self.path = path
        watched = [word for pid in pids for word in ("-p", str(pid))]
        self.strace = subprocess.Popen(["strace", "-f", "-q", "-c", "-o", path, *watched],
                                       stderr=subprocess.DEVNULL)

    def total(self):
        self.strace.send_signal(signal.SIGINT)
        self.strace.wait()
        lines = self.path.read_text().splitlines() if self.path.exists() else []
        if not lines or not lines[-1].endswith("total"):
            raise Failed("strace could not watch it")
        return int(lines[-1].split()[3])  # % time, seconds, usecs/call, calls


def count(tunnel, cell, seconds):
    """Calls of each end a MiB, or a request; connecting and closing are a few among many."""
    counters = {side: Counter(pids, tunnel.place.folder / f"{tunnel.place.name}-{side}.calls")
                for side, pids in tunnel.pids().items() if side != "backend"}
    try:
        time.sleep(ATTACH_SECONDS)
        options = (*cell.options, "--duration", f"{int(seconds * 1000)}ms", "--grace", "3s")
        load = measuring.run_load(tunnel, cell.mode, options, None, seconds).load
    finally:
        calls = {side: counter.total() for side, counter in counters.items()}
    amount = load["bytes"] / MIB if cell.mode == "bulk" else load["requests"]
    if amount <= 0:
        raise Failed("nothing came through")
    return {f"calls_{side}": value / amount for side, value in calls.items()}
