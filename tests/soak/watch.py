"""What the daemons take while they run: memory, open files, threads, processor time."""

import dataclasses
import pathlib
import re
import statistics
import threading
import time


@dataclasses.dataclass(frozen=True)
class Sample:
    second: float
    pss: int  # bytes
    rss: int
    files: int
    threads: int
    cpu: float  # s since the process began
    pid: int


def take_sample(daemon, second):
    """Nothing when the process has just gone."""
    try:
        proc = pathlib.Path(f"/proc/{daemon.pid}")
        pss = int(re.search(r"^Pss:\s+(\d+) kB", (proc / "smaps_rollup").read_text(), re.M)[1])
        threads = int(re.search(r"^Threads:\s+(\d+)", (proc / "status").read_text(), re.M)[1])
        return Sample(second, pss * 1024, daemon.memory(), daemon.open_files(), threads,
                      daemon.cpu_seconds(), daemon.pid)
    except (OSError, TypeError):
        return None


class Watchdog:
    """Takes a sample of each daemon every few seconds. `daemons` maps names to functions that return
    the process that has the part just now."""

    def __init__(self, daemons, every):
        self.samples = {name: [] for name in daemons}
        self._daemons, self._every = daemons, every
        self._stopped = threading.Event()
        self._began = time.monotonic()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        while not self._stopped.wait(self._every):
            for name, daemon in self._daemons.items():
                sample = take_sample(daemon(), time.monotonic() - self._began)
                if sample:
                    self.samples[name].append(sample)

    def stop(self):
        self._stopped.set()
        self._thread.join()

    def growth(self, name):
        """Bytes (PSS) from the third quarter of the time to the last, for a process that has lived
        through both; 0 for one that has not."""
        samples = self.samples[name]
        end = samples[-1].second
        samples = [s for s in samples if s.pid == samples[-1].pid]
        third = [s.pss for s in samples if end / 2 <= s.second < end * 3 / 4]
        last = [s.pss for s in samples if s.second >= end * 3 / 4]
        return statistics.median(last) - statistics.median(third) if third and last else 0

    def threads_more(self, name):
        """Threads at most, beyond those at least."""
        threads = {s.threads for s in self.samples[name]}
        return max(threads) - min(threads)


def cpu_shares(daemons, seconds):
    """Of one processor, when nothing is to be done."""
    before = {name: daemon().cpu_seconds() for name, daemon in daemons.items()}
    time.sleep(seconds)
    return {name: (daemon().cpu_seconds() - before[name]) / seconds
            for name, daemon in daemons.items()}


def pause():
    time.sleep(1)
