// What a run has found, for people and for programs.
#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "bench/plan.hpp"
#include "bench/tally.hpp"

namespace culvert::load {

// "ok", or "failed: " and the first failure of integrity. "ok" speaks of the bytes that were sent:
// connections that never came about are failures of their own.
[[nodiscard]] std::string integrity_text(const outcome& found);

// Whether everything went well.
[[nodiscard]] bool succeeded(const outcome& found) noexcept;

// Lines, each with its end.
[[nodiscard]] std::string table(const plan& what, const outcome& found);

// One object; times in the unit that their name says.
[[nodiscard]] boost::json::object json(const plan& what, const outcome& found);

}  // namespace culvert::load
