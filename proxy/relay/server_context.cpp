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
      counters(std::move(counted)) {}

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

const config::endpoint* server_context::target_of(std::string_view service) const {
    if (service.empty()) return &settings.services.front().target;
    const auto at = std::find_if(settings.services.begin(), settings.services.end(),
                                 [service](const auto& s) { return s.name == service; });
    return at == settings.services.end() ? nullptr : &at->target;
}

}  // namespace culvert::relay
