#!/usr/bin/env python3
"""Measures culvert beside other relays and tunnels: run.py --help."""

import argparse
import itertools
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import figures  # noqa: E402
import keys  # noqa: E402
import namespace  # noqa: E402
from contenders import CONTENDERS, Place  # noqa: E402
from measuring import Failed, Tunnel  # noqa: E402


def chosen_from(known):
    def parse(text):
        wanted = text.split(",")
        wrong = [name for name in wanted if name not in known]
        if wrong:
            raise argparse.ArgumentTypeError(f"{wrong[0]}: not one of {', '.join(known)}")
        return wanted
    return parse


def options():
    names = [contender.name for contender in CONTENDERS]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"),
                        help="the folder of culvert and culvert-load [%(default)s]")
    parser.add_argument("--only", type=chosen_from(figures.FIGURES), default=figures.FIGURES,
                        metavar="FIGURE,...", help="of " + ", ".join(figures.FIGURES))
    parser.add_argument("--cells", metavar="CELL,...", type=lambda text: text.split(","),
                        help="as the table names them: \"1 up,1 x 1 B\"")
    parser.add_argument("--contenders", type=chosen_from(names), default=names,
                        metavar="NAME,...", help="of " + ", ".join(names))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1, help="each measurement [%(default)s]")
    return parser.parse_args()


class Bench:
    def __init__(self, given, folder):
        self.given = given
        self.folder = folder
        self.ports = itertools.count(namespace.FIRST_PORT)
        self.contenders = [c for c in CONTENDERS if c.name in given.contenders]
        self.samples = []

    def open(self, contender, cell):
        return Tunnel(contender, Place(contender.name, self.folder, self.given.build.resolve(),
                                       *itertools.islice(self.ports, 3)), cell.mode)

    def cells(self):
        return [cell for cell in figures.CELLS if cell.figure in self.given.only
                and (not self.given.cells or cell.name in self.given.cells)]

    def run(self):
        for number in range(self.given.rounds):
            for cell in self.cells():
                if cell.figure == "idle" and number > 0:
                    continue  # memory does not vary from round to round
                for contender in self.contenders:
                    if figures.takes_part(contender, cell):
                        self.take(number, cell, contender)

    def take(self, number, cell, contender):
        try:
            tunnel = self.open(contender, cell)
            try:
                found = figures.sample(tunnel, contender, cell, self.given.seconds)
            finally:
                tunnel.stop()
        except Failed as why:
            found = {"failed": str(why)}
        self.samples.append({"round": number, "figure": cell.figure, "cell": cell.name,
                             "contender": contender.name, **found})
        print(f"{cell.figure:8} {cell.name:12} {contender.name:20}", short(found), flush=True)


def short(found):
    return "  ".join(f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}"
                     for name, value in found.items() if value is not None)


def main():
    given = options()
    namespace.enter()
    print("congestion control:", namespace.congestion_control())
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="culvert-bench-") as name:
        folder = pathlib.Path(name)
        keys.make_all(folder, given.build.resolve() / "culvert")
        bench = Bench(given, folder)
        bench.run()
    print(f"{time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    try:
        main()
    except namespace.NoNamespace as reason:
        sys.exit(f"bench: {reason}")
