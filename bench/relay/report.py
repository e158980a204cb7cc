"""Writes what a run has found: relay.txt, relay.json and plots, and the bars into README."""

import json
import pathlib

import charts
import machine
import tables

ROOT = pathlib.Path(__file__).resolve().parents[2]
BEGIN, END = "<!-- make bench-relay writes from here -->", "<!-- to here, bench-relay -->"


def medians(samples):
    """One object a figure, cell and contender."""
    keys = ("figure", "cell", "contender")
    where = dict.fromkeys(tuple(one[key] for key in keys) for one in samples.all)
    for place in where:
        names = {name for one in samples.all if tuple(one[key] for key in keys) == place
                 for name, value in one.items() if isinstance(value, float)}
        yield dict(zip(keys, place)) | {name: samples.median(*place, name)
                                        for name in sorted(names)}


def text_of(about, samples, contenders, found):
    failures = [f"{name} is left out: {why}" for name, why in about["absent"].items()]
    failures += samples.failures()
    return "\n".join([*machine.heading(about), *tables.text(samples, contenders), "",
                      *(["What went wrong:", *("  " + line for line in failures), ""]
                        if failures else []),
                      *tables.bar_text(found)]) + "\n"


def write(folder, about, samples, contenders, found):
    """`found` are the bars. Returns the text."""
    text = text_of(about, samples, contenders, found)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "relay.txt").write_text(text)
    everything = about | {"bars": found, "medians": list(medians(samples)), "samples": samples.all}
    (folder / "relay.json").write_text(json.dumps(everything, indent=1) + "\n")
    for name, svg in charts.charts(samples, contenders).items():
        (folder / name).write_text(svg)
    return text


def write_readme(about, found):
    readme = ROOT / "README.md"
    before, begin, rest = readme.read_text().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise SystemExit(f"README.md lacks the lines '{BEGIN}' and '{END}'")
    lines = ["", "", *(line + "  " for line in machine.heading(about)), "",
             *tables.bar_markdown(found), "", ""]
    readme.write_text(before + BEGIN + "\n".join(lines).replace("  \n\n|", "\n\n|") + END + after)
