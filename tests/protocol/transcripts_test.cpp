// Everything that the recorded transcripts hold, made again by this implementation.
#include "tests/protocol/transcript_handshake.hpp"
#include "tests/protocol/transcript_records.hpp"

namespace culvert::tests {
namespace {

std::vector<transcript> compared_cases() {
    auto cases = spoken_cases();
    for (auto& recorded : cases) {
        INFO("case ", recorded.name());
        compare_messages(recorded);
        compare_steps(recorded);
        for (const auto* direction : {"c2s", "s2c"}) {
            compare_records(recorded, direction);
            compare_stream(recorded, direction);
        }
    }
    return cases;
}

TEST_CASE("every value of the classical transcripts comes out again") {
    const auto cases = compared_cases();
    REQUIRE(cases.size() == 3);
    std::size_t compared = 0;
    for (const auto& recorded : cases) {
        INFO("case ", recorded.name());
        CHECK(recorded.untouched() == "");
        compared += recorded.compared().size();
    }
    CHECK(compared == 722);
}

TEST_CASE("only the hybrid transcripts are left out") {
    std::size_t hybrid = 0;
    for (auto& record : read_vectors("culvert1/transcripts.txt"))
        hybrid += transcript(std::move(record)).is_hybrid() ? 1 : 0;
    CHECK(hybrid == 2);
}

}  // namespace
}  // namespace culvert::tests
