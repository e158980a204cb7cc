#!/usr/bin/env python3
"""Shows a tunnel at work: both ends on this machine, over TCP and over WebSocket, driven by the
load client. Takes the folder of the binaries. Leaves nothing behind."""

import json
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time

BULK_SECONDS = 4
LATENCY_SECONDS = 3
START_SECONDS = 10

SERVER = """[server.demo]
listen = 127.0.0.1:{tunnel}
{carrier}psk = demo.psk
service = load 127.0.0.1:{backend}
"""

CLIENT = """[client.demo]
listen = 127.0.0.1:{entry}
connect = {scheme}://127.0.0.1:{tunnel}{path}
service = load
psk = demo.psk
"""


class Failed(Exception):
    """The demonstration can't go on; the text says why."""


def free_ports(count):
    """Ports that nobody has just now, below those that the system hands out by itself."""
    found = []
    for port in range(20000, 32768):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        found.append(port)
        if len(found) == count:
            return found
    raise Failed("no free ports on 127.0.0.1")


def wait_for(port, process, log):
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        if process.poll() is not None:
            break
        time.sleep(0.02)
    raise Failed(f"{process.args[0]} does not listen on port {port}; it says:\n{log.read_text()}")


class Processes:
    """Started in order, stopped in the reverse order whatever happens."""

    def __init__(self, folder):
        self.folder = folder
        self.running = []

    def start(self, name, port, *command):
        log = self.folder / f"{name}.log"
        with log.open("w") as stderr:
            process = subprocess.Popen(command, cwd=self.folder, stdout=stderr, stderr=stderr)
        self.running.append(process)
        wait_for(port, process, log)

    def stop(self):
        for process in reversed(self.running):
            process.send_signal(signal.SIGTERM)
        for process in self.running:
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.running.clear()


def load(binaries, *options):
    """Runs the load client; its progress goes to the terminal, its result is returned."""
    done = subprocess.run([binaries / "culvert-load", *options, "--json"], stdout=subprocess.PIPE,
                          text=True, check=False)
    if not done.stdout.strip():
        raise Failed(f"culvert-load ended with status {done.returncode} and no result")
    return json.loads(done.stdout)


def drive(binaries, carrier, processes):
    folder = processes.folder
    backend, tunnel, entry = free_ports(3)
    websocket = carrier == "ws"
    (folder / "server.conf").write_text(SERVER.format(
        tunnel=tunnel, backend=backend,
        carrier="carrier = ws\npath = /tunnel\n" if websocket else ""))
    (folder / "client.conf").write_text(CLIENT.format(
        entry=entry, tunnel=tunnel, scheme="ws" if websocket else "tcp",
        path="/tunnel" if websocket else ""))
    culvert = binaries / "culvert"
    processes.start("backend", backend, binaries / "culvert-load", "serve", f"127.0.0.1:{backend}",
                    "--quiet")
    processes.start("server", tunnel, culvert, "run", "server.conf")
    processes.start("client", entry, culvert, "run", "client.conf")

    to = ("--to", f"127.0.0.1:{entry}")
    bulk = load(binaries, "bulk", *to, "--direction", "both", "--connections", "4", "--duration",
                f"{BULK_SECONDS}s")
    latency = load(binaries, "latency", *to, "--connections", "8", "--size", "1K", "--duration",
                   f"{LATENCY_SECONDS}s")
    processes.stop()
    return bulk, latency


def row(carrier, bulk, latency):
    sound = all(result["integrity"] == "ok" and result["failures"] == 0 for result in (bulk, latency))
    times = latency["latency_us"]
    gib = bulk["bytes"] / 2**30
    text = (f"  {'TCP' if carrier == 'tcp' else 'WebSocket':<10}{gib:>8.2f} GiB{bulk['mib_per_second']:>9.0f}"
            f"{latency['requests']:>10}{times['p50']:>9.0f}{times['p99']:>9.0f}"
            f"    {'every byte right' if sound else 'FAILED'}")
    return text, sound


NEXT = """
What you saw: plaintext in at one end, XChaCha20-Poly1305 records between the ends, plaintext out
at the other. Both ends ran on this machine, so they and the load shared its processors.

What to try next:
  {0}/culvert keygen psk edge.psk   a key for two hosts of yours
  {0}/culvert help config           every key of the configuration file
  {0}/culvert-load bulk --help      the load client, for your own entry
  README.md shows the two-host set-up in five minutes
"""


def main():
    binaries = pathlib.Path(sys.argv[1]).resolve()
    rows = []
    sound = True
    with tempfile.TemporaryDirectory(prefix="culvert-demo-") as name:
        folder = pathlib.Path(name)
        processes = Processes(folder)
        subprocess.run([binaries / "culvert", "keygen", "psk", folder / "demo.psk"], check=True)
        try:
            for carrier in ("tcp", "ws"):
                kind = "TCP" if carrier == "tcp" else "WebSocket"
                print(f"over {kind}: {BULK_SECONDS} s of bulk, {LATENCY_SECONDS} s of requests",
                      flush=True)
                text, good = row(carrier, *drive(binaries, carrier, processes))
                rows.append(text)
                sound = sound and good
        finally:
            processes.stop()
    print(f"\n  {'carrier':<10}{'both ways':>12}{'MiB/s':>9}{'requests':>10}{'p50 us':>9}{'p99 us':>9}"
          "    integrity")
    print("\n".join(rows))
    print(NEXT.format(sys.argv[1]), end="")
    return 0 if sound else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as reason:
        print(f"demo: {reason}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
