#include "bench/html/plot.hpp"

#include <fmt/format.h>

namespace culvert::load::html {
namespace {

constexpr double width = 560;
constexpr double height = 280;

std::string grid(const plot& what) {
    std::string out;
    for (const auto& [place, name] : what.y.ticks())
        out += rule({across.from, place}, {across.to, place}, "grid") +
               text_at({across.from - 8, place + 4}, name, "tick-y", anchor::end);
    for (const auto& [place, name] : what.x.ticks())
        out += rule({place, upwards.from}, {place, upwards.from + 5}, "grid") +
               text_at({place, upwards.from + 20}, name, "tick-x", anchor::middle);
    return out + text_at({across.from - 8, 18}, what.y_unit, "unit", anchor::start) +
           text_at({across.to, height - 8}, what.x_unit, "unit", anchor::end);
}

std::string outside(double from, double to) {
    if (to - from < 0.5) return {};
    return fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" class=\"outside\"/>\n",
        from, upwards.to, to - from, upwards.from - upwards.to);
}

std::string drawn(const curve& one, const plot& what) {
    std::vector<point> places;
    for (const auto& [x, y] : one.points) places.push_back({what.x(x), what.y(y)});
    if (places.empty()) return {};
    std::string out;
    if (what.filled) {
        std::vector<point> area = places;
        area.push_back({places.back().x, upwards.from});
        area.push_back({places.front().x, upwards.from});
        out = path(area, fmt::format("area s{}", one.colour));
    }
    return out + path(places, fmt::format("line s{}", one.colour));
}

std::string key(const plot& what) {
    if (what.curves.size() < 2) return {};
    std::string out = "<ul class=\"key\">\n";
    for (const curve& one : what.curves)
        out += fmt::format("<li class=\"s{}\">{}</li>\n", one.colour, escaped(one.name));
    return out + "</ul>\n";
}

}  // namespace

std::string draw(const plot& what) {
    std::string out = fmt::format(
        "<figure>\n<figcaption><strong>{}</strong> {}</figcaption>\n{}"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" role=\"img\" "
        "aria-label=\"{}: {}\">\n",
        escaped(what.title), escaped(what.about), key(what), width, height, escaped(what.title),
        escaped(what.about));
    out += grid(what);
    for (const curve& one : what.curves) out += drawn(one, what);
    if (what.counted)
        out += outside(across.from, what.x(what.counted->from)) +
               outside(what.x(what.counted->to), across.to);
    return out + "</svg>\n</figure>\n";
}

std::vector<point> steps(const std::vector<double>& edges, const std::vector<double>& values) {
    std::vector<point> out;
    for (std::size_t i = 0; i < values.size(); ++i) {
        out.push_back({edges[i], values[i]});
        out.push_back({edges[i + 1], values[i]});
    }
    return out;
}

}  // namespace culvert::load::html
