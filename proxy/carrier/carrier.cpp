#include "proxy/carrier/carrier.hpp"

#include <boost/asio/error.hpp>

namespace culvert::carrier {

awaitable<error_code> carrier::wait_readable() {
    if (buffered()) co_return error_code{};
    co_return co_await culvert::carrier::wait_readable(socket());
}

awaitable<io_result> carrier::read_some(bytes into) {
    for (;;) {
        const io_result got = try_read(into);
        if (got.ec != asio::error::would_block) {
            if (turn_.over()) co_await let_others_run(socket().get_executor());
            co_return got;
        }
        if (const error_code ec = co_await wait_readable(); ec) co_return io_result{ec};
    }
}

awaitable<error_code> carrier::write(bytes run) {
    begin_write(run);
    for (;;) {
        const error_code ec = continue_write();
        if (ec != asio::error::would_block) co_return ec;
        if (const error_code failed = co_await wait_writable(socket()); failed) co_return failed;
    }
}

}  // namespace culvert::carrier
