#!/usr/bin/python3
"""Which lines the tests have run, from the counts of a build by the preset `coverage`.

    report.py BUILD [FILE]     writes the report to FILE, or prints it

A table for each room and file of crypto/, proxy/ and config/, then every line that no test has run,
under the reason that not_covered.md gives for it.
"""
import concurrent.futures
import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
ROOMS = ("config", "crypto", "proxy")
# Braces, and the heads of classes: gcov counts there what the compiler adds, mostly for exceptions.
NO_CODE = re.compile(r"\s*([{}()\[\];,]*|(class|struct)\b.*)\s*(//.*)?")
UNEXPLAINED = "NO REASON GIVEN"


def counts_of(notes):
    """The files of one object file, as gcov tells them."""
    done = subprocess.run(["gcov", "--json-format", "--stdout", "--demangled-names", notes],
                          capture_output=True, cwd=notes.parent)
    if done.returncode != 0:
        sys.exit(f"gcov: {notes}: {done.stderr.decode(errors='replace')}")
    return [f for text in done.stdout.splitlines() if text.strip()
            for f in json.loads(text)["files"]]


def collect(build):
    """{file: {line: [runs, function]}}; a line in several object files counts for all of them."""
    lines = defaultdict(dict)
    notes = [n for room in ROOMS for n in sorted((build / room).rglob("*.gcno"))]
    notes += sorted((build / "tests").rglob("*.gcno"))  # headers that only tests have instances of
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for files in pool.map(counts_of, notes):
            for file in files:
                path = Path(os.path.normpath(build / file["file"]))
                if not path.is_relative_to(ROOT) or path.relative_to(ROOT).parts[0] not in ROOMS:
                    continue
                names = {f["name"]: f["demangled_name"] for f in file["functions"]}
                mine = lines[str(path.relative_to(ROOT))]
                for line in file["lines"]:
                    name = names.get(line.get("function_name"), "")
                    runs = mine.setdefault(line["line_number"], [0, name])
                    runs[0] += line["count"]
    return {file: of_code(ROOT / file, counts) for file, counts in lines.items()}


def of_code(file, counts):
    source = file.read_text().splitlines()
    return {n: c for n, c in counts.items() if not NO_CODE.fullmatch(source[n - 1])}


class Reasons:
    """not_covered.md: a heading for each reason, and below it indented lines FILE [FUNCTION ...]."""

    def __init__(self, text):
        self.rules = []
        title = ""
        for line in text.splitlines():
            if line.startswith("## "):
                title = line[3:].strip()
            elif line.startswith("    ") and line.strip():
                file, *functions = line.split()
                self.rules.append((title, file, functions))
        self.used = set()

    def of(self, file, function):
        for i, (title, name, functions) in enumerate(self.rules):
            if name == file and (not functions or
                                 any(re.search(rf"\b{re.escape(f)}\b", function)
                                     for f in functions)):
                self.used.add(i)
                return title
        return UNEXPLAINED

    def unused(self):
        return [" ".join([file, *functions]) for i, (_, file, functions) in enumerate(self.rules)
                if i not in self.used]


def ranges(numbers, code):
    """Neighbours as one; what no code stands between counts as neighbours."""
    out = []
    for n in sorted(numbers):
        if out and not any(out[-1][1] < c < n for c in code):
            out[-1][1] = n
        else:
            out.append([n, n])
    return [f"{a}-{b}" if a != b else str(a) for a, b in out]


def percent(run, all_lines):
    return f"{100 * run / all_lines:6.1f} %" if all_lines else "       "


def table(lines):
    rows = []
    sums = defaultdict(lambda: [0, 0])
    for file in sorted(lines):
        run = sum(1 for runs, _ in lines[file].values() if runs)
        rows.append((file, run, len(lines[file])))
        for room in {str(Path(file).parent), file.split("/")[0] + "/ in all"}:
            sums[room][0] += run
            sums[room][1] += len(lines[file])
    text = "lines run\n"
    for name, (run, count) in sorted(sums.items()):
        text += f"  {name:<44}{run:>6} of {count:>6}{percent(run, count)}\n"
    text += "\nfile by file\n"
    for name, run, count in rows:
        text += f"  {name:<44}{run:>6} of {count:>6}{percent(run, count)}\n"
    return text


def not_run(lines, reasons):
    found = defaultdict(list)
    for file in sorted(lines):
        by_reason = defaultdict(list)
        for number, (runs, function) in lines[file].items():
            if not runs:
                by_reason[reasons.of(file, function)].append(number)
        for reason, numbers in by_reason.items():
            found[reason].append((file, ranges(numbers, lines[file]), len(numbers)))
    text = ""
    for reason in sorted(found, key=lambda r: (r == UNEXPLAINED, r)):
        text += f"\n{reason}: {sum(n for _, _, n in found[reason])} lines\n"
        for file, where, _ in found[reason]:
            text += f"  {file}:{', '.join(where)}\n"
    return text


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    lines = collect(Path(sys.argv[1]).resolve())
    if not lines:
        sys.exit(f"{sys.argv[1]}: no counts: make coverage")
    reasons = Reasons((HERE / "not_covered.md").read_text())
    text = ("Which lines of config/, crypto/ and proxy/ the tests run. Made by make coverage.\n\n" +
            table(lines) + "\nnot run, by the reasons of not_covered.md\n" +
            not_run(lines, reasons))
    if reasons.unused():
        text += "\nreasons that nothing needs\n  " + "\n  ".join(reasons.unused()) + "\n"
    if len(sys.argv) == 3:
        Path(sys.argv[2]).write_text(text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
