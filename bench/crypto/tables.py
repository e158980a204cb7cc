"""Rows and bars as text, and as Markdown for README."""

TITLES = {
    "seal": "ChaCha20-Poly1305, seal, {} B",
    "open": "ChaCha20-Poly1305, open, {} B",
    "pieces": "ChaCha20-Poly1305, 16,384 B opened in pieces of {} B",
    "permute": "Keccak-f[1600], {} states in a call",
    "absorb": "Keccak-f[1600], absorbing {} blocks of 136 B",
    "keccak_f": "Keccak-f[{}]",
    "ascon_p": "Ascon-p, {} rounds",
    "bash_f": "bash-f, {} rounds",
    "cSHAKE256": "cSHAKE256(N, S, testdata) to 64 B",
    "KMAC256": "KMAC256, a key of 32 B, a message of 64 B",
    "handshake": "All key derivations of one end of a handshake, {}",
}
PIECES_OF = 16384


def bytes_of(row):
    if row.group == "pieces":
        return PIECES_OF
    return row.number if row.group in ("seal", "open") or row.group.startswith("SHA") else None


def rows_of(run):
    """One dictionary a figure, as it stands in the JSON."""
    for row in run.rows.values():
        size = bytes_of(row)
        for who in sorted(row.contenders, key=row.ns):
            ns, cycles = row.ns(who), row.cycles(who)
            made = {"compiler": run.compiler, "row": row.name, "by": who, "ns": round(ns, 2)}
            if size:
                made |= {"bytes": size, "gb_per_s": round(size / ns, 4),
                         "cycles_per_byte": round(cycles / size, 4)}
            made["cycles"] = round(cycles, 1)
            if row.group == "permute":
                made["cycles_a_state"] = round(cycles / row.number, 1)
            yield made | {"spread": round(row.spread(who), 4), "rounds": len(row.rounds),
                          **{name: round(value, 3) for name, value in row.counters(who).items()}}


COLUMNS = (("ns", "ns", "{:,.1f}"), ("gb_per_s", "GB/s", "{:.3f}"),
           ("cycles_per_byte", "c/B", "{:.3f}"), ("cycles", "cycles", "{:,.0f}"),
           ("cycles_a_state", "a state", "{:.1f}"), ("allocations", "allocations", "{:g}"),
           ("permutations", "permutations", "{:g}"), ("spread", "±", "{:.1%}"))


def title_of(name):
    group, what = name.split("/")
    title = TITLES.get(group, group + " of {} B")
    return title.format(f"{int(what):,}" if what.isdigit() else what)


def table(rows):
    """Lines of text: a heading a row, a line a contender, the fastest first."""
    before = None
    for row in rows:
        if row["row"] != before:
            before = row["row"]
            here = [column for column in COLUMNS if column[0] in row]
            yield ""
            yield f"{title_of(before):58}" + "".join(f"{name:>13}" for _, name, _ in here)
        cells = (form.format(row[key]) if key in row else "" for key, _, form in here)
        yield f"  {row['by']:56}" + "".join(f"{cell:>13}" for cell in cells)


def value(bar):
    return f"{bar['value']:.3f}" if bar["value"] < 10 else f"{bar['value']:.1f}"


def verdict(bar):
    return "met" if bar["met"] else "NOT MET"


def sign(bar):
    return ("≥ " if bar["sense"] == "at least" else "≤ ") + f"{bar['bar']:g}"


def bar_table(bars):
    yield f"{'compiler':12}{'bar':74}{'value':>9}{'':>9}"
    for bar in bars:
        yield (f"{bar['compiler']:12}{bar['name']:74}{value(bar):>9}{sign(bar):>9}"
               f"  {verdict(bar)}")


def bar_markdown(bars):
    yield "| bar | compiler | value | must be | |"
    yield "|---|---|---|---|---|"
    for bar in bars:
        yield (f"| {bar['name']} | {bar['compiler']} | {value(bar)} | {sign(bar)} "
               f"| {verdict(bar)} |")
