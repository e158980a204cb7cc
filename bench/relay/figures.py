"""What is measured: the cells of each figure, and how one sample of a cell is taken."""

import dataclasses

import calls
import measuring
from measuring import Failed

GIB, MIB, KIB = 2**30, 2**20, 2**10
OPENING_SECONDS = 60


@dataclasses.dataclass(frozen=True)
class Cell:
    """One set of conditions; what a table has one group of columns for."""
    figure: str
    name: str
    mode: str
    connections: int
    options: tuple = ()
    main: bool = False  # measured for the variants of a contender too


def bulk_cells():
    for connections in (1, 8, 64, 1024):
        for way in ("up", "down", "both"):
            yield Cell("bulk", f"{connections} {way}", "bulk", connections, ("--direction", way),
                       main=connections == 1 and way != "both")


def latency_cells():
    for connections in (1, 64):
        for size, name in ((1, "1 B"), (1024, "1 KiB"), (16384, "16 KiB")):
            yield Cell("latency", f"{connections} x {name}", "latency", connections,
                       ("--size", str(size)), main=(connections, size) in ((1, 1), (64, 1024)))


CELLS = [
    *bulk_cells(),
    *latency_cells(),
    *(Cell("churn", str(n), "churn", n, main=True) for n in (1, 32)),
    *(Cell("idle", str(n), "idle", n, main=n == 2000) for n in (2000, 9000)),
    Cell("calls", "bulk, 1 up", "bulk", 1, ("--direction", "up")),
    Cell("calls", "bulk, 1 down", "bulk", 1, ("--direction", "down")),
    Cell("calls", "1 x 1 B", "latency", 1),
]
FIGURES = ("bulk", "latency", "churn", "idle", "calls")
ONCE = ("idle", "calls")  # they do not vary from round to round


def takes_part(contender, cell):
    if contender.main_cells_only and not cell.main:
        return False
    if cell.figure == "idle":
        return cell.connections <= contender.most_idle
    if cell.figure == "calls" and not contender.ends:
        return False
    return cell.connections <= contender.most_connections


def warm_up_ms(contender, cell):
    """Until all are connected and the sockets' buffers are full."""
    return int(200 + (contender.connecting_ms + 1) * cell.connections)


def sample(tunnel, contender, cell, seconds):
    """The figures of one cell, measured once; throws Failed."""
    if cell.figure == "idle":
        return take_idle(tunnel, cell)
    if cell.figure == "calls":
        return calls.count(tunnel, cell, seconds)
    return take_load(tunnel, contender, cell, seconds)


def reading(cell):
    """What is read when the measurement begins, and when it ends."""
    if cell.figure != "bulk" or "down" in cell.options:
        return measuring.cpu_of
    return lambda tunnel: {"arrived": measuring.backend_received(tunnel), **measuring.cpu_of(tunnel)}


def take_load(tunnel, contender, cell, seconds):
    warm_up = warm_up_ms(contender, cell)
    options = (*cell.options, *tunnel.raw_options(), "--connections", str(cell.connections),
               "--warm-up", f"{warm_up}ms", "--duration", f"{int(seconds * 1000)}ms", "--grace",
               "5s")
    found = measuring.run_load(tunnel, cell.mode, options, reading(cell), seconds + warm_up / 1e3)
    used = {name: found.end[name] - found.begin[name] for name in found.begin}
    # Bytes count where they arrive, at the backend and at the load client.
    moved = used.pop("arrived", 0) + found.load["bytes_received"]
    amount = moved / GIB if cell.figure == "bulk" else found.load["requests"] / 1e6
    if amount <= 0:
        raise Failed("; ".join(found.complaints) or "nothing came through")
    cpu = {side: seconds / amount for side, seconds in used.items()}
    out = {"cpu_client": cpu.get("client"), "cpu_server": cpu.get("server"),
           "cpu_both": cpu["client"] + cpu["server"] if "client" in cpu else None,
           "cpu_load": found.load["cpu_seconds"] / amount, "cpu_backend": cpu["backend"]}
    if found.complaints:
        out["complaints"] = found.complaints
    if cell.figure == "bulk":
        return {"mib_s": moved / MIB / found.load["seconds"], **out}
    times = found.load["latency_us"]
    return {"per_s": found.load["requests_per_second"], "p50": times["p50"], "p99": times["p99"],
            "p99.9": times["p99.9"], **out}


def take_idle(tunnel, cell):
    before = measuring.pss_of(tunnel)
    options = ("--connections", str(cell.connections), "--duration", "1s")
    found = measuring.run_load(tunnel, "idle", options, measuring.pss_of, OPENING_SECONDS)
    # Each is asked when it has opened, and once more after the measurement.
    if found.load["requests"] < 2 * cell.connections:
        raise Failed("; ".join(found.complaints))
    each = {side: (found.end[side] - before[side]) / cell.connections / KIB for side in before}
    return {"pss_client": each.get("client"), "pss_server": each.get("server")}
