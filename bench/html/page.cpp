#include "bench/html/page.hpp"

#include <fmt/format.h>

#include "bench/html/figures.hpp"
#include "bench/html/plots.hpp"

namespace culvert::load::html {
namespace {

std::string title_of(const std::vector<record>& runs) {
    if (runs.size() == 1) return fmt::format("culvert-load {}", runs.front().mode);
    std::string names;
    for (const record& run : runs) names += (names.empty() ? "" : " · ") + run.name;
    return "culvert-load: " + names;
}

std::string head(const std::vector<record>& runs) {
    return fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
        "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
        "<title>{}</title>\n<style>\n{}</style>\n</head>\n",
        escaped(title_of(runs)), style);
}

std::string section(const char* title, const std::string& content) {
    if (content.empty()) return {};
    return fmt::format("<section>\n<h2>{}</h2>\n{}</section>\n", title, content);
}

std::string plots(const std::string& figures) {
    return figures.empty() ? figures : "<div class=\"plots\">\n" + figures + "</div>\n";
}

}  // namespace

std::string page(const std::vector<record>& runs) {
    const bool one = runs.size() == 1;
    std::string body = fmt::format(
        "<body>\n<main>\n<header>\n<h1>{}</h1>\n<p>{}</p>\n</header>\n", escaped(title_of(runs)),
        one ? escaped(runs.front().started)
            : fmt::format("{} runs; ratios are to <strong>{}</strong>, the first", runs.size(),
                          escaped(runs.front().name)));
    if (one) body += headline(runs.front());
    body += section("Over time", plots(plots_over_time(runs)));
    body += section("Latency", plots(plots_of_latency(runs)));
    body += section("Figures", figures_table(runs));
    body += errors_table(runs);
    body += section(one ? "The run" : "The runs", setup_table(runs));
    return head(runs) + body + "</main>\n</body>\n</html>\n";
}

}  // namespace culvert::load::html
