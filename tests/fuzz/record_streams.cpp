// sealer into opener: what goes in comes out, however it is cut and whenever keys change; after one
// damage only what was sent before it.
#include <optional>

#include "tests/fuzz/records.hpp"

namespace culvert::fuzz {
namespace {

using namespace std::chrono_literals;

// A sender that does what it likes within the rules, and keeps what it sent.
class sender {
  public:
    sender(input& in, role as)
        : by_(tests::traffic(), as, {}, {.bytes = 1 + in.up_to(5'000), .time = 120s}) {
        if (as == role::client) open(in);
        for (std::size_t left = in.up_to(20); left-- > 0 && !alerted_;) step(in);
    }

    std::vector<buffer> records;  // sealed, one each
    std::vector<arrival> sent;
    [[nodiscard]] std::uint64_t epochs() const { return by_.epoch(); }
    [[nodiscard]] bool alerted() const { return alerted_; }

  private:
    void open(input& in) {
        if (in.flag()) put(record_type::pad, buffer(in.up_to(255)));
        static constexpr std::string_view letters = "redis.web_1-db:";
        buffer name(in.up_to(255));
        for (auto& c : name) c = static_cast<std::uint8_t>(letters[in.up_to(letters.size() - 1)]);
        put(record_type::open, name);
    }

    void step(input& in) {
        switch (in.up_to(9)) {
            case 0:
                now_ += std::chrono::seconds(in.up_to(200));
                break;
            case 1:
                by_.rekey_with_next();
                break;
            case 2:
                put(record_type::pad, in.message(2'000));
                break;
            case 3:
                if (!by_.ended()) put(record_type::end, {});
                break;
            case 4:
                if (in.up_to(3) == 0) {
                    put(record_type::alert, {in.byte()});
                    alerted_ = true;
                }
                break;
            case 5:
            case 6:
                if (!by_.ended()) put_run(in);
                break;
            default:
                if (!by_.ended()) put_data(in);
                break;
        }
    }

    void put(record_type type, const buffer& payload) {
        records.push_back(tests::sealed(by_, type, payload, now_));
        sent.push_back({type, payload});
    }
    void put_data(input& in) {
        buffer text = in.message(in.up_to(31) == 1 ? 65'535 : 1'999);
        text.push_back(1);
        put(record_type::data, text);
    }
    // Several records by one call, as the relay makes them.
    void put_run(input& in) {
        const std::size_t payload = 1 + in.up_to(1'500), full = in.up_to(3);
        const std::size_t last = 1 + in.up_to(payload - 1);
        buffer run;
        std::vector<std::size_t> sizes(full, payload);
        sizes.push_back(last);
        for (const std::size_t size : sizes) {
            buffer text = in.message(size);
            text.resize(size);
            sent.push_back({record_type::data, text});
            run.resize(run.size() + protocol::header_size);
            tests::append(run, text);
            run.resize(run.size() + protocol::tag_size);
        }
        by_.seal_data(run, payload, now_);
        std::size_t at = 0;
        for (const std::size_t size : sizes) {
            const bytes_view slot = bytes_view(run).subspan(at, size + protocol::record_overhead);
            records.push_back(copy(slot));
            at += slot.size();
        }
    }

    protocol::sealer by_;
    protocol::steady_time now_{};
    bool alerted_ = false;
};

buffer joined(const std::vector<buffer>& records) {
    buffer out;
    for (const buffer& r : records) tests::append(out, r);
    return out;
}

// Does one thing to the records; how many are still good afterwards. nullopt: nothing was done.
std::optional<std::size_t> damage(input& in, std::vector<buffer>& records) {
    if (records.empty()) return std::nullopt;
    const std::size_t at = in.up_to(records.size() - 1);
    buffer& hit = records[at];
    const auto place = records.begin() + static_cast<std::ptrdiff_t>(at);
    switch (in.up_to(4)) {
        case 0:
            hit[in.up_to(hit.size() - 1)] ^= static_cast<std::uint8_t>(1U << in.up_to(7));
            return at;
        case 1:
            records.erase(place);
            return at;
        case 2:
            records.insert(place, buffer(hit));
            return at + 1;
        case 3:
            if (at + 1 == records.size()) return std::nullopt;
            std::swap(hit, records[at + 1]);
            return at;
        default:  // a cut
            hit.resize(in.up_to(hit.size() - 1));
            records.resize(at + 1);
            return at;
    }
}

tests::receiver receiver_for(input& in, role sender) {
    const role receives = sender == role::client ? role::server : role::client;
    tests::receiver out(tests::traffic(), receives, 1 + in.up_to(30));
    if (receives == role::client) out.in.open_sent();
    return out;
}

void run(input in) {
    const role as = in.flag() ? role::client : role::server;
    sender from(in, as);
    auto good = receiver_for(in, as);
    require(take_in(in, good, joined(from.records)) == taken_in{from.sent, error::none});
    require(good.in.held() == 0 && good.in.epoch() == from.epochs());

    std::vector<buffer> records = from.records;
    const auto intact = damage(in, records);
    if (!intact) return;
    auto bad = receiver_for(in, as);
    const taken_in got = take_in(in, bad, joined(records));
    require(is_prefix(got.records, from.sent));
    // An ALERT is the last record: what stands behind it is not looked at.
    const bool after_alert = from.alerted() && *intact == from.sent.size();
    require(got.records.size() == *intact);
    if (after_alert || got.fault != error::none || bad.in.held() > 0) return;
    // All that is wrong is that the rest is missing: the end of the carrier tells, after END the
    // other direction would.
    const auto is_end = [](const arrival& a) { return a.type == record_type::end; };
    const bool ended = std::any_of(got.records.begin(), got.records.end(), is_end);
    require(bad.in.at_eof(true) == (ended ? error::none : error::truncated));
    require(bad.in.at_eof(false) == error::truncated);
}

}  // namespace
}  // namespace culvert::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    culvert::fuzz::run({data, size});
    return 0;
}
