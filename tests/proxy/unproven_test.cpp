// The caps on connections that have not shown a key.
#include "proxy/relay/unproven.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace culvert::relay;
using namespace std::chrono_literals;

namespace {

using address = std::array<std::uint8_t, 16>;

address v4(std::uint8_t last) {
    return {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, last};
}

address v6(std::uint8_t network, std::uint8_t host) {
    return {0x20, 1, 0xd, 0xb8, 0, 0, 0, network, 0, 0, 0, 0, 0, 0, 0, host};
}

struct registry {
    explicit registry(unproven_caps caps) : caps_(std::make_shared<unproven_registry>(caps)) {}

    void enter(const std::string& name, const address& from, bool capped = true) {
        tickets.push_back(
            caps_->enter(group_of(from), capped, now, [this, name] { evicted += name; }));
        now += 1ms;
    }
    std::size_t sweep(std::chrono::milliseconds later = 2s) {
        now += later;
        return caps_->sweep(now);
    }
    void set_caps(std::size_t all, std::size_t per_group) { caps_->set_caps(all, per_group); }
    [[nodiscard]] std::size_t size() const { return caps_->size(); }

    culvert::carrier::time_point now = culvert::carrier::clock::now();
    std::string evicted;  // their names, in order
    std::vector<unproven_registry::ticket> tickets;

  private:
    std::shared_ptr<unproven_registry> caps_;
};

}  // namespace

TEST_SUITE("unproven connections") {
    TEST_CASE("a group is an IPv4 address, or the first 64 bits of an IPv6 address") {
        CHECK(group_of(v4(1)) == group_of(v4(1)));
        CHECK(group_of(v4(1)) != group_of(v4(2)));
        CHECK(group_of(v6(1, 1)) == group_of(v6(1, 200)));
        CHECK(group_of(v6(1, 1)) != group_of(v6(2, 1)));
        CHECK(group_of(address{}) != group_of(v4(0)));
    }

    TEST_CASE("nobody is counted before two seconds") {
        registry r({100, 1, 2s});
        for (int i = 0; i < 50; ++i) r.enter("x", v4(1));
        CHECK(r.sweep(1'900ms) == 0);
        CHECK(r.sweep(200ms) == 49);
        CHECK(r.evicted.size() == 49);
    }

    TEST_CASE("over the cap of its group, the group's oldest goes") {
        registry r({100, 2, 2s});
        r.enter("a", v4(1));
        r.enter("b", v4(2));
        r.enter("c", v4(1));
        r.enter("d", v4(1));
        r.enter("e", v4(1));
        CHECK(r.sweep() == 2);
        CHECK(r.evicted == "ac");
        CHECK(r.size() == 5);  // until they have left
        CHECK(r.sweep() == 0);
    }

    TEST_CASE("over the cap of all, the oldest of all goes, whatever its group") {
        registry r({3, 2, 2s});
        r.enter("a", v6(1, 1));
        r.enter("b", v4(1));
        r.enter("c", v4(2), false);
        r.enter("d", v6(1, 9));
        r.enter("e", v4(3));
        CHECK(r.sweep() == 2);
        CHECK(r.evicted == "ab");
    }

    TEST_CASE("the caps can be changed: those who come after count by them") {
        registry r({3, 100, 2s});
        r.set_caps(2, 100);
        for (const char* name : {"a", "b", "c"}) r.enter(name, v4(1));
        CHECK(r.sweep() == 1);
        CHECK(r.evicted == "a");
        r.set_caps(100, 3);
        for (const char* name : {"d", "e"}) r.enter(name, v4(1));
        CHECK(r.sweep() == 1);
        CHECK(r.evicted == "ab");
    }

    TEST_CASE("those of listed proxies have no cap of their group") {
        registry r({100, 1, 2s});
        r.enter("a", v4(1), false);
        r.enter("b", v4(1), false);
        r.enter("c", v4(2));
        CHECK(r.sweep() == 0);
    }

    TEST_CASE("and do not count against their neighbours in a /64") {
        registry r({100, 1, 2s});
        r.enter("a", v6(1, 1), false);
        r.enter("b", v6(1, 1), false);
        r.enter("c", v6(1, 2));
        CHECK(r.sweep() == 0);
        r.enter("d", v6(1, 3));
        CHECK(r.sweep() == 1);
        CHECK(r.evicted == "c");
    }

    TEST_CASE("who leaves makes room, counted or not") {
        registry r({100, 2, 2s});
        r.enter("a", v4(1));
        r.enter("b", v4(1));
        CHECK(r.sweep() == 0);
        r.tickets[0].leave();
        r.tickets[0].leave();
        CHECK(r.size() == 1);
        r.enter("c", v4(1));
        CHECK(r.sweep() == 0);
        r.tickets.clear();
        CHECK(r.size() == 0);
        CHECK(r.evicted.empty());
    }

    TEST_CASE("an evicted one that leaves is not counted twice") {
        registry r({1, 1, 2s});
        for (int round = 0; round < 5; ++round) {
            r.enter("x", v4(1));
            r.sweep();
        }
        CHECK(r.evicted.size() == 4);
        r.tickets.erase(r.tickets.begin(), r.tickets.begin() + 4);
        CHECK(r.size() == 1);
        r.enter("y", v4(1));
        CHECK(r.sweep() == 1);
        CHECK(r.evicted == "xxxxx");
    }

    TEST_CASE("the last ticket may outlive everybody else") {
        auto caps = std::make_shared<unproven_registry>(unproven_caps{});
        auto ticket = caps->enter(group_of(v4(1)), true, culvert::carrier::clock::now(), [] {});
        const std::weak_ptr<unproven_registry> seen = caps;
        caps.reset();
        CHECK_FALSE(seen.expired());
        ticket.leave();
        CHECK(seen.expired());
    }

    TEST_CASE("a ticket that is moved, or assigned over, leaves once") {
        registry r({100, 100, 2s});
        r.enter("a", v4(1));
        r.enter("b", v4(2));
        unproven_registry::ticket moved = std::move(r.tickets[0]);
        CHECK(r.size() == 2);
        moved = std::move(r.tickets[1]);
        CHECK(r.size() == 1);
        moved = unproven_registry::ticket();
        CHECK(r.size() == 0);
    }
}
