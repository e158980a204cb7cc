#include "proxy/observe/registry.hpp"

#include <algorithm>
#include <utility>

namespace culvert::observe {
namespace {

// Numbers are read while they change, each at its own moment: none may fall below zero for that.
std::uint64_t difference(std::uint64_t more, std::uint64_t less) noexcept {
    return more > less ? more - less : 0;
}

std::vector<traffic_status> read_all(
    const std::map<std::string, per_thread<traffic_counters>, std::less<>>& rows) {
    std::vector<traffic_status> all;
    for (const auto& [name, row] : rows) {
        const auto ended = row.sum([](const auto& of) { return of.ended.value(); });
        const auto began = row.sum([](const auto& of) { return of.began.value(); });
        all.push_back({name, began, difference(began, ended),
                       row.sum([](const auto& of) { return of.to_tunnel.value(); }),
                       row.sum([](const auto& of) { return of.from_tunnel.value(); })});
    }
    return all;
}

handshake_status read_handshakes(const per_thread<handshake_counters>& of) {
    handshake_status read;
    for (std::size_t i = 0; i <= read.at_most.size(); ++i) {
        read.count += of.sum([i](const auto& one) { return one.in_bucket(i); });
        if (i < read.at_most.size()) read.at_most[i] = read.count;
    }
    read.sum_s = static_cast<double>(of.sum([](const auto& one) { return one.sum_ns(); })) / 1e9;
    return read;
}

bool is_quiet(const section_status& of) noexcept {
    return of.sessions == 0 && of.strangers == 0 && of.waiting == 0;
}

}  // namespace

void handshake_status::add(const handshake_status& other) noexcept {
    count += other.count;
    sum_s += other.sum_s;
    for (std::size_t i = 0; i < at_most.size(); ++i) at_most[i] += other.at_most[i];
}

void recent_sessions::add(const session_report& ended) {
    const std::scoped_lock lock(mutex_);
    kept_.push_front(ended);
    if (kept_.size() > most) kept_.pop_back();
}

std::vector<session_report> recent_sessions::newest_first() const {
    const std::scoped_lock lock(mutex_);
    return {kept_.begin(), kept_.end()};
}

// ---- one section ----

section_counters::section_counters(section_info about, std::size_t threads,
                                   std::shared_ptr<recent_sessions> recent)
    : threads_(threads),
      recent_(recent ? std::move(recent) : std::make_shared<recent_sessions>()),
      connections_(threads),
      handshakes_(threads) {
    describe(std::move(about));
}

void section_counters::describe(section_info about) {
    const std::scoped_lock lock(mutex_);
    about_ = std::move(about);
    // All of them from the start: a series that begins with its first session hides that one.
    for (const service_info& one : about_.services) services_.try_emplace(one.name, threads_);
    if (about_.what == section_info::kind::client) services_.try_emplace(about_.service, threads_);
}

traffic_counters& section_counters::row(named_traffic& of, const std::string& name,
                                        std::size_t thread) {
    const std::scoped_lock lock(mutex_);
    return of.try_emplace(name, threads_).first->second.of(thread);
}

traffic_counters& section_counters::service(const std::string& name, std::size_t thread) {
    return row(services_, name, thread);
}

traffic_counters& section_counters::client(const std::string& name, std::size_t thread) {
    return row(clients_, name, thread);
}

void section_counters::ended(const session_report& report) {
    recent_->add(report);
    const std::scoped_lock lock(mutex_);
    end_count& of = ends_[report.reason];
    of.failed = report.failed;
    ++of.count;
}

void section_counters::refused(std::string_view reason) {
    const std::scoped_lock lock(mutex_);
    end_count& of = ends_[std::string(reason)];
    of.failed = true;
    ++of.count;
}

void section_counters::handshake_failed(std::string_view reason) {
    const std::scoped_lock lock(mutex_);
    ++handshakes_failed_[std::string(reason)];
}

void section_counters::read_connections(section_status& into) const {
    const auto sum = [this](counter connection_counters::*which) {
        return connections_.sum([which](const auto& of) { return (of.*which).value(); });
    };
    // What lowers a number is read first: what happens in between is then missing, not doubled.
    const auto decided =
        sum(&connection_counters::proven) + sum(&connection_counters::gone_unproven);
    const auto closed = sum(&connection_counters::closed);
    const auto ended_waiting = sum(&connection_counters::ended_waiting);
    into.connections_total = sum(&connection_counters::accepted);
    into.strangers = difference(into.connections_total, decided);
    into.sessions_total = sum(&connection_counters::opened);
    into.sessions = difference(into.sessions_total, closed);
    into.waiting = difference(sum(&connection_counters::began_waiting), ended_waiting);
}

section_status section_counters::read() const {
    section_status now;
    read_connections(now);
    now.handshake = read_handshakes(handshakes_);
    now.accept_errors_total = accept_errors_;
    now.strangers_evicted_total = evicted_;
    now.pool_failures_total = pool_failures_;
    now.pool_ready = static_cast<std::uint64_t>(std::max<std::int64_t>(0, pool_ready_));
    const std::scoped_lock lock(mutex_);
    now.about = about_;
    now.services = read_all(services_);
    now.clients = read_all(clients_);
    for (const auto& [name, end] : ends_) now.ends.push_back({name, end.failed, end.count});
    for (const auto& [name, count] : handshakes_failed_)
        now.handshakes_failed.push_back({name, count});
    for (const traffic_status& of : now.services) {
        now.to_tunnel += of.to_tunnel;
        now.from_tunnel += of.from_tunnel;
        if (about_.what == section_info::kind::server) continue;
        now.sessions += of.sessions;
        now.sessions_total += of.sessions_total;
    }
    return now;
}

// ---- all of them ----

registry::entry& registry::find(const section_info& about) {
    const std::string name = about.section();
    const auto known = std::find_if(entries_.begin(), entries_.end(),
                                    [&](const entry& e) { return e.section == name; });
    if (known != entries_.end()) return *known;
    entries_.push_back({name, std::make_shared<section_counters>(about, threads_, recent_)});
    return entries_.back();
}

std::shared_ptr<section_counters> registry::section(const section_info& about) {
    const std::scoped_lock lock(mutex_);
    return find(about).counters;
}

void registry::publish(std::vector<section_info> all) {
    const std::scoped_lock lock(mutex_);
    for (entry& e : entries_) e.named = false;
    std::vector<entry> in_order;
    for (section_info& about : all) {
        entry& e = find(about);
        e.named = true;
        e.counters->describe(std::move(about));
        in_order.push_back(e);
    }
    for (entry& e : entries_)
        if (!e.named) in_order.push_back(std::move(e));
    entries_ = std::move(in_order);
}

void registry::read(status& into) {
    into.recent = recent_->newest_first();
    const std::scoped_lock lock(mutex_);
    into.sections.clear();
    std::erase_if(entries_, [&into](const entry& e) {
        section_status now = e.counters->read();
        if (!e.named && is_quiet(now)) return true;
        into.sections.push_back(std::move(now));
        return false;
    });
}

}  // namespace culvert::observe
