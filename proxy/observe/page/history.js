// What the page remembers of the last five minutes: rates from the differences of counters, which
// may begin again from nothing when the daemon does.

export const remembered = 300;  // seconds
const quantileWindow = 15;      // seconds of handshakes that a quantile is taken of
const breakAfter = 5;           // seconds without an answer that are a gap in a line

// Everything that counts up, by a name of its own.
function countersOf(status) {
  const all = new Map();
  const put = (value, ...name) => all.set(JSON.stringify(name), value);
  let toTunnel = 0, fromTunnel = 0, opened = 0, strangers = 0;
  for (const server of status.servers) {
    toTunnel += server.bytes_to_clients;
    fromTunnel += server.bytes_from_clients;
    opened += server.sessions_total;
    strangers += server.handshakes_failed_total;
    put(server.bytes_from_clients, "from", server.section);
    put(server.bytes_to_clients, "to", server.section);
    for (const service of server.services) {
      put(service.bytes_from_clients, "from", server.section, service.name);
      put(service.bytes_to_clients, "to", server.section, service.name);
    }
  }
  for (const client of status.clients) {
    toTunnel += client.bytes_to_server;
    fromTunnel += client.bytes_from_server;
    opened += client.sessions_total;
    put(client.bytes_to_server, "to", client.section);
    put(client.bytes_from_server, "from", client.section);
  }
  for (const user of status.users) {
    put(user.bytes_from_clients, "from user", user.server, user.name);
    put(user.bytes_to_clients, "to user", user.server, user.name);
  }
  const failed = status.ends.filter((end) => end.failed).reduce((sum, end) => sum + end.count, 0);
  put(toTunnel, "to tunnel");
  put(fromTunnel, "from tunnel");
  put(opened, "opened");
  put(failed, "failed sessions");
  put(strangers, "failed handshakes");
  put(status.process.cpu_s, "cpu");
  return all;
}

// The time that a share of the handshakes between two histograms took at most, within a bucket by
// proportion; null when there was none.
export function quantile(before, now, share) {
  const total = now.count - before.count;
  if (total <= 0) return null;
  const wanted = share * total;
  let below = 0, lower = 0;
  for (let i = 0; i < now.buckets.length; ++i) {
    const upTo = now.buckets[i].count - (before.buckets[i]?.count ?? 0);
    const edge = now.buckets[i].le_s;
    if (upTo >= wanted)
      return lower + (edge - lower) * (upTo > below ? (wanted - below) / (upTo - below) : 1);
    below = upTo;
    lower = edge;
  }
  return lower;
}

// How often each thing failed, by section, as the daemon has counted it.
export function failuresOf(status) {
  const out = [];
  for (const { section, reason, failed, count } of status.ends)
    if (failed) out.push({ section, reason, what: "session", count });
  for (const server of status.servers)
    for (const { reason, count } of server.handshakes_failed)
      out.push({ section: server.section, reason, what: "handshake", count });
  return out;
}

function failureName({ section, reason, what }) {
  return JSON.stringify([what, section, reason]);
}

export class History {
  samples = [];  // of the last five minutes, oldest first
  #counters = new Map();
  #uptime = 0;
  #identity = "";

  // `at`: seconds, by a clock of the page.
  add(status, at) {
    const identity = `${status.pid} ${status.started}`;
    const restarted = identity !== this.#identity || status.uptime_s < this.#uptime;
    const counters = countersOf(status);
    const time = status.uptime_s - this.#uptime;
    const last = this.samples.at(-1);
    if (!restarted && time <= 0) return;
    const before = restarted ? new Map() : this.#counters;
    this.rate = (...name) => {
      const key = JSON.stringify(name);
      const difference = counters.get(key) - before.get(key);
      return difference >= 0 ? difference / time : null;  // none without a number before, or after less
    };
    const run = (last?.run ?? 0) + (restarted ? 1 : 0);
    const sample = {
      at, run,
      gap: restarted || at - last.at > breakAfter,
      sessions: [...status.servers, ...status.clients].reduce((sum, one) => sum + one.sessions, 0),
      toTunnel: this.rate("to tunnel"),
      fromTunnel: this.rate("from tunnel"),
      opened: this.rate("opened"),
      failedSessions: this.rate("failed sessions"),
      failedHandshakes: this.rate("failed handshakes"),
      cpu: this.rate("cpu"),
      handshake: status.handshake,
      failures: new Map(failuresOf(status).map((one) => [failureName(one), one.count])),
    };
    const [p50, p99] = this.#quantiles(sample);
    this.samples.push(Object.assign(sample, { p50, p99 }));
    while (this.samples[0].at < at - remembered) this.samples.shift();
    this.#counters = counters;
    this.#uptime = status.uptime_s;
    this.#identity = identity;
  }

  // How much of a failure came since the oldest sample of this run of the daemon.
  recently(failure) {
    const last = this.samples.at(-1);
    const first = this.samples.find((sample) => sample.run === last.run);
    const name = failureName(failure);
    return last.failures.get(name) - (first.failures.get(name) ?? 0);
  }

  #quantiles(sample) {
    const first = this.samples.find(
      (other) => other.run === sample.run && other.at >= sample.at - quantileWindow);
    if (first === undefined) return [null, null];
    return [0.5, 0.99].map((share) => quantile(first.handshake, sample.handshake, share));
  }
}
