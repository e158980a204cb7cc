// A plot of lines as SVG, styled by the page that it stands in.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/html/axis.hpp"
#include "bench/html/svg.hpp"

namespace culvert::load::html {

// Colours of the style sheet: the classes s0, s1 … of lines, and their keys.
inline constexpr std::size_t colours = 8;

struct curve {
    std::string name;
    std::vector<point> points;  // values, not places
    std::size_t colour = 0;
};

struct plot {
    std::string title;
    std::string about;  // a sentence: what is to be seen
    std::string x_unit;
    std::string y_unit;
    axis x;
    axis y;
    std::vector<curve> curves;
    std::optional<extent> counted;  // on the x axis: what lies outside is dimmed
    bool filled = false;            // down to the axis
};

// Where the axes of every plot lie.
inline constexpr extent across{66, 526};
inline constexpr extent upwards{232, 34};

// A figure: title, key when there is more than one line, drawing.
std::string draw(const plot& what);

// The corners of steps: `values[i]` from `edges[i]` to `edges[i + 1]`.
std::vector<point> steps(const std::vector<double>& edges, const std::vector<double>& values);

}  // namespace culvert::load::html
