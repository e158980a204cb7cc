// Runs scripts through a tunnel, many side by side.
//
// A connection of the tunnel can't say which application's it is, so each run has a *lane* to
// itself: an entry of the client, a place in the network that this entry leads to, a service of the
// server. Lane i is at 127.1.X.Y (entry), 127.2.X.Y (network) and 127.3.X.Y (service), where X.Y is
// the number i + 1, at a port for each of the three. After a run in which a connection was missing
// its lane rests: one that comes late, from a daemon that has stood still, shall find no run to be
// mistaken for.
#pragma once

#include <deque>
#include <map>

#include "tests/faults/run.hpp"

namespace culvert::faults {

struct arena_plan {
    std::size_t first_lane = 0;
    std::size_t lanes = 64;
    std::size_t at_once = 32;
    std::uint16_t entry = 0;  // 0: the applications connect to the network directly
    std::uint16_t network = 0;
    std::uint16_t service = 0;
    // Where the network leads to, each for the lanes i with i % size equal to its place. Empty: to
    // the service directly.
    std::vector<tcp::endpoint> servers;
    milliseconds deadline{60'000};
    bool others_harm = false;  // ends are stopped meanwhile, say: no reset is a violation then
};

// What has become of the runs of one kind of lane.
struct tally {
    std::array<std::uint64_t, outcomes> runs{};
    std::map<std::string, std::uint64_t> faults;  // runs in which a fault of this name took place
    std::uint64_t bytes = 0;                      // that came to applications
    milliseconds longest{0};                      // run
    std::uint64_t longest_seed = 0;
};

struct violation {
    std::uint64_t seed;
    std::size_t kind;
    std::string script;
    std::string why;
};

class arena {
  public:
    arena(asio::io_context& context, arena_plan plan);

    // Runs the scripts of the seeds, seed s on a lane of kind s % kinds; calls `done` at the end.
    void run_all(std::vector<std::uint64_t> seeds, std::function<script(std::uint64_t)> script_of,
                 std::function<void()> done);

    [[nodiscard]] std::size_t kinds() const noexcept { return free_.size(); }
    [[nodiscard]] const std::vector<tally>& tallies() const noexcept { return tallies_; }
    [[nodiscard]] const std::vector<violation>& violations() const noexcept { return violations_; }

  private:
    struct lane {
        std::size_t kind;
        addresses where;
        tcp_acceptor network;
        tcp_acceptor service;
        timer resting;
        std::shared_ptr<run> now;
    };

    void open_lane(std::size_t number);
    void accept_links(lane& at);
    void accept_services(lane& at);
    void start_some();
    void finish(lane& at);
    void make_free(lane& at);
    static void count(const run& over, tally& into);

    const arena_plan plan_;
    const executor executor_;
    std::vector<std::unique_ptr<lane>> lanes_;
    std::vector<std::deque<lane*>> free_;  // by kind
    std::deque<std::uint64_t> seeds_;
    std::function<script(std::uint64_t)> script_of_;
    std::function<void()> done_;
    std::size_t running_ = 0;
    std::vector<tally> tallies_;
    std::vector<violation> violations_;
};

}  // namespace culvert::faults
