"""What crypto_bench has printed, and the figures made of it.

A figure is a median over rounds, and so is a ratio: contenders of one round met the same frequency
and the same neighbours, so their ratio in that round is steadier than the ratio of their medians.
Rounds that the throughput probe shows to be disturbed are left out.
"""
import json
from statistics import median, quantiles

# How much slower than in the quietest quarter of all rounds the throughput probe may be, in cycles.
DISTURBED = 1.05


class Row:
    def __init__(self, name, rounds):
        self.name = name
        self.group, what = name.split("/")
        self.number = int(what) if what.isdigit() else None
        self.rounds = rounds
        self.contenders = sorted(rounds[0]["ns"])

    def over_rounds(self, figure):
        return median(figure(one["ns"], one["probes"]["frequency"] / 1000) for one in self.rounds)

    def ns(self, who):
        return self.over_rounds(lambda ns, cycle: ns[who])

    def cycles(self, who):
        return self.over_rounds(lambda ns, cycle: ns[who] / cycle)

    def speed(self, who, peer):
        """How many times as fast as `peer`."""
        return self.over_rounds(lambda ns, cycle: ns[peer] / ns[who])

    def beyond(self, who, other):
        """Nanoseconds more than the other."""
        return self.over_rounds(lambda ns, cycle: ns[who] - ns[other])

    def spread(self, who):
        """Half the distance between the quartiles, as part of the median."""
        low, middle, high = quantiles([one["ns"][who] for one in self.rounds], n=4)
        return (high - low) / 2 / middle

    def counters(self, who):
        return self.rounds[0]["counters"].get(who, {})


class Measured:
    """One run of the program of one compiler. `rows` by name, in the program's order."""

    def __init__(self, text):
        about, *rounds = (json.loads(line) for line in text.splitlines())
        self.compiler, self.peers, self.kernels = about["compiler"], about["peers"], about["kernels"]
        for one in rounds:
            one["work"] = one["probes"]["throughput"] / one["probes"]["frequency"]
        quiet = quantiles([one["work"] for one in rounds], n=4)[0] * DISTURBED
        self.rounds = len(rounds)
        self.dropped = 0
        names = list(dict.fromkeys(one["row"] for one in rounds))
        self.rows = {}
        for name in names:
            every = [one for one in rounds if one["row"] == name]
            # With all of them disturbed, the least disturbed third.
            least = sorted(every, key=lambda one: one["work"])[:len(every) // 3 + 1]
            kept = [one for one in every if one["work"] <= quiet]
            kept = kept if len(kept) > len(least) else least
            self.dropped += len(every) - len(kept)
            self.rows[name] = Row(name, kept)
        self.ghz = median(1000 / one["probes"]["frequency"] for one in rounds)

    def compiler_name(self):
        """Without the minor version: "g++ 12"."""
        return self.compiler.split(".")[0]

    def best(self, primitive):
        """culvert by the kernel that it chooses here."""
        return f"culvert {self.kernels[primitive]}"

    def slower_of_both(self, size, peer, who=None):
        """How many times as fast as the peer at sealing and opening, the worse of both."""
        who = who or self.best("aead")
        return min(self.rows[f"{way}/{size}"].speed(who, peer) for way in ("seal", "open"))
