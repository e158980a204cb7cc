#include "config/nearest.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "config/quote.hpp"

namespace culvert::config {
namespace {

constexpr std::size_t longest_word = 64;  // the cost grows with the product of the lengths

char lower(char c) noexcept {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool same(char a, char b) noexcept {
    return lower(a) == lower(b);
}

// One letter may be wrong in a short word, a third of them in a longer one.
std::size_t tolerance(std::string_view word) noexcept {
    return std::max<std::size_t>(1, word.size() / 3);
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
    using row = std::vector<std::size_t>;
    row before_last(b.size() + 1);
    row last(b.size() + 1);
    row current(b.size() + 1);
    std::iota(current.begin(), current.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::swap(before_last, last);
        std::swap(last, current);
        current[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = last[j - 1] + (same(a[i - 1], b[j - 1]) ? 0 : 1);
            current[j] = std::min({last[j] + 1, current[j - 1] + 1, replaced});
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1])) {
                current[j] = std::min(current[j], before_last[j - 2] + 1);
            }
        }
    }
    return current[b.size()];
}

std::string_view nearest(std::string_view word, const std::vector<std::string>& known) {
    if (word.empty() || word.size() > longest_word) return {};
    std::string_view best;
    std::size_t least = tolerance(word) + 1;
    for (const std::string& name : known) {
        const std::size_t distance = edit_distance(word, name);
        if (distance < least) {
            least = distance;
            best = name;
        }
    }
    return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
    const std::string_view name = nearest(word, known);
    return name.empty() ? "" : ", did you mean " + quote(name) + "?";
}

}  // namespace culvert::config
