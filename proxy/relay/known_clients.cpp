#include "proxy/relay/known_clients.hpp"

#include <algorithm>

#include "config/psk_list.hpp"

namespace culvert::relay {
static_assert(config::most_psks == protocol::max_psks);

bool known_client::may_open(const std::string& service) const {
    return !rights.services ||
           std::ranges::find(*rights.services, service) != rights.services->end();
}

known_clients::known_clients(const config::server_settings& section, client_ledger& ledger) {
    ledger.forget_the_gone();
    const auto add = [&](const std::string& name, const client_key& key,
                         const config::client_rights& rights) {
        by_key_.emplace(key, all_.size());
        all_.push_back({name, key, rights, ledger.account_of(name)});
    };
    for (const config::named_client& client : section.clients)
        add(client.name, client.key, client.rights);
    if (section.clients.empty()) add({}, section.keys.mark, {});
}

const known_client* known_clients::find(const client_key& key) const {
    const auto at = by_key_.find(key);
    return at == by_key_.end() ? nullptr : &all_[at->second];
}

const known_client& known_clients::of(const protocol::server_handshake& done) const {
    return done.client() ? all_[by_key_.at(*done.client())] : all_[done.psk_index()];
}

}  // namespace culvert::relay
