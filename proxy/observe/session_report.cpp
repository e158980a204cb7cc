#include "proxy/observe/session_report.hpp"

#include "proxy/observe/printable.hpp"

namespace culvert::observe {
namespace {

std::string bytes_text(std::uint64_t size) {
    if (size < 10'000) return fmt::format("{} B", size);
    if (size < 10'000 * std::uint64_t{1024}) return fmt::format("{} KiB", size / 1024);
    return fmt::format("{} MiB", size / (1024 * 1024));
}

std::string who_text(const session_facts& who) {
    std::string text = who.peer;
    if (!who.client.empty()) text += " client " + who.client;
    if (who.opened) text += " service " + (who.service.empty() ? "(default)" : who.service);
    return text;
}

// The members of a JSON object.
std::string json_of(const session_report& report) {
    const session_facts& who = report.who;
    return fmt::format(R"("section":{},"peer":{},"client":{},"service":{},"carrier":{},)"
                       R"("bytes_to_tunnel":{},"bytes_from_tunnel":{},"duration_s":{:.3f},)"
                       R"("reason":{},"detail":{},"failed":{})",
                       quoted_json(report.section), quoted_json(who.peer), quoted_json(who.client),
                       quoted_json(who.service), quoted_json(who.carrier), report.to_tunnel,
                       report.from_tunnel, report.lasted.count(), quoted_json(report.reason),
                       quoted_json(report.detail), report.failed);
}

}  // namespace

std::string text_of(const session_report& report) {
    return fmt::format("{}: {}: {}; {} to the tunnel, {} from it, {:.1f} s", report.section,
                       who_text(report.who), report.detail, bytes_text(report.to_tunnel),
                       bytes_text(report.from_tunnel), report.lasted.count());
}

void log_session(log_level level, const session_report& report, log_limit* limit) {
    if (!logs(level)) return;
    const auto held_back = limit != nullptr ? limit->admit() : 0;
    if (!held_back) return;
    const std::string line = text_of(report) + held_back_text(*held_back);
    write_log(level, line, logs_json() ? json_of(report) : std::string());
}

}  // namespace culvert::observe
