// A line chart of the last five minutes in an <svg>. Its units are pixels, so that text has the same
// size on every screen.

import { remembered } from "./history.js";

const height = 168;
const left = 66, right = 10, top = 10, bottom = 22;

function element(name, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

// Numbers at or above the highest: [highest mark, distance of marks].
function linearMarks(highest, base) {
  const raw = Math.max(highest, base) / 3;
  // Sizes go by powers of 1024, so that the marks are round in their unit.
  const unit = base >= 1024 ? 1024 ** Math.floor(Math.log(raw) / Math.log(1024)) : 1;
  const power = 10 ** Math.floor(Math.log10(raw / unit));
  const step = [1, 2, 5, 10].map((factor) => factor * power * unit).find((step) => step >= raw);
  const marks = [];
  for (let i = 0; i <= Math.ceil(Math.max(highest, base) / step - 1e-9); ++i) marks.push(i * step);
  return marks;
}

function logarithmicMarks(lowest, highest) {
  const marks = [];
  for (let power = Math.floor(Math.log10(lowest)); power <= Math.ceil(Math.log10(highest)); ++power)
    marks.push(10 ** power);
  return marks.length > 1 ? marks : [marks[0], marks[0] * 10];
}

// Points that follow each other without a gap belong to one line.
function runsOf(points) {
  const runs = [];
  let current = [];
  for (const { x, y, gap } of points) {
    if (gap || y === null) {
      if (current.length > 0) runs.push(current);
      current = [];
    }
    if (y !== null) current.push([x, y]);
  }
  if (current.length > 0) runs.push(current);
  return runs;
}

export class Chart {
  // `series`: [{name, of: (sample) => number or null, colour: "a" … }]; `base`: the least height of
  // the axis; `format`: of a value; `mark`:
  // of a value at the axis.
  constructor(figure, { series, format, mark = format, base = 1, logarithmic = false }) {
    this.svg = figure.querySelector("svg");
    this.title = figure.querySelector("figcaption").firstChild.textContent.trim();
    this.series = series;
    this.format = format;
    this.mark = mark;
    this.base = base;
    this.logarithmic = logarithmic;
    this.samples = [];
    this.pointer = null;
    this.values = this.#makeKey(figure.querySelector(".key"));
    this.svg.addEventListener("pointermove", (event) => this.#point(event.offsetX));
    this.svg.addEventListener("pointerleave", () => this.#point(null));
    new ResizeObserver(() => this.draw()).observe(this.svg);
  }

  show(samples) {
    this.samples = samples;
    this.draw();
  }

  #makeKey(list) {
    return this.series.map(({ name, colour }) => {
      const item = document.createElement("li");
      item.className = colour;
      const value = document.createElement("b");
      item.append(`${name} `, value);
      list.append(item);
      return value;
    });
  }

  #point(x) {
    this.pointer = x;
    this.draw();
  }

  draw() {
    const width = this.svg.clientWidth;
    if (width === 0) return;
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const now = this.samples.at(-1)?.at ?? 0;
    const x = (at) => width - right - ((now - at) / remembered) * (width - left - right);
    const y = this.#vertical();
    const parts = [...this.#frame(width, y)];
    for (const { of, colour } of this.series) {
      const points = this.samples.map((one) => ({ x: x(one.at), y: this.#place(y, of(one)), gap: one.gap }));
      for (const run of runsOf(points)) parts.push(...this.#line(run, colour));
    }
    const shown = this.#chosen(x);
    if (this.pointer !== null && shown)
      parts.push(element("line", { x1: x(shown.at), x2: x(shown.at), y1: top, y2: height - bottom, class: "cursor" }));
    this.svg.replaceChildren(...parts);
    this.#tell(shown);
  }

  // The sample under the pointer, else the newest.
  #chosen(x) {
    if (this.pointer === null) return this.samples.at(-1);
    const distance = (sample) => Math.abs(x(sample.at) - this.pointer);
    return this.samples.reduce((best, one) => (!best || distance(one) < distance(best) ? one : best), undefined);
  }

  #tell(sample) {
    const told = this.series.map(({ name, of }, i) => {
      const value = sample ? of(sample) : null;
      const text = value === null ? "–" : this.format(value);
      this.values[i].textContent = text;
      return `${name} ${text}`;
    });
    this.svg.setAttribute("aria-label", `${this.title} of the last five minutes; now ${told.join(", ")}`);
  }

  #vertical() {
    const values = this.samples.flatMap((one) => this.series.map(({ of }) => of(one))).filter((value) => value > 0);
    const highest = values.reduce((a, b) => Math.max(a, b), 0);
    const lowest = values.reduce((a, b) => Math.min(a, b), highest);
    const marks = !this.logarithmic ? linearMarks(highest, this.base)
      : logarithmicMarks(lowest || this.base, highest || this.base * 10);
    const scale = this.logarithmic ? Math.log10 : (value) => value;
    const [low, high] = [scale(marks[0]), scale(marks.at(-1))];
    const place = (value) => height - bottom - ((scale(value) - low) / (high - low)) * (height - top - bottom);
    return { marks, place };
  }

  #place(y, value) {
    return value === null || (this.logarithmic && value <= 0) ? null : y.place(value);
  }

  *#frame(width, y) {
    for (const mark of y.marks) {
      const at = y.place(mark);
      yield element("line", { x1: left, x2: width - right, y1: at, y2: at, class: "grid" });
      yield element("text", { x: left - 8, y: at + 4, "text-anchor": "end" }, this.mark(mark));
    }
    for (let minute = 0; minute <= 5; ++minute) {
      const at = width - right - (minute / 5) * (width - left - right);
      const anchor = minute === 0 ? "end" : "middle";
      yield element("text", { x: at, y: height - 5, "text-anchor": anchor }, minute === 0 ? "now" : `−${minute} min`);
    }
  }

  *#line(run, colour) {
    if (run.length === 1) {
      yield element("circle", { cx: run[0][0], cy: run[0][1], r: 2, class: `dot ${colour}` });
      return;
    }
    const through = run.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L");
    const floor = height - bottom;
    yield element("path", { d: `M${through}L${run.at(-1)[0].toFixed(1)} ${floor}L${run[0][0].toFixed(1)} ${floor}Z`, class: `area ${colour}` });
    yield element("path", { d: `M${through}`, class: `line ${colour}` });
  }
}
