#!/usr/bin/python3
"""Runs sponge_bench and holds the result against the bars.

    run.py PROGRAM [FOLDER]    writes FOLDER/crypto-sponge.txt and .json (default: bench/results)

Every measurement is repeated in short batches, all of them in random order, so that a busy
neighbour meets each alike. A figure is the median of a measurement's batches, in CPU time.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

REPETITIONS = 41
BATCH_SECONDS = 0.005
HERE = Path(__file__).resolve().parent


def measured(program):
    """All batches, and the names of the measurements in the program's order."""
    listed = subprocess.run([program, "--benchmark_list_tests=true"],
                            check=True, capture_output=True, text=True)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.json"
        subprocess.run([program, f"--benchmark_out={out}", "--benchmark_out_format=json",
                        f"--benchmark_repetitions={REPETITIONS}",
                        f"--benchmark_min_time={BATCH_SECONDS}",
                        "--benchmark_enable_random_interleaving=true"],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return json.loads(out.read_text())["benchmarks"], listed.stdout.split()


class Results:
    """Median nanoseconds and counters by name."""

    def __init__(self, benchmarks, names):
        times = {}
        self.counters = {}
        for run in benchmarks:
            if run["run_type"] != "iteration":
                continue
            name = run["run_name"]
            times.setdefault(name, []).append(run["cpu_time"])
            self.counters[name] = {key: run[key] for key in ("allocations", "permutations")
                                   if key in run}
        self.ns = {name: statistics.median(times[name]) for name in names}
        self.cycle = self.ns["thousand_cycles"] / 1000

    def cycles(self, name):
        return self.ns[name] / self.cycle

    def ratio(self, slower, faster):
        return self.ns[slower] / self.ns[faster]


def at_least(name, value, bar):
    return {"name": name, "value": round(value, 3), "bar": bar, "met": value >= bar}


def at_most(name, value, bar):
    return {"name": name, "value": round(value, 3), "bar": bar, "met": value <= bar}


def faster_peer(results, row):
    return min(("openssl", "libgcrypt"), key=lambda who: results.ns[f"{row}/{who}"])


def bars_of(results):
    best = best_kernel(results)
    yield at_least("Keccak-f, one state: SHAKE256 of 10,000 B, times OpenSSL's speed",
                   results.ratio("SHAKE256/10000/openssl", "SHAKE256/10000/culvert"), 1.12)
    for states, word, bar in ((8, "eight", 107), (4, "four", 210)):
        yield at_most(f"{word} states, cycles a state",
                      results.cycles(f"permute/{states}/{best}") / states, bar)
    for size in (10, 100):
        row = f"SHAKE256/{size}"
        peer = faster_peer(results, row)
        yield at_least(f"SHAKE256 of {size} B, times the speed of the faster peer ({peer})",
                       results.ratio(f"{row}/{peer}", f"{row}/culvert"), 1.1)
    kept = "cSHAKE256/N,S,testdata/kept"
    yield at_most("cSHAKE256(N, S, testdata) to 64 B, state kept: ns beyond one permutation",
                  results.ns[kept] - results.ns[f"permute/1/{best}"], 40)
    yield at_most("the same: allocations", results.counters[kept]["allocations"], 0)


# The kernels are registered best first.
def best_kernel(results):
    return next(name for name in results.ns if name.startswith("permute/1/")).split("/")[2]


def rows_of(results):
    for name, ns in results.ns.items():
        row = {"name": name, "ns": round(ns, 2), "cycles": round(results.cycles(name), 1)}
        group, what = name.split("/")[0], name.split("/")[1:-1]
        if group == "permute":
            row["cycles_a_state"] = round(row["cycles"] / int(what[0]), 1)
        if group.startswith("SHA"):
            row["cycles_a_byte"] = round(row["cycles"] / int(what[0]), 2)
        yield row | results.counters[name]


def table(rows):
    columns = ["ns", "cycles", "cycles_a_state", "cycles_a_byte", "allocations", "permutations"]
    yield f"{'':36}" + "".join(f"{column.replace('_', ' '):>16}" for column in columns)
    group = None
    for row in rows:
        if row["name"].split("/")[0] != group:
            group = row["name"].split("/")[0]
            yield ""
        cells = (f"{row[column]:16,.12g}" if column in row else " " * 16 for column in columns)
        yield f"{row['name']:36}" + "".join(cells).rstrip()


def bar_table(bars):
    yield f"{'':82}{'value':>9}{'bar':>8}"
    for bar in bars:
        yield f"{bar['name']:82}{bar['value']:9.2f}{bar['bar']:8g}  {'met' if bar['met'] else 'NOT MET'}"


def machine():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return f"{line.split(':')[1].strip()}, {os.cpu_count()} CPUs"
    return "unknown"


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    folder = Path(sys.argv[2]) if len(sys.argv) == 3 else HERE.parent / "results"
    results = Results(*measured(sys.argv[1]))
    rows, bars = list(rows_of(results)), list(bars_of(results))
    frequency = 1 / results.cycle
    lines = [f"The sponge family on {machine()}, {frequency:.2f} GHz while it ran.",
             f"Medians of {REPETITIONS} batches in random order; peers in the same run.", "",
             *table(rows), "", *bar_table(bars)]
    text = "\n".join(line.rstrip() for line in lines) + "\n"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "crypto-sponge.txt").write_text(text)
    (folder / "crypto-sponge.json").write_text(json.dumps(
        {"machine": machine(), "ghz": round(frequency, 3), "rows": rows, "bars": bars},
        indent=1) + "\n")
    print(text, end="")


main()
