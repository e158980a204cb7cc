#include "proxy/admin/answers.hpp"

#include <algorithm>

#include "proxy/observe/prometheus.hpp"
#include "proxy/observe/status_json.hpp"

namespace culvert::admin {
namespace {

answer readiness(const observe::status& now) {
    if (now.ready) return {.body = "ready\n"};
    return {.status = 503, .body = now.draining ? "draining\n" : "starting\n"};
}

}  // namespace

answer answer_to(std::string_view target, const std::function<observe::status()>& now) {
    const std::string_view path = target.substr(0, target.find('?'));
    if (path == "/healthz") return {.body = "ok\n"};
    if (path == "/readyz") return readiness(now());
    if (path == "/metrics")
        return {.type = "text/plain; version=0.0.4; charset=utf-8",
                .body = observe::to_prometheus(now())};
    if (path == "/status.json")
        return {.type = "application/json", .body = observe::to_json(now())};
    const auto files = assets();
    const auto file =
        std::find_if(files.begin(), files.end(), [path](const asset& a) { return a.path == path; });
    if (file == files.end()) return {.status = 404, .body = "not found\n"};
    return {.type = file->type, .body = std::string(file->content)};
}

}  // namespace culvert::admin
