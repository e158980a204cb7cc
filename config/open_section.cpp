#include "config/open_section.hpp"

#include <boost/any.hpp>
#include <utility>

#include "config/heading.hpp"
#include "config/lines.hpp"
#include "config/mark.hpp"
#include "config/nearest.hpp"
#include "config/quote.hpp"
#include "config/reason.hpp"

namespace culvert::config {
namespace {

// Where a key that is unknown here belongs, as in [server.NAME]; empty when nowhere.
std::string home_of(const std::string& key) {
    for (const auto kind : {section_kind::daemon, section_kind::server, section_kind::client}) {
        if (known_keys(kind).has(key)) return to_text(kind, "NAME");
    }
    return {};
}

}  // namespace

open_section::open_section(section_kind kind, const std::string& name, section_place place,
                           settings& into, reading& context)
    : kind_(kind), place_(std::move(place)), context_(context) {
    bind(name, into);
    apply_defaults();
}

open_section::open_section(client_settings& into, section_place place, reading& context)
    : kind_(section_kind::client), place_(std::move(place)), context_(context), client_(&into) {
    add_dial_options(table_, into, context_);
    apply_defaults();
}

void open_section::bind(const std::string& name, settings& into) {
    if (kind_ == section_kind::daemon) {
        daemon_ = &into.daemon;
        add_daemon_options(table_, into.daemon, context_);
    } else if (kind_ == section_kind::server) {
        server_settings& server = into.servers.emplace_back();
        server.name = name;
        server_ = &server;
        add_server_options(table_, server, context_);
    } else {
        client_settings& client = into.clients.emplace_back();
        client.name = name;
        client_ = &client;
        add_client_options(table_, client, context_);
    }
}

void open_section::apply_defaults() const {
    for (const auto& option : table_.options()) {
        boost::any value;
        if (option->semantic()->apply_default(value)) option->semantic()->notify(value);
    }
}

void open_section::take(std::string_view body) {
    const std::size_t equals = body.find('=');
    const std::string key(trim(body.substr(0, equals)));
    if (equals == body.npos) return error(quote(body) + " has no '=': a line is KEY = VALUE");
    if (key.empty()) return error("the key in front of '=' is missing");
    take(key, trim(body.substr(equals + 1)));
}

void open_section::take(const std::string& key, std::string_view value) {
    if (key.empty()) return error("unknown key ''");
    const auto* option = table_.find_nothrow(key, false);
    if (option == nullptr) return unknown_key(key);
    if (!may_stand(key, option->semantic()->is_composing())) return;
    try {
        boost::any parsed;
        // Text goes through as it is: utf8 = true would convert it to the locale's encoding.
        option->semantic()->parse(parsed, {std::string(value)}, false);
        option->semantic()->notify(parsed);
    } catch (const refused& why) {
        place_.refused.insert(key);
        error(key + ": " + why.what());
    }
}

void open_section::unknown_key(const std::string& key) {
    const std::string home = home_of(key);
    if (!home.empty()) {
        return error(quote(key) + " is no key of " + place_.heading + ", it belongs to " + home);
    }
    const std::vector<std::string> known = names_of(table_);
    place_.misspelt.emplace(nearest(key, known));
    error("unknown key " + quote(key) + did_you_mean(key, known));
}

bool open_section::may_stand(const std::string& key, bool repeatable) {
    const auto [first, is_new] = place_.keys.try_emplace(key, context_.line);
    if (is_new || repeatable) return true;
    error(quote(key) + " stands here again" +
          (first->second == 0 ? "" : ", first on line " + std::to_string(first->second)));
    return false;
}

void open_section::finish(std::vector<listen_place>& listens) {
    for (const auto& option : table_.options()) {
        const std::string& key = option->long_name();
        if (!option->semantic()->is_required() || place_.has(key)) continue;
        context_.found.error(place_.line,
                             place_.heading + " lacks " + key + " = " + option->semantic()->name());
    }
    if (server_ != nullptr) check_server(*server_, place_, context_.found);
    if (client_ != nullptr) check_client(*client_, place_, context_.found);
    if (daemon_ != nullptr) {
        check_daemon(*daemon_, place_, context_.found);
        if (daemon_->admin)
            listens.push_back({*daemon_->admin, place_.line_of("admin"), place_.heading, "admin"});
        return;
    }
    credentials& keys = server_ != nullptr ? server_->keys : client_->keys;
    keys.mark = mark_of(keys);
    const endpoint& listen = server_ != nullptr ? server_->listen : client_->listen;
    if (!listen.is_set()) return;  // missing or refused: said already
    listens.push_back({listen, place_.line_of("listen"), place_.heading});
}

}  // namespace culvert::config
