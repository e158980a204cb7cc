#include "tests/faults/arena.hpp"

#include <utility>

namespace culvert::faults {
namespace {

// Longer than an end may be held up.
constexpr milliseconds rest{3'000};

tcp::endpoint lane_address(unsigned net, std::size_t number, std::uint16_t port) {
    const auto host = static_cast<unsigned>(number + 1);
    return {asio::ip::address_v4(127U << 24 | net << 16 | host), port};
}

tcp_acceptor listen_at(executor ex, const tcp::endpoint& at) {
    tcp_acceptor out(ex);
    out.open(at.protocol());
    out.set_option(tcp_acceptor::reuse_address(true));
    out.bind(at);
    out.listen();
    return out;
}

}  // namespace

arena::arena(asio::io_context& context, arena_plan plan)
    : plan_(std::move(plan)),
      executor_(context.get_executor()),
      free_(std::max<std::size_t>(plan_.servers.size(), 1)),
      tallies_(free_.size()) {
    for (std::size_t i = 0; i < plan_.lanes; ++i) open_lane(plan_.first_lane + i);
}

void arena::open_lane(std::size_t number) {
    const std::size_t kind = number % kinds();
    const auto network = lane_address(2, number, plan_.network);
    const auto service = lane_address(3, number, plan_.service);
    const auto entry = plan_.entry == 0 ? network : lane_address(1, number, plan_.entry);
    const auto server = plan_.servers.empty() ? service : plan_.servers[kind];
    lane made{kind,
              {entry, server},
              listen_at(executor_, network),
              listen_at(executor_, service),
              timer(executor_),
              nullptr};
    lanes_.push_back(std::make_unique<lane>(std::move(made)));
    lane& at = *lanes_.back();
    free_[kind].push_back(&at);
    accept_links(at);
    accept_services(at);
}

// Whoever comes when nobody waits for him comes too late: he is closed, with a reset.
void arena::accept_links(lane& at) {
    at.network.async_accept([this, &at](const error_code& ec, tcp_socket socket) {
        if (ec) throw boost::system::system_error(ec, "accept");
        if (!at.now || !at.now->take_link(std::move(socket))) close_with_reset(socket);
        accept_links(at);
    });
}

void arena::accept_services(lane& at) {
    at.service.async_accept([this, &at](const error_code& ec, tcp_socket socket) {
        if (ec) throw boost::system::system_error(ec, "accept");
        if (!at.now || !at.now->take_service(std::move(socket))) close_with_reset(socket);
        accept_services(at);
    });
}

void arena::run_all(std::vector<std::uint64_t> seeds,
                    std::function<script(std::uint64_t)> script_of, std::function<void()> done) {
    seeds_.assign(seeds.begin(), seeds.end());
    script_of_ = std::move(script_of);
    done_ = std::move(done);
    start_some();
}

void arena::start_some() {
    while (!seeds_.empty() && running_ < plan_.at_once) {
        const std::uint64_t seed = seeds_.front();
        auto& lanes = free_[seed % kinds()];
        if (lanes.empty()) break;
        seeds_.pop_front();
        lane& at = *lanes.front();
        lanes.pop_front();
        ++running_;
        at.now = std::make_shared<run>(executor_, seed, script_of_(seed), at.where, plan_.deadline,
                                       plan_.others_harm);
        at.now->start([this, &at] { finish(at); });
    }
    if (seeds_.empty() && running_ == 0) done_();
}

void arena::finish(lane& at) {
    const auto over = std::exchange(at.now, nullptr);
    --running_;
    tally& into = tallies_[at.kind];
    const verdict found = over->judgement();
    ++into.runs[static_cast<std::size_t>(found.outcome)];
    if (found.outcome == outcome::violation)
        violations_.push_back({over->seed(), at.kind, text_of(over->what()), found.why});
    count(*over, into);
    if (over->complete()) return make_free(at);
    at.resting.expires_after(rest);
    at.resting.async_wait([this, &at](const error_code& ec) {
        if (!ec) make_free(at);
    });
    start_some();
}

void arena::make_free(lane& at) {
    free_[at.kind].push_back(&at);
    start_some();
}

void arena::count(const run& over, tally& into) {
    into.bytes += over.bytes();
    if (over.age() > into.longest) {
        into.longest = over.age();
        into.longest_seed = over.seed();
    }
    if (over.network() == nullptr) return;
    for (const path* direction : {&over.network()->up(), &over.network()->down()}) {
        const mangler& done = direction->what_was_done();
        if (done.ended()) ++into.faults[text_of(direction->plan().end->how)];
        for (const auto kind :
             {edit_kind::flip, edit_kind::drop, edit_kind::repeat, edit_kind::swap}) {
            if (done.edited_by(kind)) ++into.faults[text_of(kind)];
        }
    }
}

}  // namespace culvert::faults
