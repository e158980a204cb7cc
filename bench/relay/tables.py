"""The samples as tables, and the bars as text and as Markdown."""

import dataclasses

import figures

WIDTH = 40


@dataclasses.dataclass(frozen=True)
class Table:
    title: str
    figure: str
    keys: tuple  # one figure a column, or two with a bar between them
    form: str
    cells: tuple = ()  # of the figure; all, if none is named

    def columns(self):
        return self.cells or tuple(cell.name for cell in figures.CELLS
                                   if cell.figure == self.figure)


BOTH_ENDS = ("cpu_client", "cpu_server")
TABLES = (
    Table("Bulk, MiB/s", "bulk", ("mib_s",), "{:,.0f}"),
    Table("Bulk, CPU s/GiB of both ends", "bulk", ("cpu_both",), "{:.2f}"),
    Table("Bulk, CPU s/GiB, client | server", "bulk", BOTH_ENDS, "{:.2f}"),
    Table("Latency, p50, us", "latency", ("p50",), "{:,.0f}"),
    Table("Latency, p99, us", "latency", ("p99",), "{:,.0f}"),
    Table("Latency, p99.9, us", "latency", ("p99.9",), "{:,.0f}"),
    Table("Latency, requests/s", "latency", ("per_s",), "{:,.0f}"),
    Table("Latency, CPU us a request, both ends", "latency", ("cpu_both",), "{:.1f}"),
    Table("Latency, CPU us a request, client | server", "latency", BOTH_ENDS, "{:.1f}"),
    Table("Churn, connections/s", "churn", ("per_s",), "{:,.0f}"),
    Table("Churn, time to the first byte, p50 | p99, us", "churn", ("p50", "p99"), "{:,.0f}"),
    Table("Churn, CPU us a connection, client | server", "churn", BOTH_ENDS, "{:,.0f}"),
    Table("Idle, KiB (PSS) a connection, client | server", "idle", ("pss_client", "pss_server"),
          "{:.1f}"),
    Table("System calls a MiB or a request, client | server", "calls",
          ("calls_client", "calls_server"), "{:.1f}"),
    Table("The load's own: CPU s/GiB of load client | backend", "bulk",
          ("cpu_load", "cpu_backend"), "{:.2f}", ("1 up", "1 down", "1 both")),
)


def entry(samples, table, cell, contender):
    values = [samples.median(table.figure, cell, contender.name, key) for key in table.keys]
    if None in values:
        return ""
    return " | ".join(table.form.format(value) for value in values)


def rows_of(samples, table, contenders):
    for contender in contenders:
        row = [entry(samples, table, cell, contender) for cell in table.columns()]
        if any(row):
            yield [contender.title, *row]


def text(samples, contenders):
    for table in TABLES:
        rows = list(rows_of(samples, table, contenders))
        if not rows:
            continue
        columns = [column for column, *cells in
                   zip(range(1, len(rows[0])), *(row[1:] for row in rows)) if any(cells)]
        names = ["", *table.columns()]
        width = max(len(row[i]) for row in [names, *rows] for i in columns) + 2
        yield ""
        yield f"{table.title:{WIDTH}}" if len(table.title) < WIDTH else table.title
        for row in [names, *rows]:
            yield f"  {row[0]:{WIDTH}}" + "".join(f"{row[i]:>{width}}" for i in columns)


def sign(bar):
    return f"{'≥' if bar['sense'] == 'at least' else '≤'} {bar['bar']:g}"


def verdict(bar):
    if bar["value"] is None:
        return "not measured"
    return "met" if bar["met"] else "NOT MET"


def number(bar):
    return "" if bar["value"] is None else f"{bar['value']:.2f}"


def bar_text(bars):
    yield f"{'bar':76}{'value':>8}{'':>9}"
    for bar in bars:
        yield f"{bar['name']:76}{number(bar):>8}{sign(bar):>9}  {verdict(bar)}"


def bar_markdown(bars):
    yield "| | value | bar | |"
    yield "|---|---:|---:|---|"
    for bar in bars:
        yield f"| {bar['name']} | {number(bar)} | {sign(bar)} | {verdict(bar)} |"
