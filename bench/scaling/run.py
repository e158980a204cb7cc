#!/usr/bin/env python3
"""Measures how capacity grows with servers behind HAProxy: run.py build/release

Each server may use a fixed share of one processor, so that a few of them, the balancer and the load
fit on a small machine. Writes scaling.txt and scaling.json into bench/results. Root's."""

import contextlib
import json
import os
import pathlib
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

from share import NoShares, Share

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from bench import host  # noqa: E402

SAMPLE = ROOT / "config" / "samples" / "haproxy-scaling.cfg"
SERVERS = 3
SHARE = 0.05  # of a processor, for each server
ROUNDS, SECONDS = 3, 4
CONNECTIONS = 24
IDLE = 2000
TICKS = os.sysconf("SC_CLK_TCK")


def free_ports(count):
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for sock in sockets:
            sock.bind(("127.0.0.1", 0))
        return [sock.getsockname()[1] for sock in sockets]


class Program:
    def __init__(self, command, port, log):
        with open(log, "wb") as output:
            self._popen = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output,
                                           stderr=output)
        deadline = time.monotonic() + 10
        while True:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            if self._popen.poll() is not None or time.monotonic() > deadline:
                sys.exit(f"{command[0]} does not listen: {pathlib.Path(log).read_text()}")
            time.sleep(0.02)
        self.pid = self._popen.pid

    def cpu(self):
        fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def memory(self):
        status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) * 1024

    def files(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def stop(self):
        self._popen.send_signal(signal.SIGKILL)
        self._popen.wait()


class Farm:
    """So many servers behind the balancer of the sample, with a backend and its load."""

    def __init__(self, build, folder, count, stack, share=SHARE):
        self._build, self._folder = build, folder
        ports = free_ports(count + 2)
        self._entry, backend, *places = ports
        self._start([build / "culvert-load", "serve", "--quiet", f"127.0.0.1:{backend}"], backend,
                    "backend", stack)
        self.servers = []
        for number, port in enumerate(places):
            file = folder / f"server{number}.conf"
            file.write_text(f"[server.edge]\nlisten = 127.0.0.1:{port}\npsk = {folder}/edge.psk\n"
                            f"service = load 127.0.0.1:{backend}\nproxy-address = 127.0.0.1\n")
            server = self._start([build / "culvert", "run", file], port, f"server{number}", stack)
            if share:
                bounds = Share(share)
                stack.callback(lambda bounds=bounds, server=server: (server.stop(), bounds.close()))
                bounds.take(server.pid)
            self.servers.append(server)
        file = folder / "haproxy.cfg"
        file.write_text(self._balancer(places))
        self.balancer = self._start(["haproxy", "-db", "-f", file], self._entry, "haproxy", stack)

    def _start(self, command, port, name, stack):
        program = Program(command, port, self._folder / f"{name}.log")
        stack.callback(program.stop)
        return program

    def _balancer(self, places):
        text = re.sub(r"bind \S+", f"bind 127.0.0.1:{self._entry}", SAMPLE.read_text())
        text = re.sub(r"^ *(source|server) .*\n", "", text, flags=re.M)
        lines = [f"    server edge{number} 127.0.0.1:{port}\n" for number, port in enumerate(places)]
        return text + "".join(lines)

    def load(self, *words):
        done = subprocess.run([self._build / "culvert-load", *words, "--quiet", "--json", "--connect",
                               f"tcp://127.0.0.1:{self._entry}", "--psk", self._folder / "edge.psk"],
                              stdout=subprocess.PIPE, text=True, check=False)
        found = json.loads(done.stdout)
        if found["failures"] or done.returncode != 0:
            sys.exit(f"{' '.join(words)}: {found['errors']}, {found['integrity']}")
        return found

    def measure(self, *words):
        """What the load client tells, with the processor time of servers and balancer."""
        before = [program.cpu() for program in (self.balancer, *self.servers)]
        found = self.load(*words, "--duration", f"{SECONDS}s", "--connections", str(CONNECTIONS))
        after = [program.cpu() for program in (self.balancer, *self.servers)]
        balancer, *servers = (b - a for a, b in zip(before, after))
        return found | {"balancer": balancer, "servers": servers}


def measured(farm):
    bulk = farm.measure("bulk")
    churn = farm.measure("churn")
    gib = bulk["bytes"] / 2**30
    return {"mib_per_second": bulk["mib_per_second"],
            "connections_per_second": churn["requests_per_second"],
            "server_cpu_per_gib": sum(bulk["servers"]) / gib,
            "balancer_cpu_per_gib": bulk["balancer"] / gib,
            "server_cpu_per_connection": sum(churn["servers"]) / churn["requests"],
            "balancer_cpu_per_connection": churn["balancer"] / churn["requests"],
            "load_cpu_per_gib": bulk["cpu_seconds"] / gib}


def quiet_sessions(build, folder):
    """Memory and descriptors of a session that says nothing, at a server and at the balancer."""
    with contextlib.ExitStack() as stack:
        farm = Farm(build, folder, 1, stack, share=None)
        programs = {"server": farm.servers[0], "balancer": farm.balancer}
        farm.load("idle", "--connections", "100", "--duration", "500ms")
        before = {name: (p.memory(), p.files()) for name, p in programs.items()}
        holding = subprocess.Popen([build / "culvert-load", "idle", "--quiet", "--connect",
                                    f"tcp://127.0.0.1:{farm._entry}", "--psk", folder / "edge.psk",
                                    "--connections", str(IDLE), "--duration", "1m"],
                                   stdout=subprocess.DEVNULL)
        stack.callback(lambda: (holding.kill(), holding.wait()))
        wanted = before["server"][1] + 2 * IDLE
        deadline = time.monotonic() + 50
        while farm.servers[0].files() < wanted:
            if time.monotonic() > deadline:
                sys.exit("the quiet sessions do not come about")
            time.sleep(0.1)
        return {name: {"bytes": round((p.memory() - before[name][0]) / IDLE),
                       "descriptors": round((p.files() - before[name][1]) / IDLE, 2)}
                for name, p in programs.items()}


def medians(rounds):
    return {key: statistics.median(found[key] for found in rounds) for key in rounds[0]}


def text_of(found):
    yield f"{found['machine']}, {found['kernel']}; HAProxy {found['haproxy']}."
    yield f"Load average {found['load_before']} before it began."
    yield f"Each server may use {SHARE:.0%} of one processor; the balancer, the load and its backend share"
    yield f"the rest. {CONNECTIONS} connections, medians of {ROUNDS} rounds of {SECONDS} s."
    yield ""
    yield f"{'servers':>8}{'MiB/s':>10}{'to one':>8}{'connections/s':>16}{'to one':>8}"
    one = found["by_servers"]["1"]
    for count, row in found["by_servers"].items():
        yield (f"{count:>8}{row['mib_per_second']:10.1f}"
               f"{row['mib_per_second'] / one['mib_per_second']:8.2f}"
               f"{row['connections_per_second']:16.0f}"
               f"{row['connections_per_second'] / one['connections_per_second']:8.2f}")
    yield ""
    yield f"{'processor time':32}{'server':>10}{'balancer':>10}"
    row = found["by_servers"][str(SERVERS)]
    yield f"{'s/GiB':32}{row['server_cpu_per_gib']:10.2f}{row['balancer_cpu_per_gib']:10.2f}"
    yield (f"{'us/connection, made and ended':32}{1e6 * row['server_cpu_per_connection']:10.0f}"
           f"{1e6 * row['balancer_cpu_per_connection']:10.0f}")
    quiet = found["quiet_session"]
    yield f"{'a quiet session: bytes':32}{quiet['server']['bytes']:10}{quiet['balancer']['bytes']:10}"
    yield (f"{'a quiet session: descriptors':32}{quiet['server']['descriptors']:10}"
           f"{quiet['balancer']['descriptors']:10}")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    build = pathlib.Path(sys.argv[1]).resolve()
    version = subprocess.run(["haproxy", "-v"], capture_output=True, text=True, check=True).stdout
    found = {"machine": host.processors(), "kernel": host.kernel(),
             "haproxy": re.search(r"\d+\.[\w.+-]+", version)[0],
             "load_before": round(os.getloadavg()[0], 1), "share": SHARE}
    rounds = {count: [] for count in range(1, SERVERS + 1)}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run([build / "culvert", "keygen", "psk", folder / "edge.psk"], check=True)
        for _ in range(ROUNDS):
            for count, samples in rounds.items():
                with contextlib.ExitStack() as stack:
                    samples.append(measured(Farm(build, folder, count, stack)))
        found["by_servers"] = {str(count): medians(samples) for count, samples in rounds.items()}
        found["quiet_session"] = quiet_sessions(build, folder)
    text = "\n".join(text_of(found)) + "\n"
    results = ROOT / "bench" / "results"
    (results / "scaling.txt").write_text(text)
    (results / "scaling.json").write_text(json.dumps(found, indent=1) + "\n")
    print(text, end="")


if __name__ == "__main__":
    try:
        main()
    except NoShares as why:
        sys.exit(f"not measured: {why}")
