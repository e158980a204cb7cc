"""The figures of a soak, as text."""

import os

from bench import host

MIB = 1 << 20
ROWS = 20  # of each daemon's table, at most


def write(path, seconds, watchdog, run, files_before, files_after, idle):
    lines = [f"Soak of {seconds:.0f} s on {host.processors()}, {host.kernel()}.",
             f"Load average {os.getloadavg()[1]:.1f} at its end, its own load included.", "",
             f"Violations: {len(run.violations)}", *(f"    {why}" for why in run.violations), "",
             "What was done, and what came of it", "", counts(run), ""]
    for name, samples in watchdog.samples.items():
        lines += [f"{name}: {files_before[name]} files open before, {files_after[name]} after; "
                  f"{100 * idle[name]:.1f} % of a processor when idle afterwards; memory grew by "
                  f"{watchdog.growth(name) / MIB:.1f} MiB from the third quarter to the last", "",
                  *_table(samples), ""]
    path.write_text("\n".join(lines))


def counts(run):
    return "\n".join(f"  {what:<32}{amount:>12,}" for what, amount in sorted(run.counted.items()))


def _table(samples):
    """`process` counts those that have had the part."""
    yield f"  {'s':>5}{'process':>9}{'PSS MiB':>9}{'RSS MiB':>9}{'files':>7}{'threads':>9}{'CPU %':>7}"
    step = -(-len(samples) // ROWS)
    pids = list(dict.fromkeys(sample.pid for sample in samples))
    for place in range(0, len(samples), step):
        now, before = samples[place], samples[max(0, place - step)]
        same = now.pid == before.pid and now is not before
        cpu = f"{100 * (now.cpu - before.cpu) / (now.second - before.second):.0f}" if same else "-"
        yield (f"  {now.second:>5.0f}{pids.index(now.pid) + 1:>9}{now.pss / MIB:>9.1f}"
               f"{now.rss / MIB:>9.1f}{now.files:>7}{now.threads:>9}{cpu:>7}")
