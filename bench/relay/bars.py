"""What the relay must reach, as ratios to peers of the same run; idle memory in KiB."""

CULVERT, WEBSOCKET, POOL = "culvert-tcp", "culvert-ws", "culvert-tcp-pool"
HAPROXY, NGINX, SHADOWSOCKS = "haproxy-plain", "nginx-tls-aes", "shadowsocks-aes"
UP_AND_DOWN = ("up", "down")


def bar(name, value, limit, at_least=False):
    """A value of None, which nobody has measured, does not meet its bar."""
    met = value is not None and (value >= limit if at_least else value <= limit)
    return {"name": name, "value": None if value is None else round(value, 3), "bar": limit,
            "met": met, "sense": "at least" if at_least else "at most"}


def at_least(name, value, limit):
    return bar(name, value, limit, at_least=True)


def worst(values, pick):
    known = [value for value in values if value is not None]
    return pick(known) if known and len(known) == len(list(values)) else None


def bulk(samples):
    def over(key, contender, peer, pick, cell="1 {}", peer_cell="1 {}"):
        """The worse of up and down."""
        return worst([samples.ratio(key, ("bulk", cell.format(way), contender),
                                    ("bulk", peer_cell.format(way), peer))
                      for way in UP_AND_DOWN], pick)

    yield bar("bulk, 1 connection: CPU s/GiB of both ends, to nginx TLS AES",
              over("cpu_both", CULVERT, NGINX, max), .50)
    yield bar("bulk, 1 connection: CPU s/GiB of both ends, to haproxy's plain relay",
              over("cpu_both", CULVERT, HAPROXY, max), 1.0)
    yield at_least("bulk, 1 connection: MiB/s, to nginx TLS AES",
                   over("mib_s", CULVERT, NGINX, min), 2.0)
    yield bar("bulk: CPU s/GiB at 1,024 connections, to those at 8",
              over("cpu_both", CULVERT, CULVERT, max, "1024 {}", "8 {}"), 1.25)
    yield bar("bulk, 1 connection: CPU s/GiB over WebSocket, to those over TCP",
              over("cpu_both", WEBSOCKET, CULVERT, max), 1.5)


def latency(samples):
    def over(key, peer, cell):
        return samples.ratio(key, ("latency", cell, CULVERT), ("latency", cell, peer))

    yield bar("1 connection, 1 B: p50, to haproxy's plain relay", over("p50", HAPROXY, "1 x 1 B"), 1.05)
    yield bar("1 connection, 1 B: CPU a request, to haproxy's plain relay",
              over("cpu_both", HAPROXY, "1 x 1 B"), 1.05)
    yield bar("1 connection, 1 B: CPU a request, to shadowsocks AES",
              over("cpu_both", SHADOWSOCKS, "1 x 1 B"), 1.1)
    yield at_least("64 connections, 1 KiB: requests/s, to haproxy's plain relay",
                   over("per_s", HAPROXY, "64 x 1 KiB"), 1.1)


def churn(samples):
    for cell in ("1", "32"):
        yield at_least(f"churn at {cell}, psk, full handshake: connections/s, to nginx's resumed TLS",
                       samples.ratio("per_s", ("churn", cell, CULVERT), ("churn", cell, NGINX)), 3)
    yield bar("churn at 1, with a pool: TTFB p50, to haproxy's plain relay",
              samples.ratio("p50", ("churn", "1", POOL), ("churn", "1", HAPROXY)), 1.2)


def idle(samples):
    for contender, name, limit in ((CULVERT, "TCP", 4), (WEBSOCKET, "WebSocket", 12)):
        for cell in ("2000", "9000"):
            ends = [samples.median("idle", cell, contender, f"pss_{side}")
                    for side in ("client", "server")]
            yield bar(f"idle at {int(cell):,}, {name}: KiB (PSS) a connection, the larger end",
                      worst(ends, max), limit)


def all_bars(samples):
    return [*bulk(samples), *latency(samples), *churn(samples), *idle(samples)]
