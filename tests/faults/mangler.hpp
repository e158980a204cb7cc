// What a path does to the bytes of one direction: a function over pieces, without I/O.
#pragma once

#include <array>
#include <cstddef>

#include "crypto/bytes.hpp"
#include "tests/faults/script.hpp"

namespace culvert::faults {

using crypto::bytes_view;

class mangler {
  public:
    explicit mangler(path_script plan) : plan_(std::move(plan)) {}

    // Appends to `out` what is to be passed on of the next bytes. True when the path comes to its
    // end with them: what was behind that place, and all that comes later, is swallowed.
    bool feed(bytes_view next, std::vector<std::uint8_t>& out);

    // The first half of a swap waits for the second. When there will be none, it goes on unchanged.
    [[nodiscard]] bool holding() const noexcept { return !held_.empty(); }
    void release(std::vector<std::uint8_t>& out);

    // Whether the path has come to its end.
    [[nodiscard]] bool ended() const noexcept { return ended_; }
    // Whether any byte was changed, lost or put elsewhere by an edit.
    [[nodiscard]] bool edited() const noexcept;
    [[nodiscard]] bool edited_by(edit_kind kind) const noexcept {
        return done_[static_cast<std::size_t>(kind)];
    }

  private:
    void pass(bytes_view next, std::vector<std::uint8_t>& out);
    void change(const edit& by, bytes_view part, std::vector<std::uint8_t>& out);
    void complete(const edit& by, std::vector<std::uint8_t>& out);

    path_script plan_;
    std::uint64_t at_ = 0;     // bytes that have come
    std::size_t current_ = 0;  // edit that is next, or under way
    std::vector<std::uint8_t> held_;
    std::array<bool, 4> done_{};
    bool ended_ = false;
};

}  // namespace culvert::faults
