#include <algorithm>

#include "proxy/relay/server_context.hpp"

namespace culvert::relay {

population::population(const config::server_settings& settings)
    : unproven(std::make_shared<unproven_registry>(
          unproven_caps{settings.unproven, settings.unproven_per_address})) {}

server_context::server_context(config::server_settings from, protocol::replay_cache& cache,
                               const server_context* before,
                               std::shared_ptr<observe::section_counters> counted)
    : here(before != nullptr ? before->here : std::make_shared<population>(from)),
      clients(from, here->clients),
      keys(keys_of(from)),
      settings(config::without_secrets(std::move(from))),
      replays(cache),
      counters(std::move(counted)),
      services(services_of(before)) {}

void server_context::set_caps(std::size_t most_unproven) const {
    here->unproven->set_caps(std::min(settings.unproven, most_unproven),
                             settings.unproven_per_address);
}

protocol::server_keys server_context::keys_of(const config::server_settings& from) const {
    std::vector<crypto::secret<32>> psks;
    for (const config::key& psk : from.keys.psks) psks.push_back(psk.clone());
    if (from.keys.psk) psks.push_back(from.keys.psk->clone());
    const auto knows = [this](const protocol::public_key& key) {
        return clients.find(key) != nullptr;
    };
    auto made = from.keys.identity
                    ? protocol::server_keys::with_identity(
                          protocol::key_pair_of(from.keys.identity->clone()), knows, psks)
                    : protocol::server_keys::with_psks(psks, crypto::as_bytes(from.keys.realm));
    made.clock_skew = from.clock_skew;
    return made;
}

std::vector<std::unique_ptr<backends>> server_context::services_of(
    const server_context* before) const {
    std::vector<std::unique_ptr<backends>> made;
    for (const auto& service : settings.services)
        made.push_back(std::make_unique<backends>(
            "server." + settings.name, service, settings.limits,
            before != nullptr ? before->service(service.name) : nullptr));
    return made;
}

backends* server_context::service(std::string_view name) const {
    if (name.empty()) return services.front().get();
    const auto at = std::find_if(services.begin(), services.end(), [name](const auto& service) {
        return service->settings().name == name;
    });
    return at == services.end() ? nullptr : at->get();
}

bool server_context::is_proxy(const config::address_bytes& address) const {
    return std::any_of(settings.proxies.begin(), settings.proxies.end(),
                       [&](const auto& range) { return range.contains(address); });
}

}  // namespace culvert::relay
