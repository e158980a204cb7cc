"""Plots as SVG, by the standard library alone: lines over an axis, and groups of bars.

    plot.lines("Seal", [plot.Line("culvert", [(64, .4), (1024, 3.6)], plot.BLUE)],
               x="bytes a message", y="GB/s", log_y=True)
    plot.bars("Requests", [("1 connection", [plot.Bar("culvert", 9000, plot.BLUE)])], unit="/s")

Each gives the text of the file. Everything is named where it stands, so there is no legend. The
paper is painted, white or dark as the reader's system is, so the page around it may be either.
"""
import math
from dataclasses import dataclass
from xml.sax.saxutils import escape

# To be told apart on white and on dark paper.
BLUE, SKY, STEEL = "#1f6feb", "#4fa3e3", "#8296b0"
ORANGE, RED, GREEN, PURPLE, BROWN = "#d9730d", "#d1434b", "#2c974b", "#8957e5", "#a0783c"

WIDTH = 760
STYLE = """\
text { font: 12px system-ui, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328 }
.title { font-size: 15px; font-weight: 600 } .faint { fill: #656d76 } .strong { font-weight: 600 }
.paper { fill: #ffffff; stroke: #d0d7de } .grid { stroke: #d8dee4; stroke-width: 1 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .faint { fill: #9198a1 } .paper { fill: #0d1117; stroke: #30363d }
.grid { stroke: #30363d } }"""


@dataclass
class Line:
    name: str
    points: list  # (x, y), by x
    colour: str
    strong: bool = False
    dashed: bool = False


@dataclass
class Bar:
    name: str
    value: float
    colour: str
    strong: bool = False


def short(value):
    """Three digits, and no more zeros than needed."""
    if value == 0:
        return "0"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _document(title, height, parts):
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
        f"<title>{escape(title)}</title>", f"<style>{STYLE}</style>",
        f'<rect class="paper" x=".5" y=".5" width="{WIDTH - 1}" height="{height - 1}" rx="6"/>',
        _text(20, 28, title, "title"), *parts, "</svg>", ""])


def _text(x, y, text, style="", anchor="start", colour=None):
    more = f' style="fill:{colour}"' if colour else ""
    style = f' class="{style}"' if style else ""
    anchor = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text x="{x:.1f}" y="{y:.1f}"{style}{anchor}{more}>{escape(text)}</text>'


def _rule(x1, y1, x2, y2):
    return f'<line class="grid" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


class _Axis:
    """Values to positions from `start` to `end`."""

    def __init__(self, values, start, end, log):
        self.log, self.start, self.end = log, start, end
        low, high = min(values), max(values)
        if not log:
            step = self._step(high)
            low, high = 0, step * math.ceil(high / step)
            self.ticks = [step * i for i in range(round(high / step) + 1)]
        else:
            decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
            self.ticks = [f * 10.0**d for d in decades for f in (1, 2, 5)]
            self.ticks = [tick for tick in self.ticks if low * .999 <= tick <= high * 1.001]
        self.low, self.high = self._scale(low), self._scale(high)

    @staticmethod
    def _step(high):
        raw = high / 5
        power = 10 ** math.floor(math.log10(raw))
        return next(f * power for f in (1, 2, 5, 10) if f * power >= raw)

    def _scale(self, value):
        return math.log10(value) if self.log else value

    def __call__(self, value):
        part = (self._scale(value) - self.low) / (self.high - self.low or 1)
        return self.start + part * (self.end - self.start)


def _apart(places, distance, lowest):
    """Moves sorted places away from each other, none beyond `lowest`."""
    places = list(places)
    for i in range(1, len(places)):
        places[i] = max(places[i], places[i - 1] + distance)
    for i in reversed(range(len(places))):
        limit = lowest if i == len(places) - 1 else places[i + 1] - distance
        places[i] = min(places[i], limit)
    return places


def lines(title, series, x, y, log_x=True, log_y=False, height=400, margin=160, name_x=short):
    """Each line is named at its right end, in a margin of so many units. The x axis is marked where
    there are points."""
    left, right, top, bottom = 56, WIDTH - margin, 56, height - 52
    xs = sorted({point[0] for line in series for point in line.points})
    x_at = _Axis(xs, left, right, log_x)
    y_at = _Axis([point[1] for line in series for point in line.points], bottom, top, log_y)
    parts = [_text(20, 46, y, "faint"), _text((left + right) / 2, height - 14, x, "faint", "middle")]
    for tick in y_at.ticks:
        parts += [_rule(left, y_at(tick), right, y_at(tick)),
                  _text(left - 8, y_at(tick) + 4, short(tick), "faint", "end")]
    free = 0
    for value in xs:
        parts.append(_rule(x_at(value), bottom, x_at(value), bottom + 5))
        half = 3.6 * len(name_x(value))
        if x_at(value) - half >= free:  # else there is no room for it
            parts.append(_text(x_at(value), bottom + 20, name_x(value), "faint", "middle"))
            free = x_at(value) + half
    ends = sorted(series, key=lambda line: y_at(line.points[-1][1]))
    places = _apart([y_at(line.points[-1][1]) for line in ends], 15, bottom)
    for line, place in zip(ends, places):
        parts += _drawn(line, x_at, y_at)
        end = x_at(line.points[-1][0])
        parts.append(f'<path d="M{end + 5:.1f} {y_at(line.points[-1][1]):.1f}L{right + 14:.1f} '
                     f'{place:.1f}" stroke="{line.colour}" stroke-opacity=".5" fill="none"/>')
        parts.append(_text(right + 18, place + 4, f"{line.name} · {short(line.points[-1][1])}",
                           "strong" if line.strong else "", colour=line.colour))
    return _document(title, height, parts)


def _drawn(line, x_at, y_at):
    places = [(x_at(x), y_at(y)) for x, y in line.points]
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
    dash = ' stroke-dasharray="5 4"' if line.dashed else ""
    yield (f'<path d="M{path}" stroke="{line.colour}" stroke-width="{3 if line.strong else 1.8}" '
           f'fill="none" stroke-linejoin="round"{dash}/>')
    for x, y in places:
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.6" fill="{line.colour}"/>'


def bars(title, groups, unit, margin=170):
    """Horizontal bars from zero in groups, each with its name before it and its value behind it."""
    rows, gap, top = 19, 30, 62
    longest = max(bar.value for _, some in groups for bar in some)
    right = WIDTH - 80
    height = top + sum(gap + rows * len(some) for _, some in groups)
    parts, y = [_text(20, 46, unit, "faint")], top
    for name, some in groups:
        parts.append(_text(20, y + 12, name, "strong"))
        y += 20
        for bar in some:
            width = max(1, bar.value / longest * (right - margin))
            style = "strong" if bar.strong else ""
            parts += [_text(margin - 8, y + 12, bar.name, style, "end"),
                      f'<rect x="{margin}" y="{y + 1:.1f}" width="{width:.1f}" height="{rows - 4}" '
                      f'rx="2" fill="{bar.colour}"/>',
                      _text(margin + width + 6, y + 12, short(bar.value), style)]
            y += rows
        y += gap - 20
    return _document(title, height, parts)
