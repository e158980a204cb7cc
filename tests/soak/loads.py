"""What the daemons of the soak are put through, each load in a thread of its own until time is up."""

import collections
import errno
import itertools
import json
import os
import random
import signal
import socket
import subprocess
import threading
import time

from support.programs import culvert_load
from support.streams import CLEAN, connect, random_bytes, read_until_end

KIB, MIB = 1 << 10, 1 << 20
SEEDS_AT_ONCE = 400
SLOW_READER = "app read=65536 rest=200ms; service send=4000000"  # some 300 KB/s
SLOW_LANES = 8


class Loads:
    """Runs loads until the time is up, and counts what they did and what was not as it must be."""

    def __init__(self, seconds):
        self.counted = collections.Counter()
        self.violations = []
        self._until = time.monotonic() + seconds
        self._lock = threading.Lock()
        self._threads = []
        self._expected = []

    def left(self):
        return self._until - time.monotonic()

    def repeat(self, function, *arguments, counts, pause=0.0):
        """Calls function(number, *arguments) time and again. `counts`: what it is to count."""
        self._expected += counts
        thread = threading.Thread(target=self._repeat, args=(function, arguments, pause))
        self._threads.append(thread)
        thread.start()

    def _repeat(self, function, arguments, pause):
        for number in itertools.count():
            if self.left() <= 0:
                return
            try:
                function(number, *arguments)
            except Exception as error:  # whatever it is: a load that can't go on has found something
                self.violated(f"{function.__name__}: {type(error).__name__}: {error}")
                return
            time.sleep(max(0.0, min(pause, self.left())))

    def count(self, what, amount=1):
        with self._lock:
            self.counted[what] += amount

    def violated(self, why):
        with self._lock:
            self.violations.append(why)

    def missing(self):
        return sorted({what for what in self._expected if not self.counted[what]})

    def join(self):
        for thread in self._threads:
            thread.join()


def on_steady(run, arena):
    seed = random.SystemRandom().getrandbits(32)
    print(f"seeds from {seed}")
    run.repeat(faults, run, arena, seed, False, counts=["seeds", "whole", "reset in transfer"])
    run.repeat(slow_readers, run, arena, counts=["slow readers"])
    run.repeat(bulk, run, arena, pause=3, counts=["bulk runs", "bulk MiB"])
    run.repeat(churn, run, arena, pause=2, counts=["churned connections"])
    for entry in arena.entries:
        run.repeat(idle, run, entry, counts=["idle connections"])
    for port in arena.server_ports:
        run.repeat(strangers, run, port, pause=4, counts=["strangers"])
    run.repeat(signals, run, arena, pause=10, counts=["SIGHUPs", "short stops"])


def on_restarted(run, arena):
    seed = random.SystemRandom().getrandbits(32)
    run.repeat(faults, run, arena, seed, True, counts=["seeds while restarted"])
    for entry in arena.entries:
        run.repeat(requests, run, entry, pause=0.05, counts=["whole echoes", "reset echoes"])
    # The first at 5 s: in a short run too.
    run.repeat(restarts, run, arena, pause=5, counts=["SIGTERMs"])


# ---- loads with the network at fault ----

def faults(number, run, arena, seed, others_harm):
    lanes = arena.lanes - SLOW_LANES
    told = arena.run(seed + number * SEEDS_AT_ONCE, SEEDS_AT_ONCE, lanes=lanes,
                     first_lane=SLOW_LANES, others_harm=others_harm)
    run.count("seeds while restarted" if others_harm else "seeds", SEEDS_AT_ONCE)
    judge(run, told)
    if others_harm:
        return
    for tally in told["kinds"]:
        run.count("whole", tally["clean"])
        run.count("half whole", tally["half"])
        run.count("reset in transfer", tally["reset_in_transfer"])
        run.count("reset at once", tally["reset_at_once"])
        run.count("left", tally["left"])
        for fault, times in tally["faults"].items():
            run.count(f"fault {fault}", times)


def slow_readers(number, run, arena):
    told = arena.run(number, SLOW_LANES // 2, script=SLOW_READER, lanes=SLOW_LANES)
    run.count("slow readers", SLOW_LANES // 2)
    judge(run, told)


def judge(run, told):
    for of in told["violations"]:
        run.violated(f"seed {of['seed']} (kind {of['kind']}): {of['why']}: {of['script']}")


# ---- loads through pools ----

def load(run, command, entry, seconds, *options):
    seconds = max(1, min(seconds, int(run.left())))
    done = subprocess.run(
        [culvert_load(), command, "--to", f"127.0.0.1:{entry}", "--duration", f"{seconds}s",
         "--grace", "30s", "--json", "--quiet", *options],
        capture_output=True, text=True, check=False, timeout=seconds + 120)
    told = json.loads(done.stdout)
    if done.returncode != 0 or told["integrity"] != "ok":
        run.violated(f"culvert-load {command}: {told['integrity']}, {told.get('errors')}")
    return told


def bulk(number, run, arena):
    entry = arena.entries[number % len(arena.entries)]
    direction = ("up", "down", "both")[number % 3]
    told = load(run, "bulk", entry, 4, "--direction", direction, "--connections", "4")
    run.count("bulk runs")
    run.count("bulk MiB", told["bytes"] // MIB)


def churn(number, run, arena):
    entry = arena.entries[number % len(arena.entries)]
    told = load(run, "churn", entry, 4, "--connections", "4", "--size", "1000")
    run.count("churned connections", told["requests"])


def idle(_, run, entry):
    """Held for a minute, and alive before and after."""
    load(run, "idle", entry, 60, "--connections", "100")
    run.count("idle connections", 100)


def requests(number, run, entry):
    """An echo that may be reset, but neither wrong nor cut short with a clean end."""
    sent = random_bytes(1 + number * 7919 % 50_000, number)
    try:
        with connect(entry, seconds=30) as application:
            application.sendall(sent)
            application.shutdown(socket.SHUT_WR)
            got = read_until_end(application, seconds=60)
    except OSError as error:
        if error.errno not in (errno.ECONNRESET, errno.EPIPE, errno.ENOTCONN):
            raise
        run.count("reset echoes")
        return
    if got.data != sent[: len(got.data)]:
        run.violated("an echo with wrong bytes")
    if got.end == CLEAN and got.data != sent:
        run.violated(f"a clean end after {len(got.data)} of {len(sent)} bytes")
    run.count("whole echoes" if got.end == CLEAN else "reset echoes")


# ---- what is done to the daemons ----

def strangers(number, run, port):
    """Fifty that talk nonsense or nothing; some stay until the server has had enough of them."""
    held = []
    for i in range(50):
        sock = connect(port)
        if i % 3:
            sock.sendall(os.urandom(i * 13 % 700))
        if i % 5 == 0:
            held.append(sock)
        else:
            sock.close()
    run.count("strangers", 50)
    if number % 8 == 0:
        for sock in held:
            data = read_until_end(sock, seconds=40).data
            if data and not data.startswith(b"HTTP/1.1 404"):
                run.violated(f"a server spoke to a stranger: {data[:40]!r}")
    for sock in held:
        sock.close()


def signals(number, run, arena):
    for daemon in arena.daemons:
        daemon.send_signal(signal.SIGHUP)
    run.count("SIGHUPs", 2)
    stopped = arena.daemons[number % 2]
    freeze(stopped, 0.5)
    run.count("short stops")


def freeze(daemon, seconds):
    daemon.send_signal(signal.SIGSTOP)
    try:
        time.sleep(seconds)
    finally:
        daemon.send_signal(signal.SIGCONT)


def restarts(number, run, arena):
    what = ("SIGTERMs", "SIGKILLs", "long stops of the server", "long stops of the client",
            "SIGTERMs under load, twice")[number % 5]
    if what == "SIGKILLs":
        arena.server.kill()
    elif what.startswith("SIGTERMs"):
        arena.server.send_signal(signal.SIGTERM)
        if "twice" in what:
            arena.server.send_signal(signal.SIGTERM)
        arena.server.wait(30)
    else:
        # Longer than the limit of a dead peer: both ends give up.
        freeze(arena.server if "server" in what else arena.client, 12)
        run.count(what)
        return
    arena.server.check_end()
    time.sleep(1)  # in which nobody is there
    arena.start_server()
    run.count(what)
