"""Which plots are made of the figures: file name → SVG."""
from bench import plot

COLOURS = {"ipsec-mb": plot.ORANGE, "ipsec-mb direct": plot.BROWN, "openssl": plot.RED,
           "libgcrypt": plot.GREEN, "libsodium": plot.PURPLE, "culvert portable": plot.STEEL,
           "culvert avx2": plot.SKY, "culvert bmi2": plot.SKY}


def colour(who):
    return COLOURS.get(who.removesuffix(" stream"), plot.BLUE)


def speed_lines(run, group, size_of, best):
    """GB/s over the number of the rows of a group, a line a contender."""
    points = {}
    for row in run.rows.values():
        if row.group == group:
            for who in row.contenders:
                points.setdefault(who, []).append((row.number, size_of(row) / row.ns(who)))
    return [plot.Line(who, some, colour(who), strong=who == best)
            for who, some in points.items() if not who.endswith((" stream", " whole"))]


def aead(run, clang, way):
    best = run.best("aead")
    series = speed_lines(run, way, lambda row: row.number, best)
    if clang:
        series += [plot.Line(f"{line.name}, {clang.compiler_name()}", line.points, line.colour, dashed=True)
                   for line in speed_lines(clang, way, lambda row: row.number, None)
                   if line.name == best]
    title = f"ChaCha20-Poly1305, {way}, by the size of the message"
    return plot.lines(title, series, x="bytes a message", y="GB/s", log_y=True, margin=210,
                      name_x="{:,}".format)


def pieces(run, size):
    series = speed_lines(run, "pieces", lambda row: size, run.best("aead"))
    return plot.lines(f"ChaCha20-Poly1305, a message of {size:,} B opened in pieces", series,
                      x="bytes a piece", y="GB/s", log_y=True, name_x="{:,}".format)


def bar(run, who, value):
    return plot.Bar(who, value, colour(who), strong=who == run.best("keccak"))


def shake(run):
    groups = []
    for row in run.rows.values():
        if row.group == "SHAKE256":
            some = [bar(run, who, 1000 * row.number / row.ns(who)) for who in row.contenders]
            groups.append((f"{row.number:,} B", sorted(some, key=lambda each: -each.value)))
    return plot.bars("SHAKE256 by the size of the message", groups, "MB/s")


def permutations(run):
    groups = []
    for row in run.rows.values():
        if row.group == "permute" and row.number <= 8:
            some = [bar(run, who, row.cycles(who) / row.number) for who in row.contenders]
            name = "1 state" if row.number == 1 else f"{row.number} states at once"
            groups.append((name, sorted(some, key=lambda each: each.value)))
    return plot.bars("Keccak-f[1600] by the number of states in a call", groups,
                     "cycles a state: less is better")


def charts(run, clang, pieces_of):
    return {"crypto-seal.svg": aead(run, clang, "seal"),
            "crypto-open.svg": aead(run, clang, "open"),
            "crypto-pieces.svg": pieces(run, pieces_of),
            "crypto-shake.svg": shake(run),
            "crypto-permutations.svg": permutations(run)}
