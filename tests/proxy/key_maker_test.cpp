// The stock of ephemeral keys fills by itself, and only when somebody takes of it.
#include "proxy/relay/key_maker.hpp"

#include <doctest/doctest.h>

#include "tests/proxy/loop.hpp"

using namespace culvert::tests;
using culvert::protocol::key_stock;
using culvert::relay::key_maker;

TEST_SUITE("key maker") {
    TEST_CASE("it fills the stock, and again after a few keys were taken") {
        loop world;
        key_maker maker(world.executor());
        key_stock& stock = *maker.stock();
        CHECK(stock.empty());
        REQUIRE(world.until([&] { return stock.full(); }));
        for (int i = 0; i < 4; ++i) static_cast<void>(maker.stock()->take());
        CHECK(stock.size() == key_stock::most - 4);
        static_cast<void>(maker.stock());
        CHECK(world.until([&] { return stock.full(); }));
    }

    TEST_CASE("it may end while it makes keys") {
        loop world;
        {
            key_maker maker(world.executor());
            static_cast<void>(maker.stock());
            world.run_for(3ms);
        }
        world.run_for(5ms);
    }
}
