"""What is checked: each model as it is, and wrong versions of it, which spin must find wrong."""

import dataclasses

SAFETY = "-DSAFETY -DCOLLAPSE"
LIVENESS = "-DNFAIR=4 -DNOREDUCE"  # with weak fairness: every process moves on that can


@dataclasses.dataclass
class Check:
    what: str
    model: str
    define: str = ""
    holds: bool = True  # else: spin must find an error
    live: bool = False


HANDSHAKE = [
    Check("psk: silence, one answer, no early backend, no dead end", "handshake"),
    Check("static: the same", "handshake", "-DSTATIC"),
    Check("psk: every run comes to rest, whatever arrives", "handshake", "-DLIVENESS", live=True),
    Check("static: the same", "handshake", "-DLIVENESS -DSTATIC", live=True),
]

# The smaller streams with a keepalive, and the longer ones without.
STREAM = [
    Check(f"{carrier}: an end is an end, {size}", "stream", f"{define} {flag}".strip())
    for carrier, flag in (("TCP", ""), ("WebSocket", "-DWEBSOCKET"))
    for size, define in (("1 and 1 pieces, keepalive", "-DLENGTH0=1"),
                         ("2 and 1 pieces", "-DPADS=0"))
]

RETRY = [Check("a stream is said once, from its beginning", "retry")]


def wrong(model, *cases):
    return [Check(what, model, define, holds=False, live="LIVENESS" in define)
            for what, define in cases]


WRONG = wrong(
    "handshake",
    ("reachable: a session over psk", "-DREACH_SESSION"),
    ("reachable: a session over key pairs", "-DSTATIC -DREACH_SESSION"),
    ("the server connects before OPEN", "-DMUTANT_CONNECTS_EARLY"),
    ("the server answers before box C", "-DSTATIC -DMUTANT_ANSWERS_UNPROVED"),
    ("the server says why it refuses", "-DMUTANT_SPEAKS"),
    ("no replay cache", "-DMUTANT_NO_CACHE"),
    ("the cache forgets while the time still fits", "-DMUTANT_FORGETS"),
    ("no deadline for record 0", "-DMUTANT_NO_DEADLINE"),
    ("each byte moves the deadline", "-DLIVENESS -DMUTANT_DRIP"),
    ("keys that do not hold the transcript", "-DMUTANT_UNBOUND"),
) + wrong(
    "stream",
    ("reachable: a clean end at both applications", "-DFAULTS=0 -DREACH_CLEAN"),
    ("an end of the connection counts as END", "-DLENGTH0=1 -DMUTANT_EOF_IS_END"),
    ("a WebSocket Close counts as END", "-DLENGTH0=1 -DWEBSOCKET -DMUTANT_EOF_IS_END"),
    ("END before the last DATA", "-DLENGTH0=1 -DMUTANT_END_FIRST"),
    ("bytes released before their tag", "-DLENGTH0=1 -DMUTANT_UNVERIFIED"),
    ("a failure closes quietly", "-DLENGTH0=1 -DMUTANT_QUIET_FAILURE"),
    ("sockets not armed to reset", "-DLENGTH0=1 -DMUTANT_UNARMED"),
    ("closed without reading to the end", "-DLENGTH0=1 -DMUTANT_NO_LINGER"),
    ("closed before our END is written", "-DLENGTH0=1 -DMUTANT_CLOSES_UNWRITTEN"),
    ("one end taken for both", "-DLENGTH0=1 -DMUTANT_HALF_CLOSE_IS_CLOSE"),
    ("a keepalive that waits for room", "-DLENGTH0=1 -DMUTANT_PAD_WAITS"),
    ("no deadline for a dead peer", "-DLENGTH0=1 -DMUTANT_WAITS_FOR_EVER"),
) + wrong(
    "retry",
    ("reachable: a second session does the work", "-DREACH_SECOND"),
    ("OPEN accepted, then \"not opened\"", "-DMUTANT_OPENS_WHILE_STOPPING"),
    ("said again after a mere loss", "-DMUTANT_RETRIES_AFTER_LOSS"),
    ("the second session begins in the middle", "-DMUTANT_FORGETS_WHAT_WAS_SAID"),
)

# Larger than the usual ones: some minutes, and up to 1.2 GiB.
DEEP = [
    Check("TCP: 2 and 1 pieces, keepalive", "stream"),
    Check("WebSocket: 2 and 1 pieces, keepalive", "stream", "-DWEBSOCKET"),
]

CHECKS = HANDSHAKE + STREAM + RETRY + WRONG
