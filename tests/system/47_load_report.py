"""The HTML report of `culvert-load`: its plots say what the run has measured."""

import json
import math
import re
import subprocess
import xml.etree.ElementTree

from support import case, programs
from support.browser import DESKTOP, PHONE, Browser
from support.ports import free_port, is_listening

MIB = 1 << 20
SVG = "{http://www.w3.org/2000/svg}"


class Plot:
    """A figure of a report, read back: from places on paper to values."""

    def __init__(self, figure):
        self.title = figure.find("figcaption/strong").text
        self.names = [item.text for item in figure.findall("ul/li")]
        self._svg = figure.find(f"{SVG}svg")
        self.x, self.y = self._marks("tick-x", "x"), self._marks("tick-y", "y", shift=-4)

    def _marks(self, style, axis, shift=0):
        """(place, value) of what is marked at an axis."""
        return [(float(text.get(axis)) + shift, float(text.text.replace(",", "")))
                for text in self._svg.iter(f"{SVG}text") if text.get("class") == style]

    def lines(self):
        """The lines as lists of (x, y) in values of linear axes."""
        return [[(_linear(self.x, float(x)), _linear(self.y, float(y)))
                 for x, y in re.findall(r"[ML]([\d.]+) ([\d.]+)", path.get("d"))]
                for path in self._svg.iter(f"{SVG}path") if path.get("class").startswith("line")]

    def logarithmic_y(self, place):
        (first, low), (last, high) = self.y[0], self.y[-1]
        part = (place - first) / (last - first)
        return 10 ** (math.log10(low) + part * (math.log10(high) - math.log10(low)))

    def places(self):
        return [[(float(x), float(y)) for x, y in re.findall(r"[ML]([\d.]+) ([\d.]+)", path.get("d"))]
                for path in self._svg.iter(f"{SVG}path") if path.get("class").startswith("line")]


def _linear(marks, place):
    (first, low), (last, high) = marks[0], marks[-1]
    return low + (place - first) / (last - first) * (high - low)


def area(steps):
    """What lies below corners."""
    return sum((x2 - x1) * (y1 + y2) / 2 for (x1, y1), (x2, y2) in zip(steps, steps[1:]))


class Report(case.SystemTest):
    def setUp(self):
        super().setUp()
        self.folder = self.make_folder()
        self.port = free_port()
        self.start([programs.culvert_load(), "serve", f"127.0.0.1:{self.port}"], "backend",
                   lambda: is_listening(self.port))

    def run_load(self, name, *words, status=0):
        """Writes NAME.html; returns what the run has told."""
        done = subprocess.run(
            [programs.culvert_load(), *words, "--to", f"127.0.0.1:{self.port}", "--quiet", "--json",
             "--report", self.folder / f"{name}.html"],
            stdout=subprocess.PIPE, timeout=120, check=False)
        self.assertEqual(done.returncode, status)
        (self.folder / f"{name}.json").write_bytes(done.stdout)
        return json.loads(done.stdout)

    def page(self, name):
        """Well formed as XML, and in need of nothing."""
        text = (self.folder / f"{name}.html").read_text()
        self.assertNotRegex(text.replace("http://www.w3.org/2000/svg", ""), r"https?://|<script|<link|@import|url\(")
        return xml.etree.ElementTree.fromstring(text)

    def plots(self, page):
        return {plot.title: plot for plot in map(Plot, page.iter("figure"))}

    def figures(self, page):
        """The first table, as {(name, unit): cells}."""
        out = {}
        for row in page.find(".//table/tbody").findall("tr"):
            head = row.find("th")
            unit = head.find("small")
            out[(head.text.strip(), unit.text if unit is not None else "")] = [
                "".join(cell.itertext()) for cell in row.findall("td")]
        return out

    def test_throughput_is_what_was_moved(self):
        told = self.run_load("bulk", "bulk", "--direction", "both", "--duration", "2s")
        page = self.page("bulk")
        plot = self.plots(page)["Throughput"]
        self.assertEqual(plot.names, ["sent", "received"])
        for line, bytes_ in zip(plot.lines(), (told["bytes_sent"], told["bytes_received"])):
            self.assertAlmostEqual(area(line) / (bytes_ / MIB), 1, delta=0.05)
        (throughput,) = self.figures(page)[("Throughput", "MiB/s")]
        self.assertAlmostEqual(float(throughput.replace(",", "")) / told["mib_per_second"], 1, delta=0.001)
        self.assertIn(told["command"], "".join(page.find("body").itertext()))
        self.assertIn(told["machine"]["processor"], "".join(page.find("body").itertext()))

    def test_samples_are_finer_than_a_second(self):
        told = self.run_load("fine", "bulk", "--bytes", "4M", "--duration", "2s", "--connections", "2")
        seconds = told["timeline"]["seconds"]
        self.assertEqual(seconds[0], 0)
        self.assertLess(seconds[1], 1)
        self.assertEqual(told["timeline"]["bytes_sent"][-1], 8 * MIB)

    def test_latencies_are_those_of_the_run(self):
        told = self.run_load("latency", "latency", "--connections", "4", "--duration", "2s",
                             "--warm-up", "300ms")
        page = self.page("latency")
        plots = self.plots(page)
        answers = plots["Answers"].lines()[0]
        self.assertAlmostEqual(answers[-1][0], told["timeline"]["seconds"][-1], delta=0.1)
        self.assertAlmostEqual(area(answers) / told["timeline"]["requests"][-1], 1, delta=0.05)
        shares = plots["Latencies"].places()[0]
        self.assertGreater(len(shares), 4)
        # The curve of percentiles passes through the figures.
        curve, marks = plots["Percentiles"].places()[0], dict((v, p) for p, v in plots["Percentiles"].x)
        for name, mark in (("p90", 90), ("p99", 99)):
            at = min(curve, key=lambda point: abs(point[0] - marks[mark]))
            self.assertAlmostEqual(plots["Percentiles"].logarithmic_y(at[1]) / told["latency_us"][name],
                                   1, delta=0.2)
        (p99,) = self.figures(page)[("Latency p99", "µs")]
        self.assertAlmostEqual(float(p99.replace(",", "")) / told["latency_us"]["p99"], 1, delta=0.001)

    def test_runs_side_by_side(self):
        first = self.run_load("one", "latency", "--connections", "1", "--duration", "1s")
        second = self.run_load("four", "latency", "--connections", "4", "--duration", "1s")
        subprocess.run([programs.culvert_load(), "report", "one.json", "four.json", "--output",
                        "both.html"], cwd=self.folder, check=True, timeout=30)
        page = self.page("both")
        plots = self.plots(page)
        self.assertEqual(plots["Percentiles"].names, ["one", "four"])
        self.assertEqual(len(plots["Answers"].lines()), 2)
        cells = self.figures(page)[("Answers a second", "/s")]
        ratio = float(re.search(r"×([\d.]+)", cells[1])[1])
        self.assertAlmostEqual(ratio / (second["requests_per_second"] / first["requests_per_second"]),
                               1, delta=0.02)

    def test_failures_are_told(self):
        told = self.run_load("lost", "churn", "--duration", "1s", "--connections", "2",
                             "--size", "64K")
        self.assertEqual(told["failures"], 0)
        dead = free_port()
        done = subprocess.run(
            [programs.culvert_load(), "bulk", "--to", f"127.0.0.1:{dead}", "--quiet", "--report",
             self.folder / "dead.html"], capture_output=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 1)
        text = "".join(self.page("dead").find("body").itertext())
        self.assertIn("does anything listen there?", text)
        self.assertIn("not as sent", text)

    def test_in_a_browser(self):
        for name in ("one", "other"):
            self.run_load(name, "latency", "--connections", "2", "--duration", "1s")
        subprocess.run([programs.culvert_load(), "report", "one.json", "other.json", "--output",
                        "both.html"], cwd=self.folder, check=True, timeout=30)
        browser = Browser()
        self.addCleanup(browser.close)
        for name in ("one", "both"):
            page = browser.page(f"file://{self.folder}/{name}.html")
            self.assertEqual(page.complaints, [])
            papers = set()
            for size, dark in ((DESKTOP, False), (DESKTOP, True), (PHONE, False)):
                page.resize(size)
                page.paint(dark)
                with self.subTest(name, size=size, dark=dark):
                    self.assertLessEqual(page.overflow(), 0)
                    papers.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
                    picture = self.folder / f"{name}-{size[0]}-{dark}.png"
                    page.screenshot(picture)
                    self.assertGreater(picture.stat().st_size, 10_000)
            self.assertEqual(len(papers), 2)
            smallest = page.evaluate("Math.min(...[...document.querySelectorAll('svg text')]"
                                     ".map(text => text.getBoundingClientRect().height))")
            self.assertGreater(smallest, 9)  # of a phone


if __name__ == "__main__":
    case.main()
