#!/usr/bin/python3
"""Runs each fuzz target for a while, as many at a time as there are CPUs, and fails on a finding.

    run.py SECONDS [BUILD [NAME ...]]     BUILD: the folder with the targets, build/fuzz unless given

What the targets learn is kept in BUILD/corpus, inputs that show a finding in BUILD/findings.
"""
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent

# The longest input in bytes, where 512 is not enough to say what there is to say.
LONGEST = {"config_file": 2048, "client_list": 1024, "key_text": 1200, "http_request": 1024,
           "http_response": 1024, "websocket_frames": 1024, "handshake_server": 1024}


def run(target, seconds, build):
    name = target.name.removeprefix("fuzz_")
    corpus, findings = build / "corpus" / name, build / "findings"
    corpus.mkdir(parents=True, exist_ok=True)
    findings.mkdir(exist_ok=True)
    result = subprocess.run(
        [target, f"-max_total_time={seconds}", f"-max_len={LONGEST.get(name, 512)}", "-timeout=20",
         "-print_final_stats=1", f"-artifact_prefix={findings}/{name}-", corpus,
         HERE / "seeds" / name],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    if result.returncode != 0:
        print(result.stdout[-8000:])
        print(f"{name}: FINDING, status {result.returncode}", flush=True)
        return False
    runs = next((line.split()[-1] for line in result.stdout.splitlines()
                 if line.startswith("stat::number_of_executed_units")), "?")
    print(f"{name}: {runs} runs, no finding", flush=True)
    return True


def main():
    if len(sys.argv) < 2 or not sys.argv[1].isdigit() or int(sys.argv[1]) == 0:
        sys.exit(__doc__)
    build = Path(sys.argv[2]) if len(sys.argv) > 2 else HERE.parents[1] / "build" / "fuzz"
    names = sys.argv[3:] or sorted(folder.name for folder in HERE.glob("seeds/*"))
    targets = [build / f"fuzz_{name}" for name in names]
    missing = [t.name for t in targets if not t.exists()]
    if missing or not targets:
        sys.exit(f"not built in {build}: {', '.join(missing)}: "
                 "cmake --preset fuzz && cmake --build --preset fuzz")
    # All of them, even after a finding.
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        results = list(pool.map(lambda target: run(target, int(sys.argv[1]), build), targets))
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
