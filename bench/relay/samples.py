"""What was measured, round by round, and what is made of it: medians, and medians of ratios."""

import re
import statistics


class Samples:
    def __init__(self):
        self.all = []

    def add(self, number, cell, contender, found):
        self.all.append({"round": number, "figure": cell.figure, "cell": cell.name,
                         "contender": contender.name, **found})

    def by_round(self, figure, cell, contender, key):
        return {one["round"]: one[key] for one in self.all
                if (one["figure"], one["cell"], one["contender"]) == (figure, cell, contender)
                and one.get(key) is not None}

    def median(self, figure, cell, contender, key):
        """None where nothing was measured."""
        values = self.by_round(figure, cell, contender, key).values()
        return statistics.median(values) if values else None

    def ratio(self, key, above, below):
        """The median over the rounds of one figure to another one of the same round; each is
        (figure, cell, contender). None where no round has both."""
        over, under = self.by_round(*above, key), self.by_round(*below, key)
        ratios = [over[number] / under[number] for number in over if number in under]
        return statistics.median(ratios) if ratios else None

    def failures(self):
        """Why a contender has no figure, or what went wrong beside it: a line for each thing, with
        all cells where it was seen."""
        seen = {}
        for one in self.all:
            for what in [one.get("failed"), *one.get("complaints", [])]:
                if what:
                    thing = re.sub(r"^[\d,]+ x ", "", what)
                    cells = seen.setdefault((one["contender"], thing), {})
                    cells[f"{one['figure']} {one['cell']}"] = True
        return [f"{who}: {what}\n    {', '.join(cells)}" for (who, what), cells in seen.items()]
