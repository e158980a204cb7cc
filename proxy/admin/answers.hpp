// What is answered to which path: proxy/observe/STATUS.md.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "proxy/observe/status.hpp"

namespace culvert::admin {

// A file of the status page, which the build puts into the program: see embed.cmake.
struct asset {
    std::string_view path;  // "/app.js"; that of index.html is "/"
    std::string_view type;
    std::string_view content;
};
[[nodiscard]] std::span<const asset> assets() noexcept;

struct answer {
    unsigned status = 200;
    std::string_view type = "text/plain; charset=utf-8";
    std::string body;
};

// `now` is called for the paths that need it.
[[nodiscard]] answer answer_to(std::string_view target,
                               const std::function<observe::status()>& now);

}  // namespace culvert::admin
