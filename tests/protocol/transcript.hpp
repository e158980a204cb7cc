// One case of the recorded transcripts, which remembers what has been compared with it.
#pragma once

#include <doctest/doctest.h>
#include <openssl/evp.h>

#include <array>
#include <set>
#include <string>

#include "tests/protocol/parties.hpp"
#include "tests/support/hex.hpp"
#include "tests/support/vector_file.hpp"

namespace culvert::tests {

inline std::string sha256(crypto::bytes_view in) {
    std::array<std::uint8_t, 32> digest{};
    unsigned size = 0;
    REQUIRE(EVP_Digest(in.data(), in.size(), digest.data(), &size, EVP_sha256(), nullptr) == 1);
    return to_hex(digest);
}

class transcript {
  public:
    explicit transcript(vector_record record) : record_(std::move(record)) {}

    // What the protocol produced, against what the file says.
    void expect(const std::string& name, crypto::bytes_view value) {
        expect_text(name, to_hex(value));
    }
    void expect_text(const std::string& name, const std::string& value) {
        INFO("value ", name);
        CHECK(value == record_.text(name));
        compared_.insert(name);
    }

    // What a test starts from: keys, random bytes, plaintexts.
    octets input(const std::string& name) {
        inputs_.insert(name);
        return record_.bytes(name);
    }
    std::uint64_t number(const std::string& name) {
        inputs_.insert(name);
        return record_.number(name);
    }
    std::string text(const std::string& name) {
        inputs_.insert(name);
        return record_.text(name);
    }
    crypto::secret<32> secret(const std::string& name) {
        return crypto::secret<32>(crypto::bytes_view(input(name)).first<32>());
    }
    [[nodiscard]] bool has(const std::string& name) const { return record_.has(name); }

    [[nodiscard]] bool is_static() const { return has("s_c"); }
    [[nodiscard]] bool is_hybrid() const { return record_.text("case").find("hybrid") != npos; }
    [[nodiscard]] bool with_psk() const { return record_.text("case") != "static, no psk"; }
    [[nodiscard]] const std::string& name() const { return record_.text("case"); }

    [[nodiscard]] const std::set<std::string>& compared() const { return compared_; }
    // The names that nobody has asked for.
    [[nodiscard]] std::string untouched() const {
        std::string names;
        for (const auto& [name, value] : record_.fields)
            if (name != "case" && !compared_.contains(name) && !inputs_.contains(name))
                names += name + " ";
        return names;
    }

  private:
    static constexpr auto npos = std::string::npos;

    vector_record record_;
    std::set<std::string> compared_;
    std::set<std::string> inputs_;
};

// The cases that this version speaks; the hybrid ones are left out by name.
inline std::vector<transcript> spoken_cases() {
    std::vector<transcript> cases;
    for (auto& record : read_vectors("culvert1/transcripts.txt"))
        if (transcript one(std::move(record)); !one.is_hybrid()) cases.push_back(std::move(one));
    return cases;
}

}  // namespace culvert::tests
