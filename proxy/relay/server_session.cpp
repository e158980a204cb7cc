#include "proxy/relay/server_session.hpp"

#include <boost/asio/error.hpp>

#include "proxy/relay/connect.hpp"
#include "proxy/relay/goodbye.hpp"

namespace culvert::relay {

namespace asio = boost::asio;
using carrier::stream_socket;

namespace {

// While the daemon drains, from then on: for a first flight that is under way, and for who has got
// his answer.
constexpr std::chrono::milliseconds time_to_prove{500};
constexpr std::chrono::milliseconds time_to_open{2'000};

// What came of the targets that were tried.
class failed_tries {
  public:
    void add(const config::endpoint& target, const error_code& ec) {
        if (ec != asio::error::timed_out) in_time_ = true;
        if (!told_.empty()) told_ += "; ";
        told_ += target.text() + ": " + ec.message();
    }
    [[noreturn]] void tell() const {
        throw session_end(in_time_ ? end_reason::backend_unreachable : end_reason::backend_timeout,
                          told_);
    }

  private:
    std::string told_;
    bool in_time_ = false;  // one of them said no
};

}  // namespace

server_session::~server_session() {
    leave_waiting_room();
    if (opened_) connections().closed.add();
    if (!proven_ && unproven_ != nullptr) {
        connections().gone_unproven.add();
        context_->counters->handshake_failed(unproven_);
    }
}

awaitable<void> server_session::run() {
    unproven_ = "incomplete";
    connections().accepted.add();
    co_await admit();
    co_await open_tunnel();
    co_await tunnel_->run();
}

// A coroutine of its own: what it needs is gone while the tunnel runs.
awaitable<void> server_session::open_tunnel() {
    std::optional<session_end> failed;
    stream_socket backend(thread_.executor);
    try {
        service_ = co_await await_open();
        take_seat();
        backend = co_await reach_backend();
    } catch (const session_end& e) {
        failed = e;
    }
    handshake_deadline_.reset();
    if (failed) {
        if (!proven_ && !stop_ && !dropped_) report_stranger(failed->text());
        co_await say_why(*far_->writer, *failed, thread_.buffers);
        throw *failed;
    }
    tunnel_.emplace(std::move(backend), std::move(*far_), backends_->limits(), thread_.buffers,
                    nullptr, &meter_, rate_of_client());
    far_.reset();
    if (stop_) tunnel_->stop(*stop_);
}

std::unique_ptr<throttle> server_session::rate_of_client() const {
    const auto& rate = known_->rights.rate;
    if (!rate) return nullptr;
    client_account& account = *known_->account;
    return std::make_unique<throttle>(thread_.executor, account.to_client, account.from_client,
                                      *rate);
}

void server_session::stop(end_reason why) {
    stop_ = why;
    if (tunnel_)
        tunnel_->stop(why);
    else if (connecting_ != nullptr)
        connecting_->request();
    else if (stay_)
        stay_->stop();
    else if (far_)
        far_->writer->to().cancel();
    else
        close_stranger();
}

// Who is about to open a service may do so: his connection was taken already, and nobody else will.
// A spare session has its time, and a stranger can't have all of the drain's.
void server_session::drain() {
    if (opened_ || stay_) return;
    if (waiting_) return stop(end_reason::not_opened);
    draining_ = true;
    handshake_deadline_.emplace(thread_.executor,
                                clock::now() + (far_ ? time_to_open : time_to_prove),
                                [this] { close_stranger(); });
}

observe::session_facts server_session::facts() const {
    return {peer_, client_, service_, name_of(context_->settings.carrier), opened_};
}

bool server_session::known_to(const server_context& section) const {
    if (!proven_ || section.settings.name != context_->settings.name) return true;
    const known_client* now = section.clients.find(known_->key);
    return now != nullptr && now->name == known_->name;
}

// ---- the backend ----

// Before anything is begun: the client may go elsewhere.
void server_session::take_seat() {
    backends_ = context_->service(service_);
    if (backends_ == nullptr) throw session_end(end_reason::refused, "there is no such service");
    const std::string& name = backends_->settings().name;
    if (!known_->may_open(name)) throw session_end(end_reason::refused, "not for this client");
    count_session(name);
    auto seat = backends_->take_seat();
    if (!seat) throw session_end(end_reason::too_many, "max-connections of the service");
    seat_.emplace(std::move(*seat));
}

// One target after the other, until one answers.
awaitable<stream_socket> server_session::reach_backend() {
    const auto by = clock::now() + context_->settings.limits.connect;
    // Nothing is read meanwhile. An end of the client's stream comes in a record; if the connection
    // itself ends, he has left.
    carrier::stream_socket& client = far_->writer->to().socket();
    cancellation cancel([&client] { return carrier::has_ended(client); }, connecting_);
    place_search way = backends_->search();
    failed_tries failed;
    for (;;) {
        auto next = backends_->next(way);
        if (!next) failed.tell();
        const auto now = clock::now();
        const auto until = now + way.share_of(by - now);
        connected to = co_await connect(thread_.executor, next->target, until, closing::reset,
                                        *thread_.names, &cancel);
        if (stop_) throw session_end(end_reason::shutdown);  // no other reason: OPEN was taken
        if (cancel.requested())
            throw session_end(end_reason::tunnel_lost,
                              "the client left before the service answered");
        if (!to.ec) to.ec = announce(to.socket);
        if (!to.ec) {
            next->visit.answered();
            visit_.emplace(std::move(next->visit));
            co_return std::move(to.socket);
        }
        if (!is_our_own(to.ec)) next->visit.failed(to.ec.message());
        failed.add(next->target, to.ec);
    }
}

// The PROXY header, if the target is to get one: the first that it hears. It always fits into what
// the kernel takes at once.
error_code server_session::announce(stream_socket& backend) {
    const auto version = backends_->settings().send_proxy;
    if (version == config::proxy_header::none) return {};
    const auto header = version == config::proxy_header::v1 ? proxy_header_v1(origin())
                                                            : proxy_header_v2(origin(), client_);
    const iovec part{const_cast<std::uint8_t*>(header.data()), header.size()};
    const carrier::io_result put = carrier::try_write(backend, std::span(&part, 1));
    if (put.ec) return put.ec;
    return put.size == header.size() ? error_code{} : error_code(asio::error::no_buffer_space);
}

// Whom the connection comes from, as far as this end can know.
std::optional<proxied> server_session::origin() {
    if (proxied_) return *proxied_;
    const auto from = carrier::peer_place(far_->writer->to().socket());
    const auto to = carrier::local_place(far_->writer->to().socket());
    if (!from || !to) return std::nullopt;
    return proxied{*from, *to};
}

// `service` is one of the configuration: a name from outside would be a number of its own for ever.
void server_session::count_session(const std::string& service) {
    observe::section_counters& counts = *context_->counters;
    meter_.begin(counts.service(service, thread_.number),
                 client_.empty() ? nullptr : &counts.client(client_, thread_.number));
}

std::shared_ptr<session> make_server_session(std::shared_ptr<const server_context> context,
                                             carrier::stream_socket socket, thread_context thread) {
    return std::make_shared<server_session>(std::move(context), std::move(socket), thread);
}

}  // namespace culvert::relay
