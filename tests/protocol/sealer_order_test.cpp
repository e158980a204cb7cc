// Sending records in a forbidden order is a programming error: the assertion ends the process.
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "tests/protocol/wire.hpp"

namespace culvert::tests {
namespace {

using namespace protocol;

struct step {
    record_type type;
    std::size_t length;
};
using steps = std::vector<step>;

void send_all(role sends, const steps& records) {
    sealer out(traffic(), sends, {});
    for (const auto& [type, length] : records) sealed(out, type, octets(length));
}

// Whether sending these records aborts, tried in a child that says nothing.
bool aborts(role sends, const steps& records) {
    const pid_t child = fork();
    if (child == 0) {
        const rlimit no_core{0, 0};
        setrlimit(RLIMIT_CORE, &no_core);
        std::signal(SIGABRT, SIG_DFL);
        close(STDERR_FILENO);
        send_all(sends, records);
        _exit(0);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

constexpr step open{record_type::open, 3};
constexpr step data{record_type::data, 1};
constexpr step end{record_type::end, 0};
constexpr step pad{record_type::pad, 0};
constexpr step alert{record_type::alert, 1};

TEST_CASE("what may be sent") {
    CHECK_FALSE(aborts(role::client, {pad, open, data, pad, data, end, pad, alert}));
    CHECK_FALSE(aborts(role::client, {{record_type::pad, 255}, alert}));
    CHECK_FALSE(aborts(role::client, {{record_type::open, 255}, {record_type::pad, 65'536}}));
    CHECK_FALSE(aborts(role::server, {{record_type::pad, 65'536}, data, end, pad, alert}));
    CHECK_FALSE(aborts(role::server, {{record_type::data, 65'536}}));
}

#ifndef NDEBUG
TEST_CASE("what may not be sent") {
    CHECK(aborts(role::client, {data}));
    CHECK(aborts(role::client, {end}));
    CHECK(aborts(role::client, {open, open}));
    CHECK(aborts(role::client, {{record_type::open, 256}}));
    CHECK(aborts(role::client, {{record_type::pad, 256}}));  // the server would refuse it
    CHECK(aborts(role::server, {open}));
    for (const role sends : {role::client, role::server}) {
        const steps ready = sends == role::client ? steps{open} : steps{};
        const auto after = [&](const steps& rest) {
            steps all = ready;
            all.insert(all.end(), rest.begin(), rest.end());
            return aborts(sends, all);
        };
        CHECK_FALSE(after({data, end}));
        CHECK(after({end, data}));
        CHECK(after({end, end}));
        CHECK(after({alert, pad}));
        CHECK(after({{record_type::data, 0}}));
        CHECK(after({{record_type::data, 65'537}}));
        CHECK(after({{record_type::pad, 65'537}}));
        CHECK(after({{record_type::end, 1}}));
        CHECK(after({{record_type::alert, 0}}));
        CHECK(after({{record_type::alert, 2}}));
    }
}
#endif

}  // namespace
}  // namespace culvert::tests
