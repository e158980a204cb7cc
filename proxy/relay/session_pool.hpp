// The sessions that one thread keeps ready for the applications of one client section.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proxy/relay/client_context.hpp"
#include "proxy/relay/session.hpp"
#include "proxy/relay/spare_session.hpp"

namespace culvert::relay {

// All of it happens on the thread of its executor. Sessions that are taken or have died are
// replaced in the background; while the server can't be reached the attempts grow rare.
class session_pool : public std::enable_shared_from_this<session_pool> {
  public:
    session_pool(std::shared_ptr<const client_context> context, std::size_t size,
                 thread_context thread);

    // Begins to fill it. Once.
    void start() { look_again_at(clock::now()); }
    // Ends the spare sessions, each with a word to the server; none are made any more.
    void stop();

    // The session that was heard of last, when there is one.
    std::optional<established> take();

    // A session that was taken has died without an answer: the others may be as dead, and have
    // not noticed. They are replaced, at a moment that other clients of the server don't share.
    void distrust();
    // A session of somebody else's making has come about: the server can be reached.
    void server_is_there();

    // Spare sessions, those included that are taking leave.
    [[nodiscard]] std::size_t size() const noexcept { return spares_.size(); }
    [[nodiscard]] std::size_t ready() const noexcept;

  private:
    using spare = std::shared_ptr<spare_session>;

    void look_again_at(time_point when);
    void refill();
    [[nodiscard]] bool wants_more() const noexcept;
    void make_one();
    awaitable<void> life_of_one();
    awaitable<spare> dial_one();
    awaitable<void> keep(spare kept);
    void judge_end(const spare_session& gone, const session_end& why);
    void scatter();
    void failed(const session_end& why, bool unreachable);
    void recovered();

    const std::shared_ptr<const client_context> context_;
    const std::size_t size_;
    const thread_context thread_;
    std::vector<spare> spares_;
    std::size_t dialling_ = 0;
    cancellation stopping_;    // of what is being dialled
    std::size_t leaving_ = 0;  // of spares_: not to be counted for the size
    carrier::timer timer_;
    time_point look_at_ = time_point::max();
    time_point not_before_{};   // the next attempt
    unsigned failures_ = 0;     // in a row
    bool unreachable_ = false;  // the last one was: no session came about at all
    bool on_trial_ = false;     // a session came about after failures, and may be thrown out yet
    bool stopped_ = false;
};

}  // namespace culvert::relay
