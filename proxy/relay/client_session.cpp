#include "proxy/relay/client_session.hpp"

namespace culvert::relay {
namespace {

class client_session final : public session {
  public:
    client_session(std::shared_ptr<const client_context> context, carrier::stream_socket plain,
                   thread_context thread)
        : context_(std::move(context)),
          thread_(thread),
          plain_(std::move(plain)),
          peer_(carrier::peer_name(plain_)) {}

    awaitable<void> run() override {
        co_await reach_service();
        co_await tunnel_->run();
    }

    void stop(end_reason why) override {
        stop_ = why;
        if (tunnel_)
            tunnel_->stop(why);
        else
            carrier::reset(plain_);  // dialling has its own deadlines; the application hears now
    }

    void drain() override {}  // the application is waiting for an answer: it shall have it

    [[nodiscard]] std::string describe() const override {
        const auto& service = context_->settings.service;
        return peer_ + " service " + (service.empty() ? "(default)" : service);
    }
    [[nodiscard]] traffic moved() const override { return tunnel_ ? tunnel_->moved() : traffic{}; }
    [[nodiscard]] bool proven() const override { return true; }

  private:
    // A coroutine of its own: what it needs is gone while the tunnel runs.
    awaitable<void> reach_service() {
        const auto& settings = context_->settings;
        established far = co_await dial(thread_.executor, settings, context_->keys);
        if (stop_) throw session_end(*stop_);
        co_await open_service(far, settings.service);
        tunnel_.emplace(std::move(plain_), std::move(far), settings.limits, thread_.buffers);
        if (stop_) tunnel_->stop(*stop_);
    }

    const std::shared_ptr<const client_context> context_;
    const thread_context thread_;
    carrier::stream_socket plain_;
    const std::string peer_;
    std::optional<tunnel> tunnel_;
    std::optional<end_reason> stop_;
};

}  // namespace

std::shared_ptr<session> make_client_session(std::shared_ptr<const client_context> context,
                                             carrier::stream_socket plain, thread_context thread) {
    return std::make_shared<client_session>(std::move(context), std::move(plain), thread);
}

}  // namespace culvert::relay
