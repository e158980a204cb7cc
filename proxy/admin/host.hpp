// Whom a browser takes us for.
#pragma once

#include <string_view>

namespace culvert::admin {

// Whether a request with this Host header was meant for a listener of the loopback. A web page from
// anywhere can have its own name point to 127.0.0.1 and then read what we answer, as the browser
// takes us for that name (DNS rebinding): names are refused, but for localhost and `own`, the one
// in the configuration. Addresses can't be made to point elsewhere.
[[nodiscard]] bool is_host_of_loopback(std::string_view host, std::string_view own) noexcept;

}  // namespace culvert::admin
