"""The machine that figures are measured on, in words."""
import os
import platform
from pathlib import Path


def processors():
    """As "NAME, 2 CPUs"."""
    return f"{_model()}, {os.cpu_count()} CPUs"


def kernel():
    return f"{platform.system()} {platform.release()}"


def _model():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return platform.machine()
