// One at a time, in order, and a cancelled one disturbs nobody.
#include "bench/turn.hpp"

#include <doctest/doctest.h>

#include <boost/asio/experimental/awaitable_operators.hpp>

#include "tests/proxy/loop.hpp"

using namespace culvert::tests;
using culvert::carrier::awaitable;
using culvert::load::turn;

namespace {

awaitable<void> sleep(loop& world, std::chrono::milliseconds time) {
    culvert::carrier::timer pause(world.executor(), time);
    co_await pause.async_wait(culvert::carrier::use_awaitable);
}

awaitable<void> work(loop& world, turn& t, std::string& log, char name,
                     std::chrono::milliseconds time) {
    const turn::holder held = co_await t.take();
    log += name;
    co_await sleep(world, time);
    log += static_cast<char>(name - 'a' + 'A');
}

awaitable<void> fail_after(loop& world, std::chrono::milliseconds time) {
    co_await sleep(world, time);
    throw std::runtime_error("enough");
}

// Fails, which cancels the work beside it.
awaitable<void> work_and_fail(loop& world, turn& t, std::string& log, char name) {
    using namespace boost::asio::experimental::awaitable_operators;
    auto working = work(world, t, log, name, 10s);
    auto failing = fail_after(world, 10ms);
    co_await (std::move(working) && std::move(failing));
}

}  // namespace

TEST_SUITE("bench.turn") {
    TEST_CASE("one at a time, in the order of asking") {
        loop world;
        turn t(world.executor());
        std::string log;
        std::array<ending, 4> ends;
        for (std::size_t i = 0; i < ends.size(); ++i)
            world.spawn(work(world, t, log, static_cast<char>('a' + i), 2ms), ends[i]);
        REQUIRE(world.until([&] { return ends[3].done; }));
        CHECK(log == "aAbBcCdD");
        CHECK_FALSE(t.taken());
    }

    TEST_CASE("a holder that is cancelled gives its turn on") {
        loop world;
        turn t(world.executor());
        std::string log;
        ending first, second;
        world.spawn(work_and_fail(world, t, log, 'a'), first);
        world.spawn(work(world, t, log, 'b', 1ms), second);
        REQUIRE(world.until([&] { return first.done && second.done; }));
        CHECK_FALSE(first.clean());
        CHECK(log == "abB");
        CHECK_FALSE(t.taken());
    }

    TEST_CASE("a waiter that is cancelled takes no turn, and keeps none from others") {
        loop world;
        turn t(world.executor());
        std::string log;
        ending first, second, third;
        world.spawn(work(world, t, log, 'a', 50ms), first);
        world.spawn(work_and_fail(world, t, log, 'b'), second);
        world.spawn(work(world, t, log, 'c', 1ms), third);
        REQUIRE(world.until([&] { return first.done && second.done && third.done; }));
        CHECK(log == "aAcC");
        CHECK_FALSE(t.taken());
    }
}
