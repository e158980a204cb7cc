#include "proxy/relay/client_ledger.hpp"

namespace culvert::relay {

std::shared_ptr<client_account> client_ledger::account_of(const std::string& name) {
    const std::scoped_lock lock(mutex_);
    std::weak_ptr<client_account>& known = accounts_[name];
    std::shared_ptr<client_account> account = known.lock();
    if (!account) known = account = std::make_shared<client_account>();
    return account;
}

void client_ledger::forget_the_gone() {
    const std::scoped_lock lock(mutex_);
    std::erase_if(accounts_, [](const auto& entry) { return entry.second.expired(); });
}

}  // namespace culvert::relay
