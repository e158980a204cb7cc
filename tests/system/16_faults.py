"""Networks at fault, by the thousand, drawn from seeds.

What an application reads is a prefix of what the other wrote; it is complete exactly when a clean
end is seen; any other ending is a reset; nothing hangs. CULVERT_TEST_SEED repeats a run, and with
CULVERT_TEST_SCRIPT the script of a connection that went wrong takes the place of those drawn.
"""

import functools
import os
import random
import time

from support import case
from support.faults import DEADLINE, Arena, in_words, run_faults
from support.ports import free_port
from support.tunnel import FOUR_KINDS
from support.waiting import together, until

MIB = 1 << 20
TWO_THREADS = ["threads = 2"]
FAULTS = ("cut", "rst", "truncate", "dark", "flip", "drop", "repeat", "swap")


def seed_of_this_run():
    return int(os.environ.get("CULVERT_TEST_SEED") or random.SystemRandom().getrandbits(32))


class ThousandsOfSeeds(case.SystemTest):
    RUNS = 5000
    EACH = RUNS // len(FOUR_KINDS)

    def test_a_prefix_and_a_true_end(self):
        seed = seed_of_this_run()
        print(f"seed {seed}")
        # Most of a run's time is a deadline's: many at a time.
        arena = Arena(self, FOUR_KINDS, lanes=256, daemon=TWO_THREADS)
        # What the daemons keep: buffers for as many connections at a time as there will be.
        warm = arena.run(seed, 200, script="app send=300000; service send=300000")
        self.assert_no_violation(warm)
        before = [(daemon.open_files(), daemon.memory()) for daemon in arena.daemons]

        began = time.monotonic()
        script = os.environ.get("CULVERT_TEST_SCRIPT")
        told = arena.run(seed, self.RUNS, script=script)
        print(f"{self.RUNS} runs in {time.monotonic() - began:.0f} s")
        self.assert_no_violation(told)
        for kind, tally in zip(FOUR_KINDS, told["kinds"]):
            print(f"{kind}: {tally}")
            with self.subTest(kind):
                if not script:
                    self.assert_telling(tally)
        for daemon, (files, memory) in zip(arena.daemons, before):
            until(lambda: daemon.open_files() <= files, 25, f"the {daemon.name} closes its files")
            self.assertLess(daemon.memory() - memory, 8 * MIB, f"the {daemon.name} has grown")
            self.assertEqual(daemon.log_lines(" error "), [])

    def assert_no_violation(self, told):
        if told["violations"]:
            self.fail(in_words(told["violations"]))

    def assert_telling(self, tally):
        """A run in which everything fails at once would prove nothing. The bounds are far below
        what comes out, but far above nothing."""
        share = {name: tally[name] / self.EACH for name in
                 ("clean", "half", "reset_in_transfer", "reset_at_once", "left")}
        self.assertEqual(round(sum(share.values()), 6), 1)
        self.assertGreater(share["clean"], 0.3)
        self.assertGreater(share["reset_in_transfer"], 0.05)
        self.assertGreater(share["half"], 0.03)
        self.assertGreater(share["left"], 0.05)
        self.assertLess(share["reset_at_once"], 0.25)
        self.assertGreater(tally["bytes"], 8 * MIB)
        for fault in FAULTS:
            self.assertGreater(tally["faults"].get(fault, 0), 0 if fault == "dark" else 15, fault)
        self.assertLess(tally["longest_ms"], DEADLINE * 1000)


class Scripts(case.SystemTest):
    """Faults that once did harm, or that seeds meet too rarely."""

    LANES = 2 * len(FOUR_KINDS)  # of a script

    SCRIPTS = {
        "nothing at all": ("app", "clean"),
        "only the ends": ("app late; service", "clean"),
        "bytes of a record lost, and nothing but keepalives behind them":
            ("app send=4000; service send=4 late; up drop@3252+700", "reset_in_transfer"),
        "the same at the other end":
            ("app send=4 late; service send=4000; down drop@3252+700", "reset_in_transfer"),
        "a cut between the two ends of a connection":
            ("app send=1000; service send=100000 reply; down cut@60000", "half"),
        "a service that speaks first into a path that goes dark":
            ("app reply; service send=200000; down dark@100000", "reset_in_transfer"),
        "one byte a segment both ways, slow applications":
            ("app send=3000 piece=7 read=11; service send=3000 piece=5 rest=1ms; "
             "up trickle=1; down trickle=1", "clean"),
    }

    def test_all(self):
        arena = Arena(self, FOUR_KINDS, lanes=self.LANES * len(self.SCRIPTS))
        together({name: functools.partial(self.comes_to, arena, number, script, outcome)
                  for number, (name, (script, outcome)) in enumerate(self.SCRIPTS.items())})

    def comes_to(self, arena, number, script, outcome):
        told = arena.run(0, len(FOUR_KINDS), script=script, lanes=self.LANES,
                         first_lane=number * self.LANES)
        if told["violations"]:
            self.fail(in_words(told["violations"]))
        for kind, tally in zip(FOUR_KINDS, told["kinds"]):
            self.assertEqual(tally[outcome], 1, f"{kind}: {tally}")


class TheCheckItself(case.SystemTest):
    """A relay without a tunnel lies: it makes a clean end of a cut, and passes on what is wrong."""

    def lies(self, script, why):
        told = run_faults("--network", free_port(), "--service", free_port(), "--lanes", 4,
                          "--at-once", 4, "--count", 4, "--deadline", 3, "--script", script)
        self.assertEqual(len(told["violations"]), 4, told)
        for violation in told["violations"]:
            self.assertIn(why, violation["why"])

    def test_lies_are_found(self):
        up = "app send=50000; service send=50000; up "
        self.lies(up + "cut@20000", "a clean end")
        self.lies(up + "truncate@20000", "a clean end after 20000 of 50000 bytes")
        self.lies(up + "flip@20000.7", "byte 20000 is not what was written")
        self.lies(up + "drop@20000+1", "byte 20000 is not what was written")
        self.lies(up + "repeat@20000+9", "byte 20009 is not what was written")
        self.lies(up + "swap@20000+50", "byte 20000 is not what was written")
        self.lies(up + "drop@49999+1", "a clean end after 49999 of 50000 bytes")
        self.lies(up + "dark@20000", "no end was seen within the deadline")

    def test_without_faults_a_relay_is_truthful(self):
        told = run_faults("--network", free_port(), "--service", free_port(), "--lanes", 8,
                          "--at-once", 4, "--count", 50, "--script",
                          "app send=50000; service send=50000 late; up delay=2ms; down split=900")
        self.assertEqual(told["violations"], [])
        self.assertEqual(told["kinds"][0]["clean"], 50)

    def test_most_seeds_find_them(self):
        told = run_faults("--network", free_port(), "--service", free_port(), "--lanes", 128,
                          "--at-once", 64, "--count", 500, "--deadline", 5)
        self.assertGreater(len(told["violations"]), 50)


class Churn(case.SystemTest):
    """Ten thousand connections, half of them harmed: nothing stays behind."""

    COUNT, ROUNDS = 10_000, 5
    STREAMS = "app send=3000; service send=3000"
    HARM = ("cut@2500", "rst@2500", "flip@2600.3", "truncate@2500")

    def test_nothing_is_left_of_ten_thousand(self):
        self.arena = Arena(self, FOUR_KINDS, daemon=TWO_THREADS)
        self.churn(self.COUNT // self.ROUNDS)
        files = [daemon.open_files() for daemon in self.arena.daemons]
        memory = []
        for _ in range(self.ROUNDS):
            self.churn(self.COUNT // self.ROUNDS)
            for daemon, most in zip(self.arena.daemons, files):
                until(lambda: daemon.open_files() <= most, 25, f"{daemon.name} closes its files")
            memory.append([daemon.memory() // 1024 for daemon in self.arena.daemons])
        print(f"KiB of server and client after each {self.COUNT // self.ROUNDS}: {memory}")
        for first, last in zip(memory[0], memory[-1]):
            self.assertLess(last - first, 4096)  # 400 bytes for each connection

    def churn(self, count):
        half = count // 2
        self.assertEqual(self.clean_ones(half, self.STREAMS), half)
        for harm in self.HARM:
            clean = self.clean_ones(half // len(self.HARM), f"{self.STREAMS}; up {harm}")
            self.assertEqual(clean, 0, harm)

    def clean_ones(self, count, script):
        told = self.arena.run(0, count, script=script)
        self.assertEqual(told["violations"], [], script)
        return sum(tally["clean"] for tally in told["kinds"])


if __name__ == "__main__":
    case.main()
