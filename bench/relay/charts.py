"""Which plots are made of the samples: file name -> SVG."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2]))

from bench import plot  # noqa: E402

COLOURS = {"direct": plot.STEEL, "haproxy-plain": plot.STEEL, "haproxy-tls": plot.ORANGE,
           "nginx-tls-aes": plot.GREEN, "nginx-tls-chacha": plot.GREEN, "stunnel": plot.RED,
           "shadowsocks-xchacha": plot.PURPLE, "shadowsocks-aes": plot.PURPLE,
           "spiped": plot.BROWN, "ssh": plot.BROWN}


def bars(samples, contenders, title, unit, key, cells, less_is_better=True, left_out=()):
    """A group a cell, (figure, cell, name of the group), the best first."""
    groups = []
    for figure, cell, name in cells:
        some = []
        for contender in contenders:
            value = samples.median(figure, cell, contender.name, key)
            if value is not None and contender.name not in left_out:
                some.append(plot.Bar(contender.title, value,
                                     COLOURS.get(contender.name, plot.BLUE),
                                     strong=contender.name == "culvert-tcp"))
        if some:
            some.sort(key=lambda bar: bar.value, reverse=not less_is_better)
            groups.append((name, some))
    return plot.bars(title, groups, unit, margin=250) if groups else None


def charts(samples, contenders):
    def made(*words, **options):
        return bars(samples, contenders, *words, **options)

    way = [("bulk", "1 up", "up"), ("bulk", "1 down", "down")]
    all_made = {
        "relay-bulk-cpu.svg": made("Bulk on 1 connection, processor time of both ends",
                                   "CPU s/GiB: less is better", "cpu_both", way),
        "relay-bulk-speed.svg": made("Bulk on 1 connection, ends and load on the same two cores",
                                     "MiB/s", "mib_s", way, less_is_better=False,
                                     left_out=("direct",)),
        "relay-latency.svg": made("1 connection, 1 byte there and back", "p50, µs: less is better",
                                  "p50", [("latency", "1 x 1 B", "1 B")]),
        "relay-requests.svg": made("64 connections, 1 KiB there and back", "requests/s", "per_s",
                                   [("latency", "64 x 1 KiB", "1 KiB")], less_is_better=False,
                                   left_out=("direct",)),
        "relay-churn.svg": made("Connect, 1 byte there and back, close", "connections/s", "per_s",
                                [("churn", "1", "1 at once"), ("churn", "32", "32 at once")],
                                less_is_better=False, left_out=("direct",)),
        "relay-idle.svg": made("2,000 idle connections, the client's end",
                               "KiB (PSS) a connection: less is better", "pss_client",
                               [("idle", "2000", "2,000 connections")]),
        "relay-many.svg": many(samples, contenders),
    }
    return {name: svg for name, svg in all_made.items() if svg}


def many(samples, contenders):
    """What more connections cost."""
    series = []
    for contender in contenders:
        points = [(n, samples.median("bulk", f"{n} up", contender.name, "cpu_both"))
                  for n in (1, 8, 64, 1024)]
        points = [point for point in points if point[1] is not None]
        if len(points) > 1:
            series.append(plot.Line(contender.title, points,
                                    COLOURS.get(contender.name, plot.BLUE),
                                    strong=contender.name == "culvert-tcp"))
    return plot.lines("Bulk, processor time of both ends by the number of connections", series,
                      x="connections", y="CPU s/GiB", log_y=True, margin=280,
                      name_x="{:,}".format) if series else None
