#include "proxy/relay/race.hpp"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/error.hpp>

namespace culvert::relay {
namespace {

namespace asio = boost::asio;
using carrier::awaitable;
using carrier::clock;
using carrier::error_code;
using carrier::stream_socket;
using carrier::time_point;

constexpr auto no_throw = asio::as_tuple(carrier::use_awaitable);

}  // namespace

std::vector<stream_endpoint> interleaved(const std::vector<asio::ip::address>& addresses,
                                         std::uint16_t port) {
    const bool first_family = !addresses.empty() && addresses.front().is_v6();
    std::vector<stream_endpoint> of_family[2];
    for (const auto& address : addresses)
        of_family[address.is_v6() == first_family ? 0 : 1].emplace_back(
            asio::ip::tcp::endpoint(address, port));
    std::vector<stream_endpoint> all;
    for (std::size_t i = 0; i < std::max(of_family[0].size(), of_family[1].size()); ++i)
        for (const auto& family : of_family)
            if (i < family.size()) all.push_back(family[i]);
    return all;
}

awaitable<race::result> race::run() {
    while (winner_ == nullptr && !stopped_) {
        const bool more = attempts_.size() < addresses_.size();
        if (more && (waiting_ == 0 || clock::now() >= next_at_)) {
            start_next();
            continue;
        }
        if (waiting_ == 0) break;
        wake_.expires_at(more ? next_at_ : time_point::max());
        co_await wake_.async_wait(no_throw);
    }
    co_return finish();
}

void race::start_next() {
    next_at_ = clock::now() + head_start;
    attempts_.push_back(std::make_unique<attempt>(executor_, addresses_[attempts_.size()], how_));
    attempt& one = *attempts_.back();
    const error_code ec = one.begin();
    ++waiting_;
    if (ec != asio::error::in_progress) {
        ended(one, ec);
        return;
    }
    one.socket().async_wait(stream_socket::wait_write,
                            [self = shared_from_this(), &one](const error_code& failed) {
                                self->ended(one, failed ? failed : one.settle());
                            });
}

void race::ended(attempt& which, error_code ec) {
    --waiting_;
    if (winner_ != nullptr || stopped_) return;
    if (ec) {
        ec_ = ec;
        which.give_up();
        next_at_ = clock::now();
    } else {
        winner_ = &which;
    }
    wake_.cancel();
}

race::result race::finish() {
    result out{stopped_ ? error_code(asio::error::operation_aborted) : ec_, std::nullopt};
    for (const auto& one : attempts_) {
        if (one.get() == winner_)
            out = {error_code{}, std::move(*one)};
        else
            one->give_up();
    }
    return out;
}

void race::stop() {
    stopped_ = true;
    wake_.cancel();
}

}  // namespace culvert::relay
