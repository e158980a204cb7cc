#include "bench/html/svg.hpp"

#include <fmt/format.h>

#include "proxy/observe/printable.hpp"

namespace culvert::load::html {
namespace {

const char* name_of(anchor side) noexcept {
    return side == anchor::start ? "start" : side == anchor::middle ? "middle" : "end";
}

}  // namespace

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : observe::printable(text)) {
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            default:
                out += c;
        }
    }
    return out;
}

std::string text_at(point where, std::string_view text, std::string_view style, anchor side) {
    return fmt::format(
        "<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\" text-anchor=\"{}\">{}</text>\n", where.x,
        where.y, style, name_of(side), escaped(text));
}

std::string rule(point from, point to, std::string_view style) {
    return fmt::format(
        "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>\n", from.x,
        from.y, to.x, to.y, style);
}

std::string path(const std::vector<point>& through, std::string_view style) {
    std::string steps;
    for (const auto& [x, y] : through)
        steps += fmt::format("{}{:.1f} {:.1f}", steps.empty() ? 'M' : 'L', x, y);
    return fmt::format("<path d=\"{}\" class=\"{}\"/>\n", steps, style);
}

}  // namespace culvert::load::html
