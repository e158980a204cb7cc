#include "proxy/relay/resolver.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/post.hpp>
#include <csignal>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "proxy/carrier/socket.hpp"
#include "proxy/observe/log.hpp"

namespace culvert::relay {
namespace {

namespace asio = boost::asio;
using carrier::awaitable;
using carrier::clock;
using carrier::error_code;
using carrier::time_point;
using observe::log_level;

constexpr auto no_throw = asio::as_tuple(carrier::use_awaitable);

observe::log_limit troubles;

// Whether a thread's loop is there still: lookups end when they like, and must not wake anybody in
// a loop that is being taken down. The loop itself says so, before it throws its handlers away.
class loop_link : public asio::execution_context::service {
  public:
    struct state {
        std::mutex mutex;
        bool alive = true;
    };
    using key_type = loop_link;
    inline static asio::execution_context::id id;

    explicit loop_link(asio::execution_context& of) : service(of) {}

    const std::shared_ptr<state> link = std::make_shared<state>();

  private:
    void shutdown() override {
        const std::scoped_lock lock(link->mutex);
        link->alive = false;
    }
};

// The signals are for the daemon's other threads.
class signals_blocked {
  public:
    signals_blocked() {
        sigset_t all;
        sigfillset(&all);
        ::pthread_sigmask(SIG_BLOCK, &all, &before_);
    }
    signals_blocked(const signals_blocked&) = delete;
    signals_blocked& operator=(const signals_blocked&) = delete;
    ~signals_blocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  private:
    sigset_t before_{};
};

}  // namespace

// ---- those who wait ----

// Part of it is the state's, under its mutex; the rest belongs to the loop's thread.
struct resolver::query::waiter {
    waiter(const carrier::executor& ex, std::string of)
        : name(std::move(of)),
          link(asio::use_service<loop_link>(ex.context()).link),
          executor(ex),
          timer(ex) {}

    // From a lookup's thread, while a query has a share in `self`: the last one is never let go
    // of here.
    static void wake(const std::shared_ptr<waiter>& self) {
        const std::scoped_lock lock(self->link->mutex);
        if (!self->link->alive) return;
        asio::post(self->executor, [self] { self->timer.cancel(); });
    }

    const std::string name;
    const std::shared_ptr<loop_link::state> link;
    const carrier::executor executor;
    carrier::timer timer;
    bool cancelled = false;
    std::optional<std::uint64_t> asked;  // lookups of the name that were over when it came
};

// ---- what is known, and the lookups ----

class resolver::shared_state : public std::enable_shared_from_this<shared_state> {
  public:
    using waiter = query::waiter;

    shared_state(lookup how, const times& limits) : how_(std::move(how)), limits_(limits) {}

    // What to do now: take the answer, or wait.
    struct advice {
        std::optional<resolved> answer{};
        time_point look_again = time_point::max();  // if nobody wakes the waiter before
        std::string remark{};                       // for the log
        log_level level = log_level::warning;
    };
    advice ask(const std::shared_ptr<waiter>& who);
    void leave(const std::shared_ptr<waiter>& who);

  private:
    struct entry {
        resolved good;  // the last answer that was one
        time_point good_at{};
        error_code failure;  // of the last lookup
        time_point failed_at{};
        bool looked_up = false;  // is being
        time_point asked_at{};
        std::uint64_t finished = 0;  // lookups
        bool in_trouble = false;     // good is used although it is old
        std::vector<std::shared_ptr<waiter>> waiting;

        [[nodiscard]] bool has_good() const noexcept { return good.addresses != nullptr; }
    };

    advice outcome(const std::string& name, entry& of);
    advice use_old(const std::string& name, entry& of, const std::string& why);
    void start(const std::string& name, entry& of);
    void add_thread();
    void work();
    void finish(entry& of, resolved result);

    const lookup how_;
    const times limits_;
    std::mutex mutex_;
    std::map<std::string, entry> names_;
    std::deque<std::string> queue_;
    std::size_t threads_ = 0;
};

resolver::shared_state::advice resolver::shared_state::ask(const std::shared_ptr<waiter>& who) {
    const std::scoped_lock lock(mutex_);
    entry& of = names_[who->name];
    if (who->asked && *who->asked != of.finished) return outcome(who->name, of);
    const time_point now = clock::now();
    const auto age = now - of.good_at;
    if (of.has_good() && age < limits_.fresh / 2) return outcome(who->name, of);
    const bool failed_lately = of.failure && now - of.failed_at < limits_.failure;
    if (!of.looked_up && !failed_lately) start(who->name, of);
    if (of.has_good() && age < limits_.fresh) return {of.good};
    if (!of.looked_up) return outcome(who->name, of);
    if (of.has_good() && now >= of.asked_at + limits_.patience)
        return use_old(who->name, of, "no answer");
    if (!who->asked) {
        who->asked = of.finished;
        of.waiting.push_back(who);
    }
    return {{}, of.has_good() ? of.asked_at + limits_.patience : time_point::max()};
}

// After a lookup.
resolver::shared_state::advice resolver::shared_state::outcome(const std::string& name, entry& of) {
    if (of.failure)
        return of.has_good() ? use_old(name, of, of.failure.message())
                             : advice{resolved{of.failure, nullptr}};
    if (!std::exchange(of.in_trouble, false)) return {of.good};
    return {of.good, {}, "name lookup of " + name + " works again", log_level::info};
}

resolver::shared_state::advice resolver::shared_state::use_old(const std::string& name, entry& of,
                                                               const std::string& why) {
    if (std::exchange(of.in_trouble, true)) return {of.good};
    return {of.good,
            {},
            "name lookup of " + name + ": " + why + "; its last addresses go on to be used"};
}

void resolver::shared_state::leave(const std::shared_ptr<waiter>& who) {
    const std::scoped_lock lock(mutex_);
    if (who->asked) std::erase(names_[who->name].waiting, who);
}

void resolver::shared_state::start(const std::string& name, entry& of) {
    queue_.push_back(name);
    of.looked_up = true;
    of.asked_at = clock::now();
    try {
        if (threads_ < limits_.threads) add_thread();
    } catch (const std::system_error& e) {
        if (threads_ > 0) return;  // another one will come to it
        queue_.clear();
        finish(of, {error_code(e.code()), nullptr});
    }
}

void resolver::shared_state::add_thread() {
    const signals_blocked during;
    std::thread([self = shared_from_this()] { self->work(); }).detach();
    ++threads_;
}

void resolver::shared_state::work() {
    std::unique_lock lock(mutex_);
    while (!queue_.empty()) {
        const std::string name = std::move(queue_.front());
        queue_.pop_front();
        lock.unlock();
        resolved result;
        try {
            result = how_(name);
        } catch (const std::exception&) {
            result.ec = asio::error::no_memory;
        }
        lock.lock();
        finish(names_[name], std::move(result));
    }
    --threads_;
}

void resolver::shared_state::finish(entry& of, resolved result) {
    of.looked_up = false;
    ++of.finished;
    of.failure = result.ec;
    const time_point now = clock::now();
    if (result.ec) {
        of.failed_at = now;
    } else {
        of.good = std::move(result);
        of.good_at = now;
    }
    for (const auto& one : of.waiting) {
        try {
            waiter::wake(one);
        } catch (const std::bad_alloc&) {
            // It has a deadline of its own.
        }
    }
    of.waiting.clear();
}

// ---- the public side ----

resolver::resolver(lookup how) : resolver(std::move(how), times{}) {}
resolver::resolver(lookup how, times limits)
    : state_(std::make_shared<shared_state>(std::move(how), limits)) {}
resolver::~resolver() = default;

resolver::query::query(const carrier::executor& ex, resolver& names, std::string name)
    : state_(names.state_), waiter_(std::make_shared<waiter>(ex, std::move(name))) {}

resolver::query::~query() {
    state_->leave(waiter_);
}

awaitable<resolved> resolver::query::run() {
    for (;;) {
        const auto now = state_->ask(waiter_);
        if (!now.remark.empty()) log(troubles, now.level, "{}", now.remark);
        if (now.answer) co_return *now.answer;
        if (!waiter_->cancelled) {
            waiter_->timer.expires_at(now.look_again);
            co_await waiter_->timer.async_wait(no_throw);
        }
        if (waiter_->cancelled) co_return resolved{asio::error::operation_aborted, nullptr};
    }
}

void resolver::query::cancel() {
    waiter_->cancelled = true;
    waiter_->timer.cancel();
}

// ---- the system ----

namespace {

error_code error_of(int code) {
    switch (code) {
        case EAI_AGAIN:
            return asio::error::host_not_found_try_again;
        case EAI_FAIL:
            return asio::error::no_recovery;
        case EAI_MEMORY:
            return asio::error::no_memory;
        case EAI_FAMILY:
            return asio::error::address_family_not_supported;
        case EAI_SYSTEM:
            return carrier::last_error();
        default:
            return asio::error::host_not_found;
    }
}

std::optional<asio::ip::address> address_of(const addrinfo& found) {
    if (found.ai_family == AF_INET) {
        const auto& from = *reinterpret_cast<const sockaddr_in*>(found.ai_addr);
        return asio::ip::address_v4(ntohl(from.sin_addr.s_addr));
    }
    if (found.ai_family == AF_INET6) {
        const auto& from = *reinterpret_cast<const sockaddr_in6*>(found.ai_addr);
        asio::ip::address_v6::bytes_type bytes;
        std::memcpy(bytes.data(), &from.sin6_addr, bytes.size());
        return asio::ip::address_v6(bytes, from.sin6_scope_id);
    }
    return std::nullopt;
}

}  // namespace

resolved look_up(const std::string& name) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (const int code = ::getaddrinfo(name.c_str(), nullptr, &hints, &found); code != 0)
        return {error_of(code), nullptr};
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
    auto all = std::make_shared<ip_addresses>();
    for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
        const auto address = address_of(*at);
        if (address && std::find(all->begin(), all->end(), *address) == all->end())
            all->push_back(*address);
    }
    if (all->empty()) return {asio::error::host_not_found, nullptr};
    return {{}, std::move(all)};
}

resolver& system_resolver() {
    static resolver instance(look_up);
    return instance;
}

}  // namespace culvert::relay
