#include "config/client_list.hpp"

#include <map>

#include "config/client_rights.hpp"
#include "config/file.hpp"
#include "config/key_text.hpp"
#include "config/lines.hpp"
#include "config/quote.hpp"

namespace culvert::config {
namespace {

result<named_client> parse_client(std::string_view body) {
    const std::string_view name = next_word(body);
    const std::string_view key_text = next_word(body);
    if (key_text.empty()) {
        return reason{"a line is: NAME PUBLIC-KEY " + std::string(client_rights_form)};
    }
    if (!is_client_name(name)) {
        return reason{quote(name) + " is not a name: letters, digits, '.', '_', '-' and '@' only"};
    }
    const result<public_key> key = parse_public_key(key_text);
    if (!key) return reason{"the public key of " + quote(name) + " " + key.error().text};
    result<client_rights> rights = parse_client_rights(body);
    if (!rights) return rights.error();
    return named_client{std::string(name), *key, std::move(*rights)};
}

// Remembers the lines of names and keys; says what stands there twice.
class seen_clients {
  public:
    std::string repeated(const named_client& client, unsigned line) {
        const auto [by_name, new_name] = names_.try_emplace(client.name, line);
        const auto [by_key, new_key] = keys_.try_emplace(client.key, line);
        if (!new_name) return "name " + quote(client.name) + repeats(by_name->second);
        if (!new_key) return "key of " + quote(client.name) + repeats(by_key->second);
        return {};
    }

  private:
    static std::string repeats(unsigned line) { return " repeats line " + std::to_string(line); }

    std::map<std::string, unsigned> names_;
    std::map<public_key, unsigned> keys_;
};

}  // namespace

client_list parse_client_list(std::string_view text, const std::filesystem::path& file) {
    client_list list;
    report mistakes(file.native());
    seen_clients seen;
    line_reader reader(text);
    for (text_line line; !mistakes.full() && reader.next(line);) {
        if (!line.fault.empty()) {
            mistakes.error(line.number, std::string(line.fault));
            continue;
        }
        result<named_client> client = parse_client(line.body);
        const std::string fault =
            client ? seen.repeated(*client, line.number) : client.error().text;
        if (fault.empty()) {
            client->line = line.number;
            list.clients.push_back(std::move(*client));
        } else {
            mistakes.error(line.number, fault);
        }
    }
    list.mistakes = std::move(mistakes).take();
    if (list.clients.empty() && list.mistakes.empty()) {
        list.mistakes.push_back({file.native(), 1, severity::error,
                                 "lists no client: add a line NAME PUBLIC-KEY for each"});
    }
    return list;
}

result<client_list> read_client_list(const std::filesystem::path& file) {
    const result<std::string> text = read_text(file);
    if (!text) return reason{file.native() + ": " + text.error().text};
    return parse_client_list(*text, file);
}

}  // namespace culvert::config
