// A place that connections are made to, and whether it can be reached, as far as those know who
// have tried.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "proxy/carrier/net.hpp"
#include "proxy/observe/log.hpp"

namespace culvert::relay {

struct place_status {
    std::string name;
    bool up = true;
    std::size_t open = 0;           // connections that it has now
    std::uint64_t connections = 0;  // made since the start
    std::uint64_t failures = 0;     // tries and checks that came to nothing
};

// For all threads. A place is up until somebody fails to reach it; then it is down for a while, and
// for a longer one each time. When that is over, one at a time may try, and what comes of it
// counts. The log has a line where it changes.
class place : public std::enable_shared_from_this<place> {
  public:
    static constexpr std::chrono::milliseconds first_pause{1'000};
    static constexpr std::chrono::milliseconds longest_pause{30'000};

    // `section` stands in front of the name in the log: "server.edge: service redis".
    // `tells`: it has lines of its own in the log. Where there is no other place to go, those of
    // the sessions say as much.
    place(std::string section, std::string name, bool tells = true)
        : section_(std::move(section)), name_(std::move(name)), tells_(tells) {}

    enum class standing : std::uint8_t {
        up,
        due,  // down, but somebody should try
        down
    };
    [[nodiscard]] standing look(carrier::time_point now) const;

    class visit;
    // A try that begins now. None: it was `due` when looked at, and somebody else tries already.
    [[nodiscard]] std::optional<visit> begin(standing seen, carrier::time_point now);

    // What came of somebody's try, or of a check.
    void answered(carrier::time_point now);
    void failed(const std::string& why, carrier::time_point now);

    [[nodiscard]] place_status status() const;
    [[nodiscard]] std::size_t open() const;
    [[nodiscard]] const std::string& name() const noexcept { return name_; }

  private:
    [[nodiscard]] bool up() const noexcept { return failures_ == 0; }
    [[nodiscard]] standing look_locked(carrier::time_point now) const;

    const std::string section_;
    const std::string name_;
    const bool tells_;
    mutable std::mutex mutex_;
    unsigned failures_ = 0;  // in a row; those that were tried at the same time count once
    carrier::time_point down_since_{};
    carrier::time_point retry_at_{};
    bool tried_ = false;  // by somebody who was admitted while it is down
    place_status status_;
    observe::log_limit lines_{6, std::chrono::seconds{60}};
};

// Held by whoever tries, and then for as long as his connection lives. A try that ends without a
// word leaves the place as it was.
class place::visit {
  public:
    visit(std::shared_ptr<place> at, bool on_trial) : at_(std::move(at)), on_trial_(on_trial) {}
    visit(visit&& other) noexcept = default;
    visit& operator=(visit&&) = delete;
    ~visit();

    void answered();
    void failed(const std::string& why);

  private:
    void decided();

    std::shared_ptr<place> at_;
    bool on_trial_;
    bool open_ = false;
};

// One connection's way through several places: each is tried once, the best first.
class place_search {
  public:
    struct member {
        std::shared_ptr<place> at;
        bool backup = false;  // only where no other can be had
    };
    // The members outlive the search. With `checked`, a place that is down is brought back by its
    // checks, not by connections.
    explicit place_search(const std::vector<member>& members, bool checked = false)
        : members_(members), checked_(checked), tried_(members.size()) {}

    // Those of the best that are left: up or due, rather than down; no backup, rather than one.
    // Empty: all have been tried.
    [[nodiscard]] std::vector<std::size_t> best(carrier::time_point now) const;

    // Begins to try one of them; none when another was faster: look again.
    [[nodiscard]] std::optional<place::visit> begin(std::size_t which, carrier::time_point now);

    // How long the one that was begun last may take of the time that is left: so long that the
    // others get a share too.
    [[nodiscard]] carrier::clock::duration share_of(carrier::clock::duration left) const;

  private:
    [[nodiscard]] place::standing standing_of(std::size_t which, carrier::time_point now) const;
    [[nodiscard]] unsigned rank_of(std::size_t which, carrier::time_point now) const;

    const std::vector<member>& members_;
    const bool checked_;
    std::vector<bool> tried_;
    bool on_trial_ = false;  // the last one
};

// The place of that name, if it is one of `known`; else a new one. `section` is for its lines, if
// it `tells`.
[[nodiscard]] std::shared_ptr<place> place_called(const std::string& name,
                                                  const std::string& section,
                                                  const std::vector<place_search::member>* known,
                                                  bool tells);

// Whether a failure to connect is this host's own, and says nothing of the place.
[[nodiscard]] bool is_our_own(const carrier::error_code& ec) noexcept;

}  // namespace culvert::relay
