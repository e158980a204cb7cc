#include "config/psk_list.hpp"

#include <memory>

#include "config/client_rights.hpp"
#include "config/key_file.hpp"
#include "config/key_text.hpp"
#include "config/lines.hpp"
#include "config/mark.hpp"

namespace culvert::config {
namespace {

constexpr std::size_t largest_file = 64 * 1024;

struct holder {
    named_client client;
    key psk;
};

result<holder> parse_holder(std::string_view body) {
    const std::string_view name = next_word(body);
    const std::string_view key_text = next_word(body);
    if (key_text.empty()) return reason{"a line is: NAME PSK " + std::string(client_rights_form)};
    // Before anything is said about the name: it may be the psk of a line that was turned round.
    if (parse_secret_key(name)) return reason{"the name is a key: a line is NAME PSK"};
    if (!is_client_name(name)) {
        return reason{"the name is none: letters, digits, '.', '_', '-' and '@' only"};
    }
    result<key> psk = parse_secret_key(key_text);
    if (!psk) return reason{"the psk " + psk.error().text};
    result<client_rights> rights = parse_client_rights(body);
    if (!rights) return rights.error();
    return holder{{std::string(name), mark_of(*psk), std::move(*rights)}, std::move(*psk)};
}

std::string repeats(unsigned line) {
    return " repeats that of line " + std::to_string(line);
}

// What of a further line stands in the list already.
std::string repeated(const psk_list& list, const holder& next) {
    for (std::size_t i = 0; i < list.psks.size(); ++i) {
        const named_client& known = list.holders[i];
        if (known.name == next.client.name) return "the name" + repeats(known.line);
        if (list.psks[i] == next.psk) return "the psk" + repeats(known.line);
    }
    return {};
}

std::string fault_of(const psk_list& list, const result<holder>& next) {
    if (!next) return next.error().text;
    if (list.psks.size() < most_psks) return repeated(list, *next);
    return "more than " + std::to_string(most_psks) +
           " psks: give clients key pairs instead, with identity and clients";
}

}  // namespace

psk_list parse_psk_list(std::string_view text, const std::filesystem::path& file) {
    psk_list list;
    list.psks.reserve(most_psks);
    report mistakes(file.native());
    line_reader reader(text);
    for (text_line line; !mistakes.full() && reader.next(line);) {
        if (!line.fault.empty()) {
            mistakes.error(line.number, std::string(line.fault));
            continue;
        }
        result<holder> next = parse_holder(line.body);
        const std::string fault = fault_of(list, next);
        if (!fault.empty()) {
            mistakes.error(line.number, fault);
            continue;
        }
        next->client.line = line.number;
        list.holders.push_back(std::move(next->client));
        list.psks.push_back(std::move(next->psk));
    }
    list.mistakes = std::move(mistakes).take();
    if (list.holders.empty() && list.mistakes.empty()) {
        list.mistakes.push_back(
            {file.native(), 1, severity::error, "lists no client: add a line NAME PSK for each"});
    }
    return list;
}

result<psk_list> read_psk_list(const std::filesystem::path& file) {
    const auto content = std::make_unique<crypto::secret<largest_file + 1>>();
    const result<std::size_t> size = read_secret_file(file, content->writable());
    if (!size) return size.error();
    const std::string_view text(reinterpret_cast<const char*>(content->view().data()), *size);
    return parse_psk_list(text, file);
}

}  // namespace culvert::config
