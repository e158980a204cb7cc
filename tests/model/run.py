#!/usr/bin/env python3
"""Checks the state machines of the protocol with spin: every state, no approximation.

    run.py [--jobs N] [--deep] [--results FILE] [PART OF A DESCRIPTION]

Prints a line for each model and each wrong version of one, and ends with 1 when a model fails or a
wrong version passes. A search that does not come to its end counts as a failure."""

import argparse
import concurrent.futures
import pathlib
import re
import subprocess
import sys
import tempfile

from models import CHECKS, DEEP, LIVENESS, SAFETY

HERE = pathlib.Path(__file__).parent
MEMORY = 1_800  # MiB, of one search
DEPTH = 1_000_000
COLUMNS = "{:<10} {:<62} {:>11} {:>6} {:>6}  {}"


def build(check, folder):
    defines = check.define.split()
    subprocess.run(["spin", "-a", *defines, HERE / f"{check.model}.pml"], cwd=folder, check=True,
                   stdout=subprocess.DEVNULL)
    flags = LIVENESS if check.live else SAFETY
    # The code that spin makes is not warning-free.
    subprocess.run(["gcc", "-w", "-O2", f"-DMEMLIM={MEMORY}", *flags.split(), "-o", "pan", "pan.c"],
                   cwd=folder, check=True)


def search(check, folder):
    options = ["-a", "-f"] if check.live else []
    ran = subprocess.run(["./pan", f"-m{DEPTH}", *options], cwd=folder, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True)
    return ran.stdout


def number(pattern, text, default="?"):
    found = re.search(pattern, text)
    return found.group(1) if found else default


def verdict(check, said):
    """What to print, and whether it is as it should be."""
    fault = number(r"pan:1: (assertion violated|.*(?= \(at depth))", said, default=None)
    whole = "errors: 0" in said and not re.search(r"not completed|max search depth", said)
    if fault and not check.holds:
        return f"found: {fault}", True
    if fault:
        return f"FAILS: {fault}", False
    if not whole:
        return "FAILS: the search did not come to its end", False
    return ("holds", True) if check.holds else ("NOT FOUND", False)


def run(check):
    with tempfile.TemporaryDirectory(prefix="model-") as folder:
        build(check, folder)
        said = search(check, folder)
    text, good = verdict(check, said)
    states = number(r"(\d+) states, stored", said)
    depth = number(r"depth reached (\d+)", said)
    memory = number(r"([\d.]+)\s+total actual memory usage", said)
    name = check.model if check.holds else check.model + " *"
    return COLUMNS.format(name, check.what, states, depth, memory.split(".")[0], text), good


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=1, help="searches at the same time")
    parser.add_argument("--deep", action="store_true", help="the larger models only")
    parser.add_argument("--results", type=pathlib.Path, help="a file for what is printed")
    parser.add_argument("part", nargs="?", default="")
    return parser.parse_args()


def main():
    asked = arguments()
    checks = [c for c in (DEEP if asked.deep else CHECKS) if asked.part in c.what]
    if not checks:
        sys.exit(f"nothing has '{asked.part}' in its description")
    lines = [COLUMNS.format("model", "what  (*: a wrong version, which must fail)", "states",
                            "depth", "MiB", "result")]
    print(lines[0], flush=True)
    all_good = True
    with concurrent.futures.ThreadPoolExecutor(asked.jobs) as workers:
        for line, good in workers.map(run, checks):
            print(line, flush=True)
            lines.append(line)
            all_good &= good
    if asked.results:
        asked.results.write_text("\n".join(lines) + "\n")
    sys.exit(0 if all_good else 1)


if __name__ == "__main__":
    main()
