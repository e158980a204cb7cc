#include "proxy/relay/client_session.hpp"

#include <array>
#include <boost/asio/error.hpp>

#include "proxy/relay/first_flight.hpp"
#include "proxy/relay/goodbye.hpp"
#include "proxy/relay/kept_stream.hpp"

namespace culvert::relay {
namespace {

namespace asio = boost::asio;

// When so many spare sessions have come to nothing, a new one is made.
constexpr int most_spares = 2;

class client_session final : public session {
  public:
    client_session(std::shared_ptr<const client_context> context, carrier::stream_socket plain,
                   thread_context thread, std::shared_ptr<session_pool> pool)
        : context_(std::move(context)),
          thread_(thread),
          pool_(std::move(pool)),
          plain_(std::move(plain)),
          peer_(carrier::peer_name(plain_)) {
        meter_.begin(context_->counters->service(context_->settings.service, thread_.number));
    }

    awaitable<void> run() override;

    void stop(end_reason why) override {
        stop_ = why;
        if (tunnel_) {
            tunnel_->stop(why);
            return;
        }
        carrier::reset(plain_);
        if (dialling_ != nullptr) dialling_->request();
    }

    void drain() override {}  // the application is waiting for an answer: it shall have it

    [[nodiscard]] observe::session_facts facts() const override {
        const auto& settings = context_->settings;
        return {peer_, "", settings.service, name_of(settings.connect.front().carrier), true};
    }
    [[nodiscard]] observe::section_counters& counters() const override {
        return *context_->counters;
    }
    [[nodiscard]] traffic moved() const override {
        traffic sum = tunnel_ ? tunnel_->moved() : traffic{};
        sum.to_tunnel += first_bytes_;
        return sum;
    }
    [[nodiscard]] bool proven() const override { return true; }

  private:
    awaitable<bool> run_over_spares();
    // These are coroutines of their own: what they need is gone while the tunnel runs.
    awaitable<void> open_new();
    awaitable<established> dial_for_application();
    awaitable<bool> open_spare(kept_stream& kept);
    awaitable<void> open(established far, kept_stream* kept);
    awaitable<void> send_first(established& far, kept_stream* kept);
    void begin_anew(const kept_stream& kept, const session_end& why);
    [[nodiscard]] std::string read_first();

    const std::shared_ptr<const client_context> context_;
    const thread_context thread_;
    const std::shared_ptr<session_pool> pool_;
    carrier::stream_socket plain_;  // while there is no tunnel
    const std::string peer_;
    std::string again_;                 // what a session that came to nothing had been told
    std::uint64_t first_bytes_ = 0;     // sent with OPEN
    cancellation* dialling_ = nullptr;  // while a new session is being made
    observe::meter meter_;
    std::optional<tunnel> tunnel_;
    std::optional<end_reason> stop_;
};

awaitable<void> client_session::run() {
    const bool done = co_await run_over_spares();
    if (done) co_return;
    co_await open_new();
    co_await tunnel_->run();
}

// False when there was no spare session that was any good, and the application has not noticed.
awaitable<bool> client_session::run_over_spares() {
    for (int i = 0; pool_ && i < most_spares; ++i) {
        kept_stream kept;
        std::optional<session_end> failed;
        try {
            const bool opened = co_await open_spare(kept);
            if (!opened) co_return false;
            co_await tunnel_->run();
        } catch (const session_end& why) {
            failed = why;
        }
        if (!failed) co_return true;
        begin_anew(kept, *failed);
    }
    co_return false;
}

// Throws `why` where the stream can't begin anew on another session.
void client_session::begin_anew(const kept_stream& kept, const session_end& why) {
    if (why.why() == end_reason::tunnel_lost && !kept.answered()) pool_->distrust();
    if (stop_ || !kept.may_begin_anew(why)) throw why;
    if (tunnel_) plain_ = tunnel_->take_plain();
    tunnel_.reset();
    first_bytes_ = 0;
    meter_.begin_anew();
    again_ = kept.bytes();
}

awaitable<void> client_session::open_new() {
    established far = co_await dial_for_application();
    if (pool_) pool_->server_is_there();
    co_await open(std::move(far), nullptr);
}

// An application that only ends its direction waits for an answer; one that resets has left.
awaitable<established> client_session::dial_for_application() {
    cancellation cancel([this] { return carrier::has_failed(plain_); }, dialling_);
    dial_means with{thread_.names, thread_.ephemeral_keys(), &cancel};
    with.counts = &context_->counters->handshakes(thread_.number);
    std::optional<established> made;
    std::optional<session_end> failed;
    try {
        established far = co_await dial_any(thread_.executor, context_->settings, context_->servers,
                                            context_->keys, with);
        made.emplace(std::move(far));
    } catch (const session_end& why) {
        failed = why;
    }
    if (stop_) throw session_end(*stop_);
    if (!made && cancel.requested())
        throw session_end(end_reason::application_reset, "it left while the server was dialled");
    if (failed) throw *failed;
    co_return std::move(*made);
}

// False when there is no spare session.
awaitable<bool> client_session::open_spare(kept_stream& kept) {
    std::optional<established> spare = pool_->take();
    if (!spare) co_return false;
    co_await open(std::move(*spare), &kept);
    co_return true;
}

// `kept` outlives the tunnel.
awaitable<void> client_session::open(established far, kept_stream* kept) {
    if (stop_) throw session_end(*stop_);
    std::optional<session_end> failed;
    try {
        co_await send_first(far, kept);
    } catch (const session_end& why) {
        failed = why;
    }
    if (failed) {
        co_await say_why(*far.writer, *failed, thread_.buffers);
        throw *failed;
    }
    tunnel_.emplace(std::move(plain_), std::move(far), context_->settings.limits, thread_.buffers,
                    kept, &meter_);
    if (stop_) tunnel_->stop(*stop_);
}

awaitable<void> client_session::send_first(established& far, kept_stream* kept) {
    const std::string first = again_.empty() ? read_first() : again_;
    const bytes_view stream = crypto::as_bytes(first);
    if (kept != nullptr) kept->sent(stream);
    first_bytes_ = first.size();
    meter_.to_tunnel(first.size());
    co_await open_with(far, context_->settings.service, stream, thread_.buffers);
}

// What the application has said already. At its end, or before its first word: nothing.
std::string client_session::read_first() {
    std::array<std::uint8_t, protocol::record_ramp::first> memory;
    const bytes room = bytes(memory).first(room_beside_open(context_->settings.service));
    const auto got = carrier::try_read(plain_, room);
    if (got.ec && got.ec != asio::error::would_block && got.ec != asio::error::eof)
        throw session_end(end_reason::application_reset, got.ec.message());
    return {memory.begin(), memory.begin() + got.size};
}

}  // namespace

std::shared_ptr<session> make_client_session(std::shared_ptr<const client_context> context,
                                             carrier::stream_socket plain, thread_context thread,
                                             std::shared_ptr<session_pool> pool) {
    return std::make_shared<client_session>(std::move(context), std::move(plain), thread,
                                            std::move(pool));
}

}  // namespace culvert::relay
