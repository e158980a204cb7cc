// The known name that a misspelt one was probably meant to be.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace culvert::config {

// Letters to insert, remove, replace or swap with their neighbour; case does not count.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The known name with the smallest distance; empty when all are too far away to be worth naming.
std::string_view nearest(std::string_view word, const std::vector<std::string>& known);

// ", did you mean 'listen'?" or nothing: the end of a message about an unknown word.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace culvert::config
