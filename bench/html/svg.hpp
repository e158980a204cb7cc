// Text fit for HTML and XML, and the few elements that plots are made of.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace culvert::load::html {

// Any text, made printable and with what is markup escaped: for contents and for attributes in
// double quotes.
std::string escaped(std::string_view text);

struct point {
    double x;
    double y;
};

enum class anchor { start, middle, end };

// In units of the drawing, whose y grows downwards. `style` is a class of the page's style sheet.
std::string text_at(point where, std::string_view text, std::string_view style, anchor side);
std::string rule(point from, point to, std::string_view style);
std::string path(const std::vector<point>& through, std::string_view style);

}  // namespace culvert::load::html
