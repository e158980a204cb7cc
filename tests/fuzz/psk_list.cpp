// Lists of psks: what is taken has lawful names and keys, none of them twice, and reads the same
// when it is written down again. What is refused is told without a key.
#include "config/psk_list.hpp"

#include <set>

#include "config/key_text.hpp"
#include "tests/fuzz/diagnostics.hpp"
#include "tests/fuzz/rights.hpp"

namespace culvert::fuzz {
namespace {

std::string text_of(const config::key& psk) {
    const auto hex = config::to_hex(psk);
    return {hex.view().begin(), hex.view().end()};
}

std::string print(const config::psk_list& list) {
    std::string out;
    for (std::size_t i = 0; i < list.psks.size(); ++i)
        out += list.holders[i].name + "\t" + text_of(list.psks[i]) +
               fuzz::print(list.holders[i].rights) + "\r\n";
    return out;
}

// No word of the file that is a key is told of, wherever it stands.
void check_shows_no_key(const std::vector<config::diagnostic>& said, std::string_view text) {
    static constexpr std::string_view blanks = " \t\r\n";
    while (!text.empty()) {
        const std::string_view word = text.substr(0, text.find_first_of(blanks));
        text.remove_prefix(std::min(text.size(), word.size() + 1));
        if (!config::parse_secret_key(word)) continue;
        for (const auto& d : said) require(d.text.find(word) == std::string::npos);
    }
}

void run(const std::string& text) {
    const config::psk_list list = config::parse_psk_list(text, "psks");
    check_diagnostics(list.mistakes, text, "psks");
    check_shows_no_key(list.mistakes, text);
    require(!list.holders.empty() || !list.mistakes.empty());
    require(list.holders.size() == list.psks.size() && list.psks.size() <= config::most_psks);

    std::set<std::string> names;
    std::set<std::string> keys;
    for (std::size_t i = 0; i < list.psks.size(); ++i) {
        check_name(list.holders[i].name);
        require(names.insert(list.holders[i].name).second);
        require(!list.psks[i].is_zero() && keys.insert(text_of(list.psks[i])).second);
    }
    if (list.psks.empty()) return;
    const std::string printed = print(list);
    const config::psk_list again = config::parse_psk_list(printed, "psks");
    require(again.mistakes.empty() && print(again) == printed);
}

}  // namespace
}  // namespace culvert::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    culvert::fuzz::run(culvert::fuzz::input(data, size).rest_as_text());
    return 0;
}
