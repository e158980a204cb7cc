// What a run has found, for people and for programs.
#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "bench/outcome.hpp"
#include "bench/plan.hpp"

namespace culvert::load {

// "ok", or "failed: " and the first failure of integrity. "ok" speaks of the bytes that were sent:
// connections that never came about are failures of their own.
[[nodiscard]] std::string integrity_text(const outcome& found);

// Whether everything went well.
[[nodiscard]] bool succeeded(const outcome& found) noexcept;

// Lines, each with its end.
[[nodiscard]] std::string table(const plan& what, const outcome& found);

// One object; times in the unit that their name says. All that an HTML report needs is in it.
[[nodiscard]] boost::json::object json(const plan& what, const outcome& found);

}  // namespace culvert::load
