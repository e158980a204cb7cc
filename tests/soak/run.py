#!/usr/bin/python3
"""Ten minutes of everything at once, watched: no byte wrong, no end untrue, nothing left behind.

    run.py BUILD RESULTS [SECONDS]     BUILD: the folder of the programs; RESULTS: where the figures
                                       go; SECONDS: 600 unless given

Two tunnels of two daemons each, of every carrier and kind of keys. The daemons of the *steady* one run
from the first second to the last: load, faults on the network, strangers, signals. Of the *restarted*
one the server is stopped, killed and frozen time and again.
"""

import os
import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "system"), str(HERE.parents[1])]

import figures
import loads
import watch
from support import case
from support.backends import echo
from support.faults import Arena
from support.ports import free_port, is_listening
from support.programs import culvert_load
from support.tunnel import FOUR_KINDS
from support.waiting import until

THREADS = ["threads = 2"]
LANES = 64
POOL = 8
SETTLING = 60  # s for connections to end, deadlines of dead peers included
MIB = 1 << 20
MAY_GROW = 4 * MIB  # from the third quarter to the last
IDLE_SECONDS = 10
IDLE_CPU = 0.01  # of one processor, for a daemon with keepalives of its pools to send


class Soak(case.SystemTest):
    def test_soak(self):
        seconds = float(os.environ["SOAK_SECONDS"])
        steady, restarted = self.make_steady(), self.make_restarted()
        daemons = {"steady server": lambda: steady.server, "steady client": lambda: steady.client,
                   "restarted server": lambda: restarted.server,
                   "restarted client": lambda: restarted.client}
        files_before = self.settled_files(daemons)

        watchdog = watch.Watchdog(daemons, every=min(5, seconds / 40))
        run = loads.Loads(seconds)
        loads.on_steady(run, steady)
        loads.on_restarted(run, restarted)
        run.join()
        watchdog.stop()

        files_after = self.settled_files(daemons, files_before)
        idle = watch.cpu_shares(daemons, IDLE_SECONDS)
        figures.write(pathlib.Path(os.environ["SOAK_RESULTS"]), seconds, watchdog, run,
                      files_before, files_after, idle)
        print(f"\n{figures.counts(run)}")

        self.assertEqual(run.violations, [])
        self.assertEqual(run.missing(), [], "a load that did nothing proves nothing")
        for name in daemons:
            with self.subTest(name):
                self.assertLessEqual(files_after[name], files_before[name], "open files")
                self.assertLess(watchdog.growth(name), MAY_GROW, "memory")
                self.assertLessEqual(watchdog.threads_more(name), 2, "threads")
                self.assertLess(idle[name], IDLE_CPU, "processor when idle")
                self.assertEqual(daemons[name]().log_lines(" error "), [])

    def make_steady(self):
        port = free_port()
        self.start([culvert_load(), "serve", f"127.0.0.1:{port}", "--quiet"], "backend",
                   lambda: is_listening(port))
        return Arena(self, FOUR_KINDS, LANES, THREADS, f"127.0.0.1:{port}", POOL)

    def make_restarted(self):
        return Arena(self, FOUR_KINDS, LANES, THREADS, self.service(echo).target, POOL)

    def settled_files(self, daemons, before=None):
        """Open files of each daemon when its pools are full and all else has ended."""
        files = {}

        def settled():
            was = dict(files)
            files.update({name: daemon().open_files() for name, daemon in daemons.items()})
            if before is not None:
                return all(files[name] <= before[name] for name in files)
            return was == files

        try:
            until(lambda: watch.pause() or settled(), SETTLING, "the open files settle")
        except AssertionError:
            if before is None:
                raise  # else the figures say how many are left, and fail
        return files


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    build = pathlib.Path(sys.argv[1]).resolve()
    seconds = sys.argv[3] if len(sys.argv) == 4 else "600"
    os.environ.update(
        CULVERT_BINARY=str(build / "culvert"), CULVERT_FAULTS=str(build / "culvert-faults"),
        CULVERT_LOAD=str(build / "culvert-load"), SOAK_SECONDS=seconds,
        SOAK_RESULTS=str(pathlib.Path(sys.argv[2]).resolve()))
    unittest.main(argv=["soak"], verbosity=2, warnings="ignore")


if __name__ == "__main__":
    main()
