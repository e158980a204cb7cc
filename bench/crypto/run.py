#!/usr/bin/python3
"""Measures the ciphers beside their peers and holds them against the bars.

    run.py BUILD [BUILD_BY_CLANG]      folders that crypto_bench stands in

Writes crypto.txt, crypto.json and the plots into bench/results, and the bars into README.md. The
second build has the AEAD measured only, for its own bars; without it they are left out, aloud.
Returns 1 when a bar is not met.
"""
import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT))

from bench import host  # noqa: E402
from bench.crypto import bars, charts, rounds, tables  # noqa: E402

ROUNDS = 41
RESULTS = ROOT / "bench" / "results"
BEGIN, END = "<!-- make bench-crypto writes from here -->", "<!-- to here -->"


def measured(build, *prefixes):
    print(f"measuring {build} …", file=sys.stderr)
    done = subprocess.run([build / "crypto_bench", str(ROUNDS), *prefixes], check=True, text=True,
                          stdout=subprocess.PIPE)
    return rounds.Measured(done.stdout)


def facts(runs, left_out):
    """What the figures depend on."""
    return {"machine": host.processors(),
            "kernel": host.kernel(),
            "ghz": round(runs[0].ghz, 3),
            "builds": [{"compiler": run.compiler, "ghz": round(run.ghz, 3), "kernels": run.kernels,
                        "rounds": run.rounds, "rounds_left_out": run.dropped} for run in runs],
            "peers": runs[0].peers,
            "left_out": left_out}


def heading(about):
    yield f"{about['machine']}, {about['kernel']}"
    for build in about["builds"]:
        share = build["rounds_left_out"] / build["rounds"]
        yield (f"{build['compiler']}: {build['ghz']:.2f} GHz while it ran, {share:.0%} of the "
               f"rounds disturbed and left out")
    yield "Peers: " + ", ".join(f"{name} {version}" for name, version in about["peers"].items())
    yield from about["left_out"]


def all_bars(runs):
    found = bars.gcc_12(runs[0])
    for bar in found:
        bar["compiler"] = runs[0].compiler_name()
    for run in runs[1:]:
        found += [bar | {"compiler": run.compiler_name()} for bar in bars.clang_19(run)]
    return found


def write_readme(about, found):
    readme = ROOT / "README.md"
    before, _, rest = readme.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    if not after:
        sys.exit(f"README.md lacks the lines '{BEGIN}' and '{END}'")
    lines = ["", "", *(line + "  " for line in heading(about)), "", *tables.bar_markdown(found), "", ""]
    readme.write_text(before + BEGIN + "\n".join(lines) + END + after)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    runs = [measured(Path(sys.argv[1]))]
    left_out = []
    if len(sys.argv) == 3:
        runs.append(measured(Path(sys.argv[2]), "seal/", "open/", "pieces/"))
    else:
        left_out.append("The bars for clang 19 are left out: clang++-19 is not installed.")
    about, found = facts(runs, left_out), all_bars(runs)
    figures = [list(tables.rows_of(run)) for run in runs]

    text = [*heading(about), f"Medians of {ROUNDS} rounds of short batches; peers in the same rounds."]
    for run, rows in zip(runs, figures):
        text += ["", f"==== {run.compiler}", *tables.table(rows)]
    text = "\n".join(line.rstrip() for line in [*text, "", *tables.bar_table(found)]) + "\n"

    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "crypto.txt").write_text(text)
    (RESULTS / "crypto.json").write_text(json.dumps(
        about | {"rows": sum(figures, []), "bars": found}, indent=1) + "\n")
    clang = runs[1] if len(runs) > 1 else None
    for name, svg in charts.charts(runs[0], clang, tables.PIECES_OF).items():
        (RESULTS / name).write_text(svg)
    write_readme(about, found)
    print(text, end="")
    return 0 if all(bar["met"] for bar in found) else 1


if __name__ == "__main__":
    sys.exit(main())
