"""What processes have used, as the kernel accounts it for each of them."""

import pathlib
import time


def cpu_seconds(pids):
    """User and system time of the processes, their ended threads included, to the nanosecond: the
    clock that clock_getcpuclockid(3) names. A process that has ended counts as 0."""
    total = 0.0
    for pid in pids:
        try:
            total += time.clock_gettime((~pid << 3) | 2)
        except OSError:
            pass
    return total


def pss_bytes(pids):
    """Proportional set size: memory, with what is shared divided among those who share it."""
    total = 0
    for pid in pids:
        try:
            text = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
        except OSError:
            continue
        total += next(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:"))
    return total * 1024
