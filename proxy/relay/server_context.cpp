#include <algorithm>

#include "proxy/relay/server_context.hpp"

namespace culvert::relay {

void waiting_room::set_most(std::size_t most) {
    const std::scoped_lock lock(mutex_);
    most_ = most;
}

bool waiting_room::enter(const std::string& key) {
    const std::scoped_lock lock(mutex_);
    std::size_t& count = waiting_[key];
    if (count >= most_) return false;
    ++count;
    return true;
}

void waiting_room::leave(const std::string& key) {
    const std::scoped_lock lock(mutex_);
    const auto at = waiting_.find(key);
    if (--at->second == 0) waiting_.erase(at);
}

population::population(const config::server_settings& settings)
    : unproven(std::make_shared<unproven_registry>(
          unproven_caps{settings.unproven, settings.unproven_per_address})),
      waiting(settings.waiting) {}

server_context::server_context(config::server_settings from, protocol::replay_cache& cache,
                               const server_context* before,
                               std::shared_ptr<observe::section_counters> counted)
    : keys(keys_of(from)),
      settings(config::without_secrets(std::move(from))),
      replays(cache),
      counters(std::move(counted)),
      here(before != nullptr ? before->here : std::make_shared<population>(settings)),
      services(services_of(before)) {
    for (const auto& client : settings.clients) names_.emplace(client.key, client.name);
}

void server_context::set_caps(std::size_t most_unproven) const {
    here->unproven->set_caps(std::min(settings.unproven, most_unproven),
                             settings.unproven_per_address);
    here->waiting.set_most(settings.waiting);
}

protocol::server_keys server_context::keys_of(const config::server_settings& from) const {
    std::vector<crypto::secret<32>> psks;
    if (from.keys.psk) psks.push_back(from.keys.psk->clone());
    const auto knows = [this](const protocol::public_key& key) { return names_.contains(key); };
    auto made = from.keys.identity
                    ? protocol::server_keys::with_identity(
                          protocol::key_pair_of(from.keys.identity->clone()), knows, psks)
                    : protocol::server_keys::with_psks(psks, crypto::as_bytes(from.keys.realm));
    made.clock_skew = from.clock_skew;
    return made;
}

std::string server_context::name_of(const protocol::public_key& key) const {
    const auto at = names_.find(key);
    return at == names_.end() ? std::string() : at->second;
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
