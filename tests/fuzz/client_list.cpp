// Lists of clients: what is taken has lawful names and keys, none of them twice, and reads the same
// when it is written down again.
#include "config/client_list.hpp"

#include <set>

#include "config/key_text.hpp"
#include "tests/fuzz/diagnostics.hpp"
#include "tests/fuzz/rights.hpp"

namespace culvert::fuzz {
namespace {

std::string print(const config::client_list& list) {
    std::string out;
    for (const auto& client : list.clients) {
        const auto hex = config::to_hex(config::key(client.key));
        out.append(client.name).append("\t");
        out.append(hex.view().begin(), hex.view().end());
        out.append(fuzz::print(client.rights)).append("\r\n");
    }
    return out;
}

void run(const std::string& text) {
    const config::client_list list = config::parse_client_list(text, "clients");
    check_diagnostics(list.mistakes, text, "clients");
    require(!list.clients.empty() || !list.mistakes.empty());

    std::set<std::string> names;
    std::set<config::public_key> keys;
    for (const auto& client : list.clients) {
        check_name(client.name);
        require(names.insert(client.name).second);
        require(client.key != config::public_key{} && keys.insert(client.key).second);
    }
    if (list.clients.empty()) return;
    const std::string printed = print(list);
    const config::client_list again = config::parse_client_list(printed, "clients");
    require(again.mistakes.empty() && print(again) == printed);
}

}  // namespace
}  // namespace culvert::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    culvert::fuzz::run(culvert::fuzz::input(data, size).rest_as_text());
    return 0;
}
