"""What the figures depend on."""

import os
import pathlib
import re
import subprocess
import sys

import namespace

sys.path.insert(0, str(pathlib.Path(__file__).parents[2]))

from bench import host  # noqa: E402


def first_version(command):
    """Programs tell their version in the first line that has one, on either stream."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=10)
    except FileNotFoundError:
        return "not installed"
    for line in (done.stdout + done.stderr).splitlines():
        found = re.search(r"\d+\.\d+[\w.+~-]*", line)
        if found:
            return found.group()
    return "unknown"


def place():
    return {"machine": host.processors(),
            "kernel": host.kernel(),
            "load_before": round(os.getloadavg()[0], 1),
            "congestion_control": namespace.congestion_control()}


def facts(contenders, build):
    programs = {c.version[0]: c.version for c in contenders if c.version}
    versions = {command[0]: first_version(command) for command in programs.values()}
    versions["openssl"] = first_version(("openssl", "version"))
    versions["culvert"] = first_version((build / "culvert", "version"))
    return place() | {
            "settings": namespace.SETTINGS | namespace.BUFFERS,
            "settings_from_1000_connections": namespace.MANY_BUFFERS,
            "versions": versions}


def heading(about):
    yield f"{about['machine']}, {about['kernel']}; congestion control {about['congestion_control']}."
    yield ", ".join(f"{name} {version}" for name, version in about["versions"].items()) + "."
    if about["load_before"] > 0.5:
        yield f"Load average {about['load_before']:g} before it began: others were at work here."
    rounds = "1 round" if about["rounds"] == 1 else f"{about['rounds']} rounds"
    yield (f"Medians of {rounds}, {about['seconds']:g} s each measurement; idle and system calls "
           f"are measured once.")
