// Asks the daemon once a second how it is, and shows it; not while nobody looks.

import { Chart } from "./chart.js";
import { bytes, count, duration, none, rate, rateMark, short, timeOfDay } from "./format.js";
import { History } from "./history.js";
import { showTables } from "./tables.js";

const every = 1000;    // ms
const patience = 5000; // ms that an answer may take

const at = (id) => document.getElementById(id);
const history = new History();

const charts = [
  new Chart(at("throughput"), {
    format: rate, mark: rateMark, base: 3072,
    series: [
      { name: "into the tunnel", of: (sample) => sample.toTunnel, colour: "a" },
      { name: "out of it", of: (sample) => sample.fromTunnel, colour: "b" },
    ],
  }),
  new Chart(at("sessions"), {
    format: count, base: 6,
    series: [{ name: "running", of: (sample) => sample.sessions, colour: "a" }],
  }),
  new Chart(at("handshakes"), {
    format: duration, base: 0.001, logarithmic: true,
    series: [
      { name: "median", of: (sample) => sample.p50, colour: "a" },
      { name: "99 % within", of: (sample) => sample.p99, colour: "b" },
    ],
  }),
  new Chart(at("errors"), {
    format: short, base: 1,
    series: [
      { name: "sessions", of: (sample) => sample.failedSessions, colour: "a" },
      { name: "handshakes", of: (sample) => sample.failedHandshakes, colour: "b" },
    ],
  }),
];

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// ---- at a glance ----

function tilesOf(status, sample) {
  const { process } = status;
  const waiting = status.servers.reduce((sum, server) => sum + server.waiting, 0);
  const strangers = status.servers.reduce((sum, server) => sum + server.strangers, 0);
  const tiles = [
    ["Sessions", count(sample.sessions), sample.opened === null ? "" : `${short(sample.opened)} new a second`],
    ["Into the tunnel", rate(sample.toTunnel), ""],
    ["Out of it", rate(sample.fromTunnel), ""],
    ["Handshake, median", sample.p50 === null ? none : duration(sample.p50),
      sample.p99 === null ? "" : `99 % within ${duration(sample.p99)}`],
    ["Processor", sample.cpu === null ? none : `${short(sample.cpu * 100)} %`, `of ${count(status.threads)} × 100 %`],
    ["Memory", bytes(process.resident_bytes), ""],
    ["Open files", count(process.open_fds), `of ${count(process.max_fds)}`],
  ];
  if (status.servers.length > 0)
    tiles.push(["Kept by clients", count(waiting), `${count(strangers)} unproven`]);
  return tiles;
}

function showTiles(tiles) {
  const list = at("tiles");
  while (list.children.length > tiles.length) list.lastChild.remove();
  while (list.children.length < tiles.length) {
    const tile = document.createElement("div");
    tile.append(document.createElement("dt"), document.createElement("dd"), document.createElement("dd"));
    list.append(tile);
  }
  tiles.forEach((words, i) => words.forEach((word, j) => setText(list.children[i].children[j], word)));
}

// ---- whether it is well ----

function showState(state, kind) {
  setText(at("state"), state);
  at("state").className = `state ${kind}`;
}

function showTrouble(text) {
  at("trouble").hidden = text === "";
  if (text !== "") setText(at("trouble"), text);
  document.body.classList.toggle("stale", text !== "");
}

function showStatus(status) {
  if (status.schema !== 1)
    throw new Error(`the daemon's status has schema ${status.schema}, and this page knows schema 1: reload it`);
  history.add(status, performance.now() / 1000);
  const sample = history.samples.at(-1);
  showState(...(status.draining ? ["draining", "warn"] : status.ready ? ["ready", "good"] : ["starting", "warn"]));
  setText(at("about"), `${status.version} · ${status.protocol} · process ${status.pid} · up ${duration(status.uptime_s)}`);
  showTiles(tilesOf(status, sample));
  charts.forEach((chart) => chart.show(history.samples));
  showTables(status, history);
  const kernels = status.kernels.map(({ primitive, kernel }) => `${primitive} ${kernel}`).join(" · ");
  setText(at("footer"), `Since ${new Date(status.started * 1000).toLocaleString("en-GB")}` +
    (kernels ? ` · ${kernels}` : "") + ` · ${count(status.replay_cache_entries)} handshakes remembered against replay`);
  document.title = `culvert · ${count(sample.sessions)} sessions`;
}

// ---- asking ----

let lastAnswer = null;  // time of day, Unix seconds
let timer = null;
let asking = false;

async function fetchStatus() {
  const answer = await fetch("status.json", { cache: "no-store", signal: AbortSignal.timeout(patience) });
  if (!answer.ok) throw new Error(`it answers ${answer.status} ${answer.statusText}`);
  return answer.json();
}

// What went wrong, and since when what is shown is old.
function complain(error) {
  const since = lastAnswer === null ? "No answer from the daemon yet"
    : `No answer from the daemon since ${timeOfDay(lastAnswer)}; what stands here is of then`;
  showState("no answer", "bad");
  showTrouble(`${since}. Trying again every second. (${error.message})`);
}

async function ask() {
  if (asking || document.hidden) return;
  asking = true;
  clearTimeout(timer);
  try {
    const status = await fetchStatus();
    lastAnswer = Date.now() / 1000;
    showTrouble("");
    showStatus(status);
  } catch (error) {
    complain(error);
  }
  asking = false;
  if (!document.hidden) timer = setTimeout(ask, every);
}

document.addEventListener("visibilitychange", ask);
ask();
