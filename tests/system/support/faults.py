"""culvert-faults between and around two daemons: see tests/faults/arena.hpp."""

import json
import os
import subprocess

from . import programs
from .ports import free_port
from .tunnel import PATH, shared_keys

# The shortest that can be set: a path that has gone dark is given up early.
SHORT = ["keepalive = 5s", "dead-peer = 10s", "handshake-timeout = 1s"]
# What a connection may take beyond what its script makes it wait: the client waits 15 s for an
# answer, a server up to 11 s for a stranger, either 10 s for a dead peer and 20 s for a record that
# does not become whole. The rest is patience with a machine that is busy.
DEADLINE = 45


class Arena:
    """Two daemons with a lane for each connection at a time, of all the kinds of tunnels in turn."""

    def __init__(self, test, kinds, lanes=128, daemon=()):
        self.kinds, self.lanes = kinds, lanes
        self.folder = test.make_folder()
        self.entry, self.network, self.service = free_port(), free_port(), free_port()
        self.server_ports = [free_port() for _ in kinds]
        head = ["[daemon]", "drain = 1s", *daemon]
        self.server = self._start(test, "server", [*head, *self._server_lines()], self.server_ports)
        self.client = self._start(test, "client", [*head, *self._client_lines()], [self.entry])

    @property
    def daemons(self):
        return self.server, self.client

    def _start(self, test, name, lines, ports):
        file = self.folder / f"{name}.conf"
        file.write_text("\n".join([*lines, ""]))
        return test.start_daemon(file, name, ports)

    def _server_lines(self):
        for number, (kind, port) in enumerate(zip(self.kinds, self.server_ports)):
            yield f"[server.kind{number}]"
            yield f"listen = 127.0.0.1:{port}"
            yield f"carrier = {kind.carrier}"
            if kind.carrier == "ws":
                yield f"path = {PATH}"
            # All of its strangers are clients whose words were garbled on the way, from one address.
            yield "max-unproven-per-address = 1024"
            yield from shared_keys().server_lines(kind.keys)
            yield from SHORT
            for lane in range(number, self.lanes, len(self.kinds)):
                yield f"service = lane{lane} {_address(3, lane)}:{self.service}"

    def _client_lines(self):
        for lane in range(self.lanes):
            kind = self.kinds[lane % len(self.kinds)]
            path = PATH if kind.carrier == "ws" else ""
            yield f"[client.lane{lane}]"
            yield f"listen = {_address(1, lane)}:{self.entry}"
            yield f"connect = {kind.carrier}://{_address(2, lane)}:{self.network}{path}"
            yield f"service = lane{lane}"
            yield from shared_keys().client_lines(kind.keys)
            yield from SHORT

    def run(self, first, count, script=None, lanes=None, first_lane=0, seconds=240):
        """Runs the scripts of `count` seeds, or one script as often, half as many at a time as there
        are lanes. What culvert-faults tells: a tally for each kind, and the violations."""
        lanes = lanes or self.lanes
        return run_faults(
            "--entry", self.entry, "--network", self.network, "--service", self.service,
            *(word for port in self.server_ports for word in ("--server", port)),
            "--first-lane", first_lane, "--lanes", lanes, "--at-once", lanes // 2,
            "--seed", first, "--count", count, "--deadline", DEADLINE,
            *(["--script", script] if script else []), seconds=seconds)


def _address(net, lane):
    return f"127.{net}.{(lane + 1) >> 8}.{(lane + 1) & 255}"


def run_faults(*arguments, seconds=240):
    """culvert-faults with these arguments. Its two statuses are told by the violations."""
    command = [_culvert_faults(), *(str(argument) for argument in arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    if done.returncode not in (0, 1) or not done.stdout:
        raise AssertionError(f"culvert-faults ended with {done.returncode}: {done.stderr}")
    told = json.loads(done.stdout)
    if bool(told["violations"]) != bool(done.returncode):
        raise AssertionError(f"status {done.returncode}, but {told['violations']}")
    return told


def _culvert_faults():
    path = os.environ.get("CULVERT_FAULTS", "")
    if not os.access(path, os.X_OK):
        raise programs.MissingProgram(
            f"CULVERT_FAULTS={path!r} is no program: run the tests through ctest")
    return path


def in_words(violations, most=5):
    """Violations as a failure message, each with what repeats it."""
    lines = [f"{len(violations)} violations"]
    for of in violations[:most]:
        lines.append(f"seed {of['seed']} (kind {of['kind']}): {of['why']}\n    {of['script']}")
    return "\n".join(lines)
