"""Networks at fault, by the thousand, drawn from seeds.

What an application reads is a prefix of what the other wrote; it is complete exactly when a clean end
is seen; any other ending is a reset; nothing hangs. CULVERT_TEST_SEED repeats a run.
"""

import collections
import os
import random
import time

from support import case
from support.faults import Arena, in_words, run_faults
from support.ports import free_port
from support.tunnel import FOUR_KINDS, TCP
from support.waiting import until

MIB = 1 << 20
TWO_THREADS = ["threads = 2"]
FATES = ("cut", "rst", "truncate", "dark")
EDITS = ("flip", "drop", "repeat", "swap")


def total(tallies, name):
    return sum(tally[name] for tally in tallies)


class ThousandsOfSeeds(case.SystemTest):
    RUNS = 4000

    def test_a_prefix_and_a_true_end(self):
        seed = int(os.environ.get("CULVERT_TEST_SEED") or random.SystemRandom().getrandbits(32))
        arena = Arena(self, FOUR_KINDS, daemon=TWO_THREADS)
        arena.run(seed, 100)
        before = [(daemon.open_files(), daemon.memory()) for daemon in arena.daemons]
        began = time.monotonic()
        told = arena.run(seed, self.RUNS)
        seconds = time.monotonic() - began
        print(f"seed {seed}: {self.RUNS} runs in {seconds:.0f} s")
        for kind, tally in zip(FOUR_KINDS, told["kinds"]):
            print(f"{kind}: {tally}")
        self.assertEqual(told["violations"], [], in_words(told["violations"]))
        for daemon, (files, memory) in zip(arena.daemons, before):
            until(lambda: daemon.open_files() <= files, 20, f"the {daemon.name}'s descriptors close")
            self.assertLess(daemon.memory() - memory, 16 * MIB, f"the {daemon.name} has grown")
            self.assertEqual(daemon.log_lines(" error "), [])


if __name__ == "__main__":
    case.main()
