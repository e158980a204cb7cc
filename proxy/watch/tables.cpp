#include "proxy/watch/tables.hpp"

namespace culvert::watch {
namespace {

// The columns of sessions and bytes.
std::vector<std::string> moved(const traffic& now, const traffic* before, const rates* since) {
    if (since == nullptr)
        return {count_text(now.sessions), count_text(now.sessions_total),
                size_text(static_cast<double>(now.to_tunnel)),
                size_text(static_cast<double>(now.from_tunnel))};
    const auto [to_tunnel, from_tunnel] = since->of(before, now);
    return {count_text(now.sessions), count_text(now.sessions_total), rate_text(to_tunnel),
            rate_text(from_tunnel)};
}

std::vector<std::string> row(std::string name, std::vector<std::string> middle, std::string last) {
    middle.insert(middle.begin(), std::move(name));
    middle.push_back(std::move(last));
    return middle;
}

const reading* before(const rates* since) noexcept {
    return since == nullptr ? nullptr : since->before();
}

void add_server(table& to, const server_reading& server, const rates* since) {
    const reading* const old = before(since);
    const server_reading* const was = old == nullptr ? nullptr : find(old->servers, server.name);
    to.add(row(server.name, moved(server, was, since), server.listen + " " + server.carrier));
    for (std::size_t i = 0; i < server.services.size(); ++i) {
        const service_reading& service = server.services[i];
        to.add(
            row("  " + service.name,
                moved(service, was == nullptr ? nullptr : find(was->services, service.name), since),
                service.targets + (i == 0 ? " (default)" : "")));
    }
}

void add_client(table& to, const client_reading& client, const rates* since) {
    const reading* const old = before(since);
    const std::string pool = client.pool_size == 0 ? ""
                                                   : ", " + count_text(client.pool_ready) + " of " +
                                                         count_text(client.pool_size) + " ready";
    to.add(row(client.name,
               moved(client, old == nullptr ? nullptr : find(old->clients, client.name), since),
               client.listen + " to " + (client.service.empty() ? "default" : client.service) +
                   " at " + client.connect + pool));
}

}  // namespace

table section_table(const reading& now, const rates* since) {
    table out({"SECTION", ">SESSIONS", ">EVER", ">TO TUNNEL", ">FROM TUNNEL", "WHERE"});
    for (const auto& server : now.servers) add_server(out, server, since);
    for (const auto& client : now.clients) add_client(out, client, since);
    return out;
}

table user_table(const reading& now, const rates* since) {
    table out({"CLIENT", ">SESSIONS", ">EVER", ">TO IT", ">FROM IT"});
    const reading* const old = before(since);
    for (const auto& user : now.users) {
        auto columns = moved(user, old == nullptr ? nullptr : find(old->users, user.name), since);
        columns.insert(columns.begin(), user.name);
        out.add(std::move(columns));
    }
    return out;
}

table failure_table(const reading& now, const rates* since) {
    if (since == nullptr) {
        table out({"ERROR", ">TIMES", "SECTION"});
        for (const auto& one : now.failures)
            out.add({one.reason, count_text(one.count), one.section});
        return out;
    }
    table out({"ERROR", ">NOW", ">TIMES", "SECTION"});
    const reading* const old = before(since);
    for (const auto& one : now.failures) {
        std::uint64_t had = old == nullptr ? one.count : 0;
        if (old != nullptr)
            for (const auto& other : old->failures)
                if (other.reason == one.reason && other.section == one.section) had = other.count;
        const bool more = one.count > had;
        out.add({one.reason, more ? "+" + count_text(one.count - had) : "", count_text(one.count),
                 one.section});
    }
    return out;
}

}  // namespace culvert::watch
