#include "proxy/daemon/observation.hpp"

#include <unistd.h>

#include "crypto/kernels/report.hpp"

namespace culvert::daemon {
namespace {

std::string text_of(const config::uplink& to) {
    const std::string place = std::string(name_of(to.carrier)) + "://" + to.place.text();
    return to.carrier == config::carrier::tcp ? place : place + to.path;
}

}  // namespace

observe::section_info info_of(const config::server_settings& from) {
    observe::section_info info;
    info.what = observe::section_info::kind::server;
    info.name = from.name;
    info.listen = from.listen.text();
    info.carrier = name_of(from.carrier);
    for (const auto& service : from.services) {
        observe::service_info& one = info.services.emplace_back();
        one.name = service.name;
        for (const auto& target : service.targets) one.targets.push_back(target.text());
    }
    return info;
}

observe::section_info info_of(const config::client_settings& from) {
    observe::section_info info;
    info.what = observe::section_info::kind::client;
    info.name = from.name;
    info.listen = from.listen.text();
    for (const auto& to : from.connect) info.connect.push_back(text_of(to));
    info.service = from.service;
    info.pool = from.pool;
    return info;
}

observe::status observation::read() {
    observe::status now;
    now.version = CULVERT_VERSION;
    now.protocol = "culvert/1";
    now.pid = ::getpid();
    now.started = started_;
    now.now = std::chrono::system_clock::now();
    now.uptime = std::chrono::steady_clock::now() - began_;
    now.ready = phase_ == phase::ready;
    now.draining = phase_ == phase::draining;
    now.threads = threads_;
    for (const auto& choice : crypto::kernel_choices())
        now.kernels.emplace_back(choice.primitive, choice.kernel);
    now.process = process_.read();
    now.replay_cache_entries = replays_.size();
    sections_.read(now);
    return now;
}

}  // namespace culvert::daemon
