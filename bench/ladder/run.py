#!/usr/bin/env python3
"""Measures what each layer of a relayed byte costs: run.py build/release/ladder

Writes ladder.txt and ladder.json into bench/results. Runs in the network namespace of the relay
bench, so that both have the same congestion control."""

import json
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "relay"))

import machine  # noqa: E402
import namespace  # noqa: E402

ROUNDS, MILLISECONDS = 5, 600
RUNGS = {
    "cipher": "ChaCha20-Poly1305, 64 KiB sealed and opened in memory",
    "record": "+ records: sealer and opener, in memory",
    "session": "+ slots: copied in and out of them, in memory",
    "tunnel": "+ sockets: the two ends of a tunnel over the loopback",
    "relay": "the same reads and writes without records between",
    "loopback": "one connection over the loopback, both its ends",
}


def measured(program):
    done = subprocess.run([program, str(ROUNDS), str(MILLISECONDS)], check=True, text=True,
                          stdout=subprocess.PIPE)
    costs, speeds = {}, {}
    for line in done.stdout.splitlines():
        rung, _, cost, speed = line.split()
        costs.setdefault(rung, []).append(float(cost))
        speeds.setdefault(rung, []).append(float(speed))
    return [{"rung": rung, "what": what, "cpu_s_per_gib": statistics.median(costs[rung]),
             "mib_per_s": statistics.median(speeds[rung]), "rounds": costs[rung]}
            for rung, what in RUNGS.items()]


def text_of(about, rungs):
    yield f"{about['machine']}, {about['kernel']}; congestion control {about['congestion_control']}."
    yield f"Medians of {ROUNDS} rounds, {MILLISECONDS} ms each; both ends together."
    yield ""
    yield f"{'':58}{'CPU s/GiB':>11}{'MiB/s':>9}"
    for rung in rungs:
        yield f"{rung['what']:58}{rung['cpu_s_per_gib']:11.3f}{rung['mib_per_s']:9,.0f}"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    namespace.enter()
    namespace.fit_buffers(1)
    about = machine.place()
    rungs = measured(sys.argv[1])
    text = "\n".join(text_of(about, rungs)) + "\n"
    results = ROOT / "bench" / "results"
    (results / "ladder.txt").write_text(text)
    (results / "ladder.json").write_text(json.dumps(about | {"rungs": rungs}, indent=1) + "\n")
    print(text, end="")


if __name__ == "__main__":
    try:
        main()
    except namespace.NoNamespace as reason:
        sys.exit(f"bench: {reason}")
