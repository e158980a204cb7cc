"""culvert-faults between and around two daemons: see tests/faults/arena.hpp."""

import json
import subprocess

from . import programs
from .ports import free_port
from .tunnel import PATH, shared_keys

# The shortest that can be set, or nearly: a path that has gone dark is given up early.
SHORT = ["keepalive = 5s", "dead-peer = 10s", "handshake-timeout = 5s"]
# What a connection may take beyond what its script makes it wait: the client waits 15 s for an
# answer, a server as long for a stranger, either 10 s for a dead peer and 20 s for a record that
# does not become whole. The rest is patience with a machine that is busy.
DEADLINE = 45


class Arena:
    """Two daemons with a lane for each connection at a time, of all the kinds of tunnels in turn.

    With `service`, each kind has a further entry that leads to it, past the network and with a pool
    of `pool` sessions: `entries`.
    """

    def __init__(self, test, kinds, lanes=128, daemon=(), service=None, pool=0):
        self._test, self.kinds, self.lanes = test, kinds, lanes
        self._service, self._pool = service, pool
        self.folder = test.make_folder()
        self.entry, self.network, self.service = free_port(), free_port(), free_port()
        self.server_ports = [free_port() for _ in kinds]
        self.entries = [free_port() for _ in kinds] if service else []
        head = ["[daemon]", "drain = 1s", *daemon]
        self._server_file = self._write("server", [*head, *self._server_lines()])
        self._client_file = self._write("client", [*head, *self._client_lines()])
        self.server = self.start_server()
        self.client = test.start_daemon(self._client_file, "client", [self.entry, *self.entries])

    @property
    def daemons(self):
        return self.server, self.client

    def start_server(self):
        """Again, once the one before has ended."""
        self.server = self._test.start_daemon(self._server_file, "server", self.server_ports)
        return self.server

    def _write(self, name, lines):
        file = self.folder / f"{name}.conf"
        file.write_text("\n".join([*lines, ""]))
        return file

    def _server_lines(self):
        for number, (kind, port) in enumerate(zip(self.kinds, self.server_ports)):
            yield f"[server.kind{number}]"
            yield f"listen = 127.0.0.1:{port}"
            yield f"carrier = {kind.carrier}"
            if kind.carrier == "ws":
                yield f"path = {PATH}"
            # All of its strangers are clients whose words were garbled on the way.
            yield "max-unproven-per-address = 1024"
            yield from shared_keys().server_lines(kind.keys)
            yield from SHORT
            if self._service:
                yield f"service = it {self._service}"
            for lane in range(number, self.lanes, len(self.kinds)):
                yield f"service = lane{lane} {_address(3, lane)}:{self.service}"

    def _client_lines(self):
        for lane in range(self.lanes):
            kind = self.kinds[lane % len(self.kinds)]
            place = f"{_address(2, lane)}:{self.network}"
            yield from self._client_section(f"lane{lane}", kind,
                                            f"{_address(1, lane)}:{self.entry}", place)
        for number, entry in enumerate(self.entries):
            yield from self._client_section(f"it{number}", self.kinds[number], f"127.0.0.1:{entry}",
                                            f"127.0.0.1:{self.server_ports[number]}")
            yield "service = it"
            yield f"pool = {self._pool}"

    @staticmethod
    def _client_section(name, kind, listen, connect):
        yield f"[client.{name}]"
        yield f"listen = {listen}"
        yield f"connect = {kind.carrier}://{connect}{PATH if kind.carrier == 'ws' else ''}"
        yield from shared_keys().client_lines(kind.keys)
        yield from SHORT
        if name.startswith("lane"):
            yield f"service = {name}"

    def run(self, first, count, script=None, lanes=None, first_lane=0, others_harm=False,
            seconds=240):
        """Runs the scripts of `count` seeds, or one script as often, half as many at a time as
        there are lanes. What culvert-faults tells: a tally for each kind, and the violations."""
        lanes = lanes or self.lanes
        return run_faults(
            "--entry", self.entry, "--network", self.network, "--service", self.service,
            *(word for port in self.server_ports for word in ("--server", port)),
            "--first-lane", first_lane, "--lanes", lanes, "--at-once", lanes // 2,
            "--seed", first, "--count", count, "--deadline", DEADLINE,
            *(["--others-harm"] if others_harm else []),
            *(["--script", script] if script else []), seconds=seconds)


def _address(net, lane):
    return f"127.{net}.{(lane + 1) >> 8}.{(lane + 1) & 255}"


def run_faults(*arguments, seconds=240):
    """culvert-faults with these arguments. Its two statuses are told by the violations."""
    command = [programs.culvert_faults(), *(str(argument) for argument in arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    if done.returncode not in (0, 1) or not done.stdout:
        raise AssertionError(f"culvert-faults ended with {done.returncode}: {done.stderr}")
    told = json.loads(done.stdout)
    if bool(told["violations"]) != bool(done.returncode):
        raise AssertionError(f"status {done.returncode}, but {told['violations']}")
    return told


def in_words(violations, most=5):
    """Violations as a failure message, each with what repeats it."""
    lines = [f"{len(violations)} violations"]
    for of in violations[:most]:
        lines.append(f"seed {of['seed']} (kind {of['kind']}): {of['why']}\n    {of['script']}")
    return "\n".join(lines)
