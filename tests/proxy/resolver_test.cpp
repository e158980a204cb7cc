// Name lookups: nobody is held up, answers are kept and asked for again.
#include "proxy/relay/resolver.hpp"

#include <doctest/doctest.h>

#include <deque>
#include <thread>

#include "tests/proxy/fake_names.hpp"
#include "tests/proxy/loop.hpp"

using namespace culvert::tests;
using culvert::relay::resolved;
using culvert::relay::resolver;
namespace asio = boost::asio;

namespace {

resolver::times keeping(std::chrono::milliseconds fresh, std::chrono::milliseconds patience = 1h,
                        std::chrono::milliseconds failure = 0ms) {
    return {fresh, patience, failure, 16};
}

// What a query came to.
struct question {
    std::optional<resolved> answer;

    [[nodiscard]] std::string text() const {
        if (!answer) return "nothing yet";
        if (answer->ec) return answer->ec.message();
        std::string all;
        for (const auto& one : *answer->addresses) all += one.to_string() + " ";
        return all;
    }
};

struct asker {
    explicit asker(resolver::times limits) : names(service.lookup(), limits) {}

    culvert::carrier::awaitable<void> run(resolver::query& query, question& into) {
        into.answer = co_await query.run();
    }
    question& begin(const std::string& name) {
        question& made = questions.emplace_back();
        queries.push_back(std::make_unique<resolver::query>(world->executor(), names, name));
        world->spawn(run(*queries.back(), made), end);
        return made;
    }
    std::string ask(const std::string& name) {
        const question& one = begin(name);
        world->until([&] { return one.answer.has_value(); });
        return one.text();
    }

    fake_names service;
    resolver names;
    std::deque<question> questions;
    ending end;
    std::optional<loop> world{std::in_place};
    std::vector<std::unique_ptr<resolver::query>> queries;  // need the loop
};

}  // namespace

TEST_SUITE("resolver") {
    TEST_CASE("whoever asks for a name that is being looked up shares the answer") {
        asker a(keeping(1h));
        a.service.answer("host", {"192.0.2.1", "2001:db8::1"});
        a.service.hang("host");
        for (int i = 0; i < 20; ++i) a.begin("host");
        a.world->until([&] { return a.service.inside() == 1; });
        a.world->run_for(20ms);
        CHECK(a.questions[0].text() == "nothing yet");
        a.service.let_go("host");
        for (const question& one : a.questions) {
            a.world->until([&] { return one.answer.has_value(); });
            CHECK(one.text() == "192.0.2.1 2001:db8::1 ");
        }
        CHECK(a.service.calls() == 1);
    }

    TEST_CASE("names that hang hold up nobody") {
        asker a(keeping(1h));
        a.service.answer("good", {"192.0.2.1"});
        for (const std::string name : {"a", "b", "c", "d"}) {
            a.service.hang(name);
            a.begin(name);
        }
        CHECK(a.ask("good") == "192.0.2.1 ");
        CHECK(a.questions[0].text() == "nothing yet");
    }

    TEST_CASE("more names than threads wait for their turn") {
        asker a({1h, 1h, 0ms, 2});
        for (const std::string name : {"a", "b", "c", "d"}) {
            a.service.answer(name, {"192.0.2.1"});
            a.service.hang(name);
            a.begin(name);
        }
        a.world->until([&] { return a.service.inside() == 2; });
        a.world->run_for(20ms);
        CHECK(a.service.calls() == 2);
        for (const std::string name : {"a", "b", "c", "d"}) a.service.let_go(name);
        for (const question& one : a.questions)
            CHECK(a.world->until([&] { return one.text() == "192.0.2.1 "; }));
    }

    TEST_CASE("an answer is kept for its time") {
        asker a(keeping(1h));
        a.service.answer("host", {"192.0.2.1"});
        CHECK(a.ask("host") == "192.0.2.1 ");
        a.service.answer("host", {"192.0.2.2"});
        CHECK(a.ask("host") == "192.0.2.1 ");
        CHECK(a.service.calls() == 1);
    }

    TEST_CASE("an old answer waits for a new one") {
        asker a(keeping(0ms));
        a.service.answer("host", {"192.0.2.1"});
        CHECK(a.ask("host") == "192.0.2.1 ");
        a.service.answer("host", {"192.0.2.2"});
        CHECK(a.ask("host") == "192.0.2.2 ");
        CHECK(a.service.calls() == 2);
    }

    TEST_CASE("from half of its time on the next answer is fetched, and nobody waits") {
        asker a(keeping(4s));
        a.service.answer("host", {"192.0.2.1"});
        CHECK(a.ask("host") == "192.0.2.1 ");
        a.world->run_for(2s);
        a.service.answer("host", {"192.0.2.2"});
        a.service.hang("host");
        CHECK(a.ask("host") == "192.0.2.1 ");
        CHECK(a.world->until([&] { return a.service.calls() == 2; }));
        a.service.let_go("host");
        CHECK(a.world->until([&] { return a.ask("host") == "192.0.2.2 "; }));
        CHECK(a.service.calls() == 2);
    }

    TEST_CASE("a failure: the last good answer goes on to be used, then the new one") {
        asker a(keeping(0ms));
        a.service.fail("host");
        CHECK(a.ask("host").starts_with("Host not found"));
        a.service.answer("host", {"192.0.2.1"});
        CHECK(a.ask("host") == "192.0.2.1 ");
        a.service.fail("host");
        for (int i = 0; i < 3; ++i) CHECK(a.ask("host") == "192.0.2.1 ");
        a.service.answer("host", {"192.0.2.2"});
        CHECK(a.ask("host") == "192.0.2.2 ");
    }

    TEST_CASE("a failure is not asked about again at once, but soon") {
        asker a(keeping(0ms, 1h, 1h));
        a.service.fail("host");
        for (int i = 0; i < 3; ++i) CHECK(a.ask("host").starts_with("Host not found"));
        CHECK(a.service.calls() == 1);

        asker b(keeping(0ms, 1h, 50ms));
        b.service.fail("host");
        CHECK(b.ask("host").starts_with("Host not found"));
        b.service.answer("host", {"192.0.2.1"});
        CHECK(b.world->until([&] { return b.ask("host") == "192.0.2.1 "; }));
    }

    TEST_CASE("a lookup that hangs: the last good answer after a while, then at once") {
        asker a(keeping(0ms, 500ms));
        a.service.answer("host", {"192.0.2.1"});
        CHECK(a.ask("host") == "192.0.2.1 ");
        a.service.hang("host");
        const question& first = a.begin("host");
        a.world->run_for(100ms);
        CHECK(first.text() == "nothing yet");
        CHECK(a.world->until([&] { return first.answer.has_value(); }));
        CHECK(first.text() == "192.0.2.1 ");
        // By now nobody has to wait: the loop does not even turn.
        const question& second = a.begin("host");
        CHECK(a.world->until([&] { return second.answer.has_value(); }, 400ms));
        CHECK(second.text() == "192.0.2.1 ");
        CHECK(a.service.calls() == 2);
    }

    TEST_CASE("one who gives up leaves the others waiting") {
        asker a(keeping(1h));
        a.service.answer("host", {"192.0.2.1"});
        a.service.hang("host");
        const question& one = a.begin("host");
        const question& other = a.begin("host");
        a.world->until([&] { return a.service.inside() == 1; });
        a.queries[0]->cancel();
        CHECK(a.world->until([&] { return one.answer.has_value(); }));
        CHECK(one.answer->ec == asio::error::operation_aborted);
        CHECK(other.text() == "nothing yet");
        a.service.let_go("host");
        CHECK(a.world->until([&] { return other.text() == "192.0.2.1 "; }));
    }

    TEST_CASE("a lookup may end after the loop that waited for it, and after the resolver") {
        for (const bool resolver_too : {false, true}) {
            fake_names service;
            service.hang("host");
            {
                std::optional<resolver> names(std::in_place, service.lookup(), keeping(1h));
                question unanswered;
                ending end;
                {
                    loop world;
                    auto query =
                        std::make_shared<resolver::query>(world.executor(), *names, "host");
                    const auto run = [](std::shared_ptr<resolver::query> of,
                                        question& into) -> culvert::carrier::awaitable<void> {
                        into.answer = co_await of->run();
                    };
                    world.spawn(run(std::move(query), unanswered), end);
                    world.until([&] { return service.inside() == 1; });
                }
                CHECK_FALSE(unanswered.answer);
                if (!resolver_too) service.let_go("host");
            }
            service.let_go("host");
        }
    }

    TEST_CASE("loops come and go while lookups end") {
        fake_names service;
        service.answer("host", {"192.0.2.1"});
        resolver names(service.lookup(), keeping(0ms));
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; ++i)
            threads.emplace_back([&] {
                for (int round = 0; round < 200; ++round) {
                    question one;
                    ending end;
                    loop world;
                    const auto run = [](std::shared_ptr<resolver::query> of,
                                        question& into) -> culvert::carrier::awaitable<void> {
                        into.answer = co_await of->run();
                    };
                    world.spawn(
                        run(std::make_shared<resolver::query>(world.executor(), names, "host"),
                            one),
                        end);
                    if (round % 2 == 0) world.until([&] { return one.answer.has_value(); });
                    if (round % 2 == 1) world.run_for(0ms);
                }
            });
        for (auto& thread : threads) thread.join();
        CHECK(service.calls() > 0);
    }

    TEST_CASE("the system's own lookup") {
        const resolved known = culvert::relay::look_up("localhost");
        REQUIRE_FALSE(known.ec);
        for (const auto& address : *known.addresses) CHECK(address.is_loopback());
        CHECK(culvert::relay::look_up("no-such-host.invalid").ec);
    }
}
