#include "proxy/daemon/command_socket.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>

#include "proxy/daemon/command_messages.hpp"
#include "proxy/observe/log.hpp"

namespace culvert::daemon {
namespace {

using carrier::awaitable;
using wire_descriptor = carrier::asio::posix::basic_stream_descriptor<carrier::executor>;

constexpr auto no_throw = carrier::asio::as_tuple(carrier::use_awaitable);

bool may_command(int connection) {
    ucred peer{};
    socklen_t size = sizeof peer;
    if (::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
    return peer.uid == 0 || peer.uid == ::geteuid();
}

// One connection of a command.
class conversation {
  public:
    conversation(const carrier::executor& ex, descriptor connection,
                 std::shared_ptr<const commands> what)
        : wire_(ex, connection.release()), what_(std::move(what)) {}

    awaitable<void> run();

  private:
    awaitable<bool> answer(const command::message& asked);
    awaitable<bool> say(std::string_view word, std::string_view text = {}, int with = -1);

    wire_descriptor wire_;
    const std::shared_ptr<const commands> what_;
    bool has_sockets_ = false;  // whoever is there
};

awaitable<void> conversation::run() {
    bool goes_on = true;
    while (goes_on) {
        auto [ec] = co_await wire_.async_wait(wire_descriptor::wait_read, no_throw);
        if (ec) co_return;
        command::message asked;
        const int error = command::receive(wire_.native_handle(), asked);
        if (error == EAGAIN) continue;
        if (error != 0) co_return;
        goes_on = co_await answer(asked);
    }
}

awaitable<bool> conversation::answer(const command::message& asked) {
    if (asked.word == command::reload) {
        const commands::outcome made = what_->reload();
        for (const auto& text : made.lines) {
            const bool heard = co_await say(command::line, text);
            if (!heard) co_return false;
        }
        co_return co_await say(made.good ? command::done : command::failed);
    }
    if (asked.word == command::take_over) {
        const std::vector<int> sockets = what_->listening();
        for (const int fd : sockets) {
            const bool heard = co_await say(command::socket, {}, fd);
            if (!heard) co_return false;
        }
        has_sockets_ = co_await say(command::done);
        co_return has_sockets_;
    }
    if (asked.word != command::ready || !has_sockets_) co_return co_await say(command::failed);
    const bool heard = co_await say(command::done);
    what_->leave();
    co_return heard;
}

// False when nobody is there any more.
awaitable<bool> conversation::say(std::string_view word, std::string_view text, int with) {
    int error = command::send(wire_.native_handle(), word, text, with);
    while (error == EAGAIN) {
        auto [ec] = co_await wire_.async_wait(wire_descriptor::wait_write, no_throw);
        if (ec) co_return false;
        error = command::send(wire_.native_handle(), word, text, with);
    }
    co_return error == 0;
}

}  // namespace

command_socket::command_socket(const carrier::executor& ex, listening_socket socket, commands what)
    : ex_(ex),
      what_(std::make_shared<const commands>(std::move(what))),
      accepts_(std::make_shared<acceptor>(
          ex, std::move(socket),
          destination{"control", [this](descriptor fd) { take(std::move(fd)); }},
          [] { return true; })) {}

void command_socket::start() {
    start_accepting(accepts_);
}

void command_socket::take(descriptor connection) {
    if (!may_command(connection.get())) {
        observe::log(observe::log_level::warning,
                     "control: refused: commands are for the daemon's own user and for root");
        return;
    }
    const auto talk = std::make_shared<conversation>(ex_, std::move(connection), what_);
    carrier::asio::co_spawn(ex_, talk->run(), [talk](const std::exception_ptr& e) {
        if (e) std::rethrow_exception(e);
    });
}

}  // namespace culvert::daemon
