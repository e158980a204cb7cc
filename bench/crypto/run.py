#!/usr/bin/env python3
"""Runs crypto_bench from a folder of binaries and keeps its tables in bench/results.

    run.py BUILD [Google Benchmark's options]

Writes crypto-aead.txt and crypto-aead.json. Returns what the bench returns: 0 when every bar is
met."""

import json
import pathlib
import platform
import subprocess
import sys

RESULTS = pathlib.Path(__file__).resolve().parent.parent / "results"


def cpu_name():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    RESULTS.mkdir(exist_ok=True)
    target = RESULTS / "crypto-aead.json"
    bench = subprocess.run([pathlib.Path(sys.argv[1]) / "crypto_bench", f"--json={target}",
                            *sys.argv[2:]], stdout=subprocess.PIPE, text=True)
    if bench.returncode not in (0, 1):
        sys.exit(bench.returncode)
    heading = f"{cpu_name()}, {platform.system()} {platform.release()}"
    (RESULTS / "crypto-aead.txt").write_text(f"{heading}\n\n{bench.stdout}")
    results = {"machine": heading, **json.loads(target.read_text())}
    target.write_text(json.dumps(results, indent=1) + "\n")
    print(bench.stdout, end="")
    return bench.returncode


if __name__ == "__main__":
    sys.exit(main())
