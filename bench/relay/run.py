#!/usr/bin/env python3
"""Measures culvert beside other relays and tunnels: run.py --help."""

import argparse
import itertools
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import bars  # noqa: E402
import figures  # noqa: E402
import keys  # noqa: E402
import machine  # noqa: E402
import namespace  # noqa: E402
import report  # noqa: E402
from contenders import CONTENDERS, Place, refusal  # noqa: E402
from measuring import Failed, Tunnel  # noqa: E402
from samples import Samples  # noqa: E402


def chosen_from(known):
    def parse(text):
        wanted = text.split(",")
        wrong = [name for name in wanted if name not in known]
        if wrong:
            raise argparse.ArgumentTypeError(f"{wrong[0]}: not one of {', '.join(known)}")
        return wanted
    return parse


def absolute(name):
    return pathlib.Path(name).absolute()


def options():
    names = [contender.name for contender in CONTENDERS]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=absolute,
                        default=absolute("build/release"),
                        help="the folder of culvert and culvert-load [%(default)s]")
    parser.add_argument("--only", type=chosen_from(figures.FIGURES), default=figures.FIGURES,
                        metavar="FIGURE,...", help="of " + ", ".join(figures.FIGURES))
    parser.add_argument("--cells", metavar="CELL,...", type=lambda text: text.split(","),
                        help="as the table names them: \"1 up,1 x 1 B\"")
    parser.add_argument("--contenders", type=chosen_from(names), default=names,
                        metavar="NAME,...", help="of " + ", ".join(names))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1, help="each measurement [%(default)s]")
    parser.add_argument("--results", type=absolute, metavar="FOLDER",
                        help="where tables, JSON and plots go [a new one]")
    parser.add_argument("--readme", action="store_true", help="write the bars into README.md")
    given = parser.parse_args()
    given.whole = not given.cells and set(given.contenders) == set(names) \
        and set(given.only) == set(figures.FIGURES)
    return given


class Bench:
    def __init__(self, given, folder):
        self.given = given
        self.folder = folder
        self.ports = itertools.count(namespace.FIRST_PORT)
        self.samples = Samples()
        self.contenders = []
        self.absent = {}  # and why
        for contender in CONTENDERS:
            if contender.name in given.contenders:
                why = refusal(contender, self.place(contender))
                if why:
                    self.absent[contender.name] = why
                else:
                    self.contenders.append(contender)

    def place(self, contender):
        ports = itertools.islice(self.ports, 3)
        return Place(contender.name, self.folder, self.given.build, *ports)

    def cells(self, number):
        return [cell for cell in figures.CELLS if cell.figure in self.given.only
                and (not self.given.cells or cell.name in self.given.cells)
                and (number == 0 or cell.figure not in figures.ONCE)]

    def run(self):
        """Round by round, cell by cell, the contenders one after the other, so that whatever
        disturbs the machine disturbs those that are compared alike."""
        for number in range(self.given.rounds):
            for cell in self.cells(number):
                for contender in self.contenders:
                    if figures.takes_part(contender, cell):
                        self.take(number, cell, contender)

    def take(self, number, cell, contender):
        namespace.fit_buffers(cell.connections)
        pressures = namespace.memory_pressures()
        try:
            tunnel = Tunnel(contender, self.place(contender), cell.mode)
            try:
                found = figures.sample(tunnel, contender, cell, self.given.seconds)
            finally:
                tunnel.stop()
        except Failed as why:
            found = {"failed": str(why)}
        if namespace.memory_pressures() > pressures:
            found.setdefault("complaints", []).append("TCP ran short of memory")
        self.samples.add(number, cell, contender, found)
        print(f"{number + 1} {cell.figure:8}{cell.name:14}{contender.name:25}", short(found),
              file=sys.stderr)


def short(found):
    return "  ".join(f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}"
                     for name, value in found.items() if value is not None)


def main():
    given = options()
    namespace.enter()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="culvert-bench-") as name:
        keys.make_all(pathlib.Path(name), given.build / "culvert")
        bench = Bench(given, pathlib.Path(name))
        about = machine.facts(bench.contenders, given.build)
        bench.run()
    about |= {"absent": bench.absent, "rounds": given.rounds, "seconds": given.seconds,
              "minutes": round((time.monotonic() - began) / 60, 1)}
    results = given.results or pathlib.Path(tempfile.mkdtemp(prefix="culvert-results-"))
    found = bars.all_bars(bench.samples)
    if not given.whole:
        found = [bar for bar in found if bar["value"] is not None]
    text = report.write(results, about, bench.samples, bench.contenders, found)
    if given.readme:
        report.write_readme(about, found)
    print(text)
    print(f"{about['minutes']} minutes; written to {results}")
    return 0 if all(bar["met"] for bar in found) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except namespace.NoNamespace as reason:
        sys.exit(f"bench: {reason}")
