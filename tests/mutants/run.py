#!/usr/bin/env python3
"""Builds wrong versions of the sources, one after the other, and expects a test to fail for each.

    run.py SOURCE [PART OF A DESCRIPTION]

Works in a copy of the tree that is removed at the end."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from crypto import MUTANTS, TESTS

TARGETS = [f"test_crypto_{name}" for name in TESTS]


def quietly(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def configure(tree, build):
    launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
    made = quietly("cmake", "-S", tree, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                   *launcher)
    if made.returncode != 0:
        sys.exit(made.stdout)


def compiles(build):
    jobs = os.environ.get("JOBS", str(os.cpu_count()))
    made = quietly("cmake", "--build", build, "-j", jobs, "--target", *TARGETS)
    if made.returncode != 0:
        print(made.stdout)
    return made.returncode == 0


def failing_test(build):
    """The first test that fails, None when all pass."""
    for target in TARGETS:
        if quietly(build / target).returncode != 0:
            return target
    return None


def verdict(tree, build, file, text, wrong):
    path = tree / file
    right = path.read_text()
    if right.count(text) != 1:
        return f"NOT APPLIED: {right.count(text)} places in {file}"
    path.write_text(right.replace(text, wrong))
    try:
        if not compiles(build):
            return "NOT BUILT"
        caught = failing_test(build)
        return f"caught by {caught}" if caught else "NOT CAUGHT"
    finally:
        path.write_text(right)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    wanted = sys.argv[2] if len(sys.argv) > 2 else ""
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        tree, build = pathlib.Path(folder) / "tree", pathlib.Path(folder) / "build"
        shutil.copytree(sys.argv[1], tree, ignore=shutil.ignore_patterns("build", ".git"))
        configure(tree, build)
        if not compiles(build) or failing_test(build):
            sys.exit("the tests do not pass without any mutant")
        missed = 0
        for what, *change in MUTANTS:
            if wanted not in what:
                continue
            result = verdict(tree, build, *change)
            missed += not result.startswith("caught")
            print(f"{what}: {result}", flush=True)
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
