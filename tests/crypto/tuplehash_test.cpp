// TupleHash128, TupleHash256 and their XOF forms: published vectors. Everything runs once for each
// kernel.
#include "crypto/tuplehash.hpp"

#include <doctest/doctest.h>

#include <utility>

#include "tests/crypto/testing.hpp"
#include "tests/support/vector_file.hpp"

namespace culvert::tests {
namespace {

using crypto::tuplehash128;
using crypto::tuplehash256;

const auto kernels = runnable(crypto::keccak_kernels());

template <class Tuplehash>
buffer hash(const std::vector<buffer>& elements, bytes_view s, std::size_t size, bool xof,
            const crypto::keccak_kernel& kernel) {
    Tuplehash state(s, kernel);
    for (const buffer& element : elements) state.add(element);
    buffer out(size);
    if (xof) {
        std::move(state).xof().squeeze(out);
    } else {
        std::move(state).finish(out);
    }
    return out;
}

// A sum of strings here makes gcc 12 warn of an overlap that cannot be.
std::string element_name(std::size_t index) {
    std::string name = "e";
    name += std::to_string(index);
    return name;
}

std::vector<buffer> elements_of(const vector_record& record) {
    std::vector<buffer> elements;
    for (std::uint64_t i = 0; i < record.number("elements"); ++i) {
        elements.push_back(record.bytes(element_name(i)));
    }
    CHECK_FALSE(record.has(element_name(elements.size())));
    return elements;
}

void check_record(const vector_record& record, int strength, bool xof) {
    const auto elements = elements_of(record);
    const buffer s = record.bytes("s");
    const buffer right = record.bytes("out");
    for (const auto* kernel : kernels) {
        CAPTURE(std::string(kernel->name));
        CHECK((strength == 128
                   ? hash<tuplehash128>(elements, s, right.size(), xof, *kernel)
                   : hash<tuplehash256>(elements, s, right.size(), xof, *kernel)) == right);
    }
}

void check_named(const char* path, std::size_t count) {
    const auto records = read_vectors(path);
    CHECK(records.size() == count);
    for (const vector_record& record : records) {
        std::string name = record.text("fn");
        for (char& c : name) c = static_cast<char>(std::tolower(c));
        const bool is_128 = name.starts_with("tuplehash128");
        REQUIRE((is_128 || name.starts_with("tuplehash256")));
        check_record(record, is_128 ? 128 : 256, name.ends_with("xof"));
    }
}

void check_acvp(const char* path, int strength, std::size_t count) {
    const auto records = read_vectors(path);
    CHECK(records.size() == count);
    for (const vector_record& record : records) {
        check_record(record, strength, record.number("xof") == 1);
    }
}

}  // namespace

TEST_CASE("NIST's samples and records") {
    check_named("sp800-185/tuplehash_samples.txt", 12);
    check_acvp("acvp/tuplehash128.txt", 128, 200);
    check_acvp("acvp/tuplehash256.txt", 256, 200);
}

TEST_CASE("generated records: no elements, empty ones, ambiguous concatenations") {
    check_named("sp800-185/tuplehash_generated.txt", 22);
}

TEST_CASE("it shows where elements end") {
    const auto of = [](const std::vector<buffer>& elements) {
        return hash<tuplehash256>(elements, {}, 32, false, *kernels.back());
    };
    CHECK(of({text("ab"), text("c")}) != of({text("a"), text("bc")}));
    CHECK(of({text("abc")}) != of({text("abc"), {}}));
    CHECK(of({}) != of({buffer()}));
}

TEST_CASE("a state after some elements can be kept and copied") {
    tuplehash256 kept(text("S"));
    kept.add(text("first"));
    for (const char* second : {"a", "b"}) {
        tuplehash256 state = kept;
        state.add(text(second));
        buffer out(32);
        std::move(state).finish(out);
        CHECK(out == hash<tuplehash256>({text("first"), text(second)}, text("S"), 32, false,
                                        *kernels.back()));
    }
}

}  // namespace culvert::tests
