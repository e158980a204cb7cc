#include "proxy/watch/view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "proxy/watch/tables.hpp"
#include "proxy/watch/words.hpp"

namespace culvert::watch {
namespace {

using lines = std::vector<std::string>;

void append(lines& to, const lines& more) {
    to.insert(to.end(), more.begin(), more.end());
}

// A table that has more than its head, after an empty line.
void append_table(lines& to, const table& what) {
    if (what.rows() < 2) return;
    to.emplace_back();
    append(to, what.lines());
}

std::string who(const reading& now) {
    return fmt::format("culvert {} ({}), process {}, up {}: {}", now.version, now.protocol, now.pid,
                       duration_text(now.uptime), state_of(now));
}

std::string handshake_times(const histogram_reading& before, const histogram_reading& now) {
    const auto half = quantile(before, now, 0.5);
    const auto most = quantile(before, now, 0.99);
    if (!half || !most) return "none";
    return fmt::format("half within {}, 99 % within {}", duration_text(*half),
                       duration_text(*most));
}

std::string process_line(const reading& now) {
    return fmt::format("{} of memory, {} of {} files", size_text(static_cast<double>(now.memory)),
                       count_text(now.open_files), count_text(now.most_files));
}

struct waiting {
    std::uint64_t proven = 0;
    std::uint64_t strangers = 0;
};

waiting waiting_of(const reading& now) noexcept {
    waiting out;
    for (const auto& server : now.servers) {
        out.proven += server.waiting;
        out.strangers += server.strangers;
    }
    return out;
}

// One character a second, the newest to the right.
std::string bars(const throughput_history& values, std::size_t columns, bool blocks) {
    static constexpr std::array in_blocks{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static constexpr std::array in_ascii{" ", ".", ".", ":", ":", "-", "=", "#", "#"};
    const auto& heights = blocks ? in_blocks : in_ascii;
    double highest = 1;
    for (const auto& value : values) highest = std::max(highest, value.value_or(0));
    std::string out;
    const std::size_t shown = std::min(columns, values.size());
    for (std::size_t i = values.size() - shown; i < values.size(); ++i) {
        const double part = values[i].value_or(0) / highest;
        out += heights.at(static_cast<std::size_t>(std::ceil(part * 8)));
    }
    return out;
}

lines head(const frame& what, std::size_t columns) {
    const reading& now = what.now;
    const reading* const before = what.since.before();
    const auto rate = [&](std::uint64_t was, std::uint64_t is) {
        return number_text(before == nullptr ? std::nullopt : what.since.of(was, is));
    };
    const reading& old = before == nullptr ? now : *before;
    const auto both = what.since.of(before == nullptr ? nullptr : &before->all, now.all);
    std::optional<double> cpu;
    if (before != nullptr) cpu = std::max(0.0, now.cpu - before->cpu) / what.since.seconds() * 100;
    lines out{who(now)};
    if (!what.trouble.empty()) out.push_back("NO ANSWER: " + what.trouble);
    out.push_back(fmt::format("sessions    {} now, {}/s new, {}/s failed; handshakes {}/s failed",
                              count_text(now.all.sessions),
                              rate(old.all.sessions_total, now.all.sessions_total),
                              rate(old.failed_sessions, now.failed_sessions),
                              rate(old.failed_handshakes, now.failed_handshakes)));
    out.push_back("handshakes  " + handshake_times(old.handshakes, now.handshakes));
    out.push_back(
        fmt::format("process     {} % of a processor, {}", number_text(cpu), process_line(now)));
    out.push_back(fmt::format("throughput  {} to the tunnel, {} from it", rate_text(both.to_tunnel),
                              rate_text(both.from_tunnel)));
    out.push_back("            " +
                  bars(what.throughput, columns > 12 ? columns - 12 : 0, what.blocks));
    return out;
}

// Those of a table that fit into so many rows; the rest is told.
lines fitting(const table& what, std::size_t rows) {
    lines all = what.lines();
    if (all.size() <= rows) return all;
    if (rows < 3) return {};
    const std::size_t left = all.size() - (rows - 1);
    all.resize(rows - 1);
    all.push_back(fmt::format("and {} more", left));
    return all;
}

}  // namespace

const char* state_of(const reading& now) noexcept {
    return now.draining ? "draining" : now.ready ? "ready" : "starting";
}

lines summary(const reading& now) {
    const auto [proven, strangers] = waiting_of(now);
    lines out{who(now)};
    out.push_back(fmt::format("  sessions    {} now, {} ever, {} failed",
                              count_text(now.all.sessions), count_text(now.all.sessions_total),
                              count_text(now.failed_sessions)));
    out.push_back(fmt::format("  streams     {} to the tunnel, {} from it",
                              size_text(static_cast<double>(now.all.to_tunnel)),
                              size_text(static_cast<double>(now.all.from_tunnel))));
    out.push_back(fmt::format("  handshakes  {}, {} failed; {}", count_text(now.handshakes.count),
                              count_text(now.failed_handshakes),
                              handshake_times({}, now.handshakes)));
    if (!now.servers.empty())
        out.push_back(fmt::format("  waiting     {} kept ready by clients, {} not proven",
                                  count_text(proven), count_text(strangers)));
    out.push_back(fmt::format("  process     {} thread{}, {} s of processor, {}",
                              count_text(now.threads), now.threads == 1 ? "" : "s",
                              number_text(now.cpu), process_line(now)));
    append_table(out, section_table(now, nullptr));
    append_table(out, user_table(now, nullptr));
    append_table(out, failure_table(now, nullptr));
    return out;
}

lines screen(const frame& what, size fitting_in) {
    lines out = head(what, fitting_in.columns);
    const table tables[] = {section_table(what.now, &what.since),
                            failure_table(what.now, &what.since),
                            user_table(what.now, &what.since)};
    for (const table& one : tables) {
        if (one.rows() < 2 || out.size() + 1 >= fitting_in.rows) continue;
        const lines some = fitting(one, fitting_in.rows - out.size() - 1);
        if (some.empty()) continue;
        out.emplace_back();
        append(out, some);
    }
    out.resize(std::min(out.size(), fitting_in.rows));
    for (std::string& line : out) line = cut(line, fitting_in.columns);
    return out;
}

}  // namespace culvert::watch
