// Numbers, sizes and times as people read them.

export const none = "–";

export function count(value) {
  return Math.round(value).toLocaleString("en-US");
}

// Three digits: 0.12, 4.5, 67.8, 910.
export function short(value) {
  if (value >= 100) return count(value);
  return String(Number(value.toPrecision(3)));
}

export function bytes(value) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let unit = 0;
  while (value >= 1024 && unit + 1 < units.length) {
    value /= 1024;
    ++unit;
  }
  return `${unit === 0 ? Math.round(value) : value.toFixed(value < 100 ? 1 : 0)} ${units[unit]}`;
}

export function rate(value) {
  return value === null ? none : `${bytes(value)}/s`;
}

// On an axis: 50 MiB/s, not 50.0.
export function rateMark(value) {
  return rate(value).replace(".0 ", " ");
}

// How long something takes or has taken.
export function duration(seconds) {
  if (seconds < 0.001) return `${short(seconds * 1e6)} µs`;
  if (seconds < 1) return `${short(seconds * 1e3)} ms`;
  if (seconds < 60) return `${seconds < 10 ? Number(seconds.toFixed(1)) : Math.round(seconds)} s`;
  const whole = Math.round(seconds);
  const pair = (large, small, unit, part) =>
    `${Math.floor(whole / large)} ${unit}` +
    (Math.floor((whole % large) / small) > 0 ? ` ${Math.floor((whole % large) / small)} ${part}` : "");
  if (whole < 3600) return pair(60, 1, "min", "s");
  if (whole < 86400) return pair(3600, 60, "h", "min");
  return pair(86400, 3600, "d", "h");
}

export function timeOfDay(unixSeconds) {
  return new Date(unixSeconds * 1000).toLocaleTimeString("en-GB");
}
