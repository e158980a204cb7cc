"""One measurement: a contender's two ends are up, the load client runs through them, and what they
use is read at the moments that the load client marks."""

import dataclasses
import json
import re
import signal
import subprocess
import threading
import time

import accounting
from processes import DidNotStart, Process, send

ANSWER_SECONDS = 5
PATIENCE_SECONDS = 20  # beyond what a run should take


class Failed(Exception):
    """A contender could not do it; the text says what happened."""


class Tunnel:
    """A contender in its place: backend, server and client, all running."""

    def __init__(self, contender, place, mode):
        self.place = place
        self.sides = {}
        self.raw = contender.breaks_half_close and mode == "churn"
        try:
            self.start("backend", place.backend,
                       (place.binaries / "culvert-load", "serve", *(["echo"] if self.raw else []),
                        f"127.0.0.1:{place.backend}", "--quiet"))
            if contender.ends:
                server, client = contender.ends(place)
                self.start("server", place.tunnel, server)
                self.start("client", place.entry, client)
            else:
                place.entry = place.backend
        except DidNotStart as why:
            self.stop()
            raise Failed(str(why)) from None

    def start(self, side, port, command):
        process = Process(self.place.folder, f"{self.place.name}-{side}", command)
        self.sides[side] = process
        process.wait_for(port)

    def pids(self):
        return {side: process.pids() for side, process in self.sides.items()}

    def raw_options(self):
        """Churn ends each connection. Where the verdict would get lost then, an echo without one
        is asked for instead: a little less work than what the others do."""
        return ["--raw"] if self.raw else []

    def stop(self):
        for process in reversed(self.sides.values()):
            process.stop()


@dataclasses.dataclass
class Measured:
    load: dict            # what the load client has found
    begin: dict           # what `read` returned at the begin
    end: dict             # and at the end
    complaints: list      # connections that failed, by the load client's words


SO_FAR = re.compile(rb"so far (\d+) bytes received, (\d+) sent")


def backend_received(tunnel):
    """Bytes that have come out of the tunnel at the backend, which it tells when asked: what the
    load client has sent may still be on its way."""
    backend = tunnel.sides["backend"]
    told = len(SO_FAR.findall(backend.log.read_bytes()))
    send(backend.process.pid, signal.SIGUSR1)
    deadline = time.monotonic() + ANSWER_SECONDS
    while time.monotonic() < deadline:
        found = SO_FAR.findall(backend.log.read_bytes())
        if len(found) > told:
            return int(found[-1][0])
        time.sleep(0.001)
    raise Failed("the backend does not answer")


def cpu_of(tunnel):
    return {side: accounting.cpu_seconds(pids) for side, pids in tunnel.pids().items()}


def pss_of(tunnel):
    return {side: accounting.pss_bytes(pids) for side, pids in tunnel.pids().items()}


def merged(complaints):
    """The load client's lines, "7 x what was wrong", those that differ in numbers only added up."""
    times = {}
    for line in complaints:
        count, _, what = line.partition(" x ")
        if not count.isdigit():
            count, what = "1", line
        what = re.sub(r"\d+", "N", what)
        times[what] = times.get(what, 0) + int(count)
    return [f"{count:,} x {what}" for what, count in times.items()]


def run_load(tunnel, mode, options, read, seconds):
    """Runs the load client, which should take so many seconds. `read` is called at the begin and
    at the end; without it the run counts as a whole. Throws Failed when nothing came of it."""
    command = [tunnel.place.binaries / "culvert-load", mode, "--to",
               f"127.0.0.1:{tunnel.place.entry}", "--json", "--quiet",
               *(["--marks"] if read else []), *options]
    marks = {}
    complaints = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as load:
        late = threading.Timer(seconds + PATIENCE_SECONDS, load.kill)
        late.start()
        try:
            for line in load.stderr:
                if line.strip() in ("begin", "end"):
                    marks[line.strip()] = read(tunnel)
                else:
                    complaints.append(line.strip().removeprefix("culvert-load: "))
            output = load.stdout.read()
        finally:
            late.cancel()
    if not output.strip() or (read and len(marks) != 2):
        raise Failed("; ".join(merged(complaints)) or "no result in time")
    return Measured(json.loads(output), marks.get("begin"), marks.get("end"), merged(complaints))
