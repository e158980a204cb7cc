// The tables. All text goes in as text, never as markup; cells are kept and changed only where they
// differ, so that a selection or a place scrolled to stays.

import { bytes, count, duration, none, rate, timeOfDay } from "./format.js";
import { failuresOf } from "./history.js";

// More rows than these help nobody; status.json has all.
const mostRows = 200;

function set(cell, { text, kind = "", title = "" }) {
  if (cell.textContent !== text) cell.textContent = text;
  if (cell.className !== kind) cell.className = kind;
  if (cell.title !== title) cell.title = title;
}

function cellsOf(row, wanted) {
  while (row.cells.length > wanted) row.deleteCell(-1);
  while (row.cells.length < wanted) {
    const first = row.cells.length === 0;
    const cell = document.createElement(first ? "th" : "td");
    if (first) cell.scope = "row";
    row.append(cell);
  }
  return row.cells;
}

// `rows`: {kind, cells: [{text, kind, title}]}
function fill(body, rows) {
  while (body.rows.length > rows.length) body.deleteRow(-1);
  while (body.rows.length < rows.length) body.insertRow();
  rows.forEach(({ kind = "", cells }, i) => {
    const row = body.rows[i];
    if (row.className !== kind) row.className = kind;
    const places = cellsOf(row, cells.length);
    cells.forEach((cell, j) => set(places[j], cell));
  });
}

// The table of a section, and below it what is not in it.
function show(id, rows) {
  const section = document.getElementById(id);
  fill(section.querySelector("tbody"), rows.slice(0, mostRows));
  section.querySelector(".scroll").hidden = rows.length === 0;
  const note = section.querySelector(".note");
  const left = rows.length - mostRows;
  const text = rows.length === 0 ? "none so far" : left > 0 ? `and ${count(left)} more, in status.json` : "";
  note.hidden = text === "";
  if (note.textContent !== text) note.textContent = text;
}

const text = (text, kind, title) => ({ text, kind, title });
const number = (text) => ({ text, kind: "number" });
const rare = (text) => ({ text, kind: "number more" });
// Cut by the style where it is long.
const full = (text) => ({ text, title: text });
const more = (text) => ({ text, title: text, kind: "more" });

function serverRows(servers, history) {
  return servers.flatMap((server) => [
    {
      kind: "head",
      cells: [
        full(server.section), more(`${server.listen} · ${server.carrier}`),
        number(count(server.sessions)),
        number(rate(history.rate("from", server.section))), number(rate(history.rate("to", server.section))),
        rare(count(server.sessions_total)), rare(bytes(server.bytes_from_clients)),
        rare(bytes(server.bytes_to_clients)),
      ],
    },
    ...server.services.map((service, i) => ({
      kind: "part",
      cells: [
        full(service.name), more(service.targets.join(", ") + (i === 0 ? " · default" : "")),
        number(count(service.sessions)),
        number(rate(history.rate("from", server.section, service.name))),
        number(rate(history.rate("to", server.section, service.name))),
        rare(count(service.sessions_total)), rare(bytes(service.bytes_from_clients)),
        rare(bytes(service.bytes_to_clients)),
      ],
    })),
  ]);
}

function clientRows(clients, history) {
  return clients.map((client) => ({
    cells: [
      full(client.section),
      more(`${client.listen} → ${client.service || "default"} at ${client.connect.join(", ")}`),
      number(count(client.sessions)),
      number(rate(history.rate("to", client.section))), number(rate(history.rate("from", client.section))),
      number(client.pool_size > 0 ? `${count(client.pool_ready)} of ${count(client.pool_size)}` : none),
      rare(count(client.sessions_total)), rare(bytes(client.bytes_to_server)),
      rare(bytes(client.bytes_from_server)),
    ],
  }));
}

// Those with the most sessions first, then those that have moved the most.
function userRows(users, history) {
  const moved = (user) => user.bytes_from_clients + user.bytes_to_clients;
  const ordered = [...users].sort((a, b) => b.sessions - a.sessions || moved(b) - moved(a));
  const severalServers = new Set(users.map((user) => user.server)).size > 1;
  return ordered.map((user) => ({
    cells: [
      full(severalServers ? `${user.name} · ${user.server}` : user.name), number(count(user.sessions)),
      number(rate(history.rate("from user", user.server, user.name))),
      number(rate(history.rate("to user", user.server, user.name))),
      rare(bytes(moved(user))),
    ],
  }));
}

const inWords = (reason) => reason.replaceAll("_", " ");

function reasonRows(status, history) {
  return failuresOf(status)
    .map((one) => ({ ...one, recent: history.recently(one) }))
    .filter((one) => one.count > 0)
    .sort((a, b) => b.recent - a.recent || b.count - a.count)
    .map((one) => ({
      kind: one.recent > 0 ? "fresh" : "",
      cells: [
        full(one.what === "handshake" ? `${inWords(one.reason)} (no session)` : inWords(one.reason)),
        number(count(one.recent)), number(count(one.count)), full(one.section),
      ],
    }));
}

function recentRows(sessions) {
  return sessions.map((one) => ({
    kind: one.failed ? "failed" : "",
    cells: [
      text(timeOfDay(one.time)), full(one.client ? `${one.client} · ${one.peer}` : one.peer),
      text(inWords(one.reason), "end", one.detail), more(one.service || none), more(one.section),
      rare(bytes(one.bytes_to_tunnel)), rare(bytes(one.bytes_from_tunnel)), rare(duration(one.duration_s)),
    ],
  }));
}

export function showTables(status, history) {
  for (const id of ["servers", "clients", "users"]) document.getElementById(id).hidden = status[id].length === 0;
  show("servers", serverRows(status.servers, history));
  show("clients", clientRows(status.clients, history));
  show("users", userRows(status.users, history));
  show("reasons", reasonRows(status, history));
  show("recent", recentRows(status.recent));
}
