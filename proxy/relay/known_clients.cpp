#include "proxy/relay/known_clients.hpp"

#include <algorithm>

#include "config/psk_list.hpp"
#include "crypto/cshake.hpp"

namespace culvert::relay {
namespace {

static_assert(config::most_psks == protocol::max_psks);

// Says whether two psks are the same, and nothing else about them.
client_key fingerprint(const config::key& psk) {
    client_key out;
    crypto::cshake256::hash({}, crypto::as_bytes("culvert psk fingerprint"), psk.view(), out);
    return out;
}

}  // namespace

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
    const auto& psks = section.keys.psks;
    for (std::size_t i = 0; i < section.clients.size(); ++i) {
        const config::named_client& client = section.clients[i];
        add(client.name, psks.empty() ? client.key : fingerprint(psks[i]), client.rights);
    }
    if (!section.keys.identity && psks.empty() && section.keys.psk)
        add({}, fingerprint(*section.keys.psk), {});
}

const known_client* known_clients::find(const client_key& key) const {
    const auto at = by_key_.find(key);
    return at == by_key_.end() ? nullptr : &all_[at->second];
}

const known_client& known_clients::of(const protocol::server_handshake& done) const {
    return done.client() ? all_[by_key_.at(*done.client())] : all_[done.psk_index()];
}

}  // namespace culvert::relay
