#!/usr/bin/env python3
"""Measures what strangers cost a server: run.py build/release

Writes flood.txt and flood.json into bench/results."""

import json
import os
import pathlib
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "relay"))

import machine  # noqa: E402

ROUNDS = 9
STRANGERS = 4000
CROWD = 1000
GATE = {
    "keccak": "one Keccak-f (a hash of the transcript)",
    "x25519": "one X25519",
    "psk": "a wrong first flight: one psk",
    "psks": "a wrong first flight: 16 psks",
    "static": "a wrong first flight: key pair, no psk",
    "unknown": "a holder of the server's public key, with 2 X25519",
}


def gate(build):
    done = subprocess.run([build / "flood_gate", str(ROUNDS)], check=True, text=True,
                          stdout=subprocess.PIPE)
    found = {}
    for line in done.stdout.splitlines():
        name, _, cost = line.split()
        found.setdefault(name, []).append(float(cost))
    cost = {name: statistics.median(values) for name, values in found.items()}
    cost["unknown"] = cost["client+server"] - cost["client"]
    return {name: round(cost[name], 3) for name in GATE}


class Server:
    """A daemon with a psk and one thread."""

    def __init__(self, build, folder, carrier):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        key = folder / f"{carrier}.psk"
        subprocess.run([build / "culvert", "keygen", "psk", key], check=True)
        config = folder / f"{carrier}.conf"
        config.write_text(f"[server.edge]\nlisten = 127.0.0.1:{self.port}\ncarrier = {carrier}\n"
                          f"psk = {key}\nservice = none 127.0.0.1:1\nhandshake-timeout = 2m\n"
                          "max-unproven-per-address = 100000\nmax-unproven = 100000\n")
        self._process = subprocess.Popen([build / "culvert", "run", config],
                                         stderr=subprocess.PIPE, text=True)
        while "ready" not in self._process.stderr.readline():
            pass

    def cpu(self):
        fields = pathlib.Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self):
        status = pathlib.Path(f"/proc/{self._process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) * 1024

    def files(self):
        return len(os.listdir(f"/proc/{self._process.pid}/fd"))

    def stranger(self, carrier):
        sock = socket.create_connection(("127.0.0.1", self.port))
        opening = os.urandom(200)
        if carrier == "ws":
            sock.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                         b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")
            sock.recv(4096)
            opening = b"\x82\xfe" + len(opening).to_bytes(2, "big") + bytes(4) + opening
        sock.sendall(opening)
        return sock

    def until_files(self, condition):
        while not condition(self.files()):
            time.sleep(0.01)

    def stop(self):
        self._process.kill()
        self._process.wait()


def daemon(build, folder, carrier):
    server = Server(build, folder, carrier)
    quiet = server.files()
    try:
        warm = [server.stranger(carrier) for _ in range(100)]
        server.until_files(lambda files: files == quiet + 100)
        memory = server.memory()
        crowd = [server.stranger(carrier) for _ in range(CROWD)]
        server.until_files(lambda files: files == quiet + 100 + CROWD)
        time.sleep(0.5)  # the last of them are being read
        each = (server.memory() - memory) / CROWD
        for sock in warm + crowd:
            sock.close()
        server.until_files(lambda files: files == quiet)
        before = server.cpu()
        for _ in range(STRANGERS):
            server.stranger(carrier).close()
        server.until_files(lambda files: files == quiet)
        cpu = (server.cpu() - before) / STRANGERS
    finally:
        server.stop()
    return {"cpu_us": round(1e6 * cpu), "bytes": round(each)}


def text_of(about, gate_costs, daemons):
    yield f"{about['machine']}, {about['kernel']}."
    yield f"Medians of {ROUNDS} rounds: CPU time in microseconds."
    yield ""
    for name, what in GATE.items():
        yield f"{what:55}{gate_costs[name]:9.2f}"
    yield ""
    yield f"A daemon with one thread and a psk; {STRANGERS:,} strangers that come, send 200 random bytes"
    yield f"and go, and {CROWD:,} that stay:"
    yield ""
    yield f"{'':20}{'CPU us for each, with its sockets':>35}{'resident bytes for each':>27}"
    for carrier, found in daemons.items():
        yield f"over {carrier:15}{found['cpu_us']:35,}{found['bytes']:27,}"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    build = pathlib.Path(sys.argv[1]).resolve()
    about = {name: value for name, value in machine.place().items() if name != "congestion_control"}
    gate_costs = gate(build)
    with tempfile.TemporaryDirectory() as folder:
        daemons = {carrier: daemon(build, pathlib.Path(folder), carrier) for carrier in ("tcp", "ws")}
    text = "\n".join(text_of(about, gate_costs, daemons)) + "\n"
    results = ROOT / "bench" / "results"
    (results / "flood.txt").write_text(text)
    found = about | {"gate_us": gate_costs, "daemon": daemons}
    (results / "flood.json").write_text(json.dumps(found, indent=1) + "\n")
    print(text, end="")


if __name__ == "__main__":
    main()
