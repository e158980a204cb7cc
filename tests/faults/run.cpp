#include "tests/faults/run.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <utility>

namespace culvert::faults {
namespace {

// So long a connection may lag behind the end of what caused it: an application that left at once,
// a service whose tunnel has gone.
constexpr milliseconds straggling_time{100};

}  // namespace

run::run(executor ex, std::uint64_t seed, script what, addresses where, milliseconds deadline,
         bool others_harm)
    : executor_(ex),
      seed_(seed),
      what_(std::move(what)),
      where_(std::move(where)),
      others_harm_(others_harm),
      deadline_(ex, carrier::clock::now() + deadline),
      straggling_(ex) {}

void run::start(std::function<void()> done) {
    done_ = std::move(done);
    deadline_.async_wait([self = shared_from_this()](const error_code& ec) {
        if (!ec) self->give_up();
    });
    spawn(connect_application());
}

// A part of the run; when the last one has ended, the run has.
void run::spawn(awaitable<void> part) {
    ++parts_;
    asio::co_spawn(executor_, std::move(part),
                   [self = shared_from_this()](const std::exception_ptr& error) {
                       if (error) std::rethrow_exception(error);
                       self->part_ended();
                   });
}

void run::part_ended() {
    if (--parts_ > 0) return;
    if (!complete() && !std::exchange(waited_, true)) return spawn(wait_for_stragglers());
    deadline_.cancel();
    std::exchange(done_, nullptr)();
}

awaitable<void> run::wait_for_stragglers() {
    straggling_.expires_after(straggling_time);
    co_await straggling_.async_wait(no_throw);
}

awaitable<void> run::connect_application() {
    tcp_socket socket(executor_);
    const auto [ec] = co_await socket.async_connect(where_.entry, no_throw);
    if (ec) {
        failed_ = "no connection to the entry: " + ec.message();
        co_return;
    }
    begin(app_, std::move(socket), what_.app, seed_, ~seed_);
}

bool run::take_link(tcp_socket&& client) {
    if (link_ || !std::exchange(link_expected_, false)) return false;
    spawn(connect_link(std::move(client)));
    return true;
}

awaitable<void> run::connect_link(tcp_socket client) {
    tcp_socket server(executor_);
    const auto [ec] = co_await server.async_connect(where_.server, no_throw);
    if (ec) {
        if (!others_harm_) failed_ = "no connection to the server: " + ec.message();
        close_with_reset(client);
        co_return;
    }
    link_ = std::make_unique<faults::link>(std::move(client), std::move(server), what_, seed_);
    spawn(link_->up().run());
    spawn(link_->down().run());
}

bool run::take_service(tcp_socket&& socket) {
    if (service_) return false;
    begin(service_, std::move(socket), what_.service, ~seed_, seed_);
    return true;
}

void run::begin(std::unique_ptr<application>& which, tcp_socket socket,
                const application_script& plan, std::uint64_t own, std::uint64_t other) {
    which = std::make_unique<application>(std::move(socket), plan, own, other);
    spawn(which->write());
    spawn(which->read());
}

// Everything that still waits gets an error.
void run::give_up() {
    given_up_ = true;
    if (app_) app_->give_up();
    if (service_) service_->give_up();
    if (link_) link_->reset();
}

verdict run::judgement() const {
    const auto violated = [](std::string why) {
        return verdict{outcome::violation, std::move(why)};
    };
    if (!failed_.empty()) return violated(failed_);
    std::optional<end_report> at_service;
    if (service_) at_service = service_->report();
    const bool harmed = others_harm_ || (link_ && link_->harmed());
    verdict found = judge(what_, harmed, app_->report(), at_service);
    if (given_up_ && found.outcome != outcome::violation)
        return violated("the tunnel's connection did not end within the deadline");
    return found;
}

milliseconds run::age() const {
    return std::chrono::duration_cast<milliseconds>(carrier::clock::now() - began_);
}

std::uint64_t run::bytes() const {
    std::uint64_t sum = 0;
    if (app_) sum += app_->report().read;
    if (service_) sum += service_->report().read;
    return sum;
}

}  // namespace culvert::faults
