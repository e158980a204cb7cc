// opener: a stranger's bytes, and records that are sealed as they should be but break every other
// rule. A model of PROTOCOL.md section 7 says what must come out; how the stream is cut is of no
// consequence.
#include <optional>

#include "tests/fuzz/records.hpp"

namespace culvert::fuzz {
namespace {

struct sealed_record {
    std::uint8_t first_byte = 0;
    buffer payload;
    std::size_t declared = 0;  // a larger size in a header that nothing follows
};

// The rules behind the tag.
class model {
  public:
    model(role receiver, bool open_was_sent) : receiver_(receiver), opened_(open_was_sent) {}

    error judge(const sealed_record& r) {
        const bool awaiting_open = receiver_ == role::server && !opened_;
        if (r.declared > (awaiting_open ? 255 : 65'536)) return error::record_too_long;
        if ((r.first_byte & 0x70) != 0) return error::record_flag;
        const std::size_t size = r.payload.size();
        switch (r.first_byte & 0x0f) {
            case 0:
                if (!opened_ || ended_) return error::record_order;
                return size == 0 ? error::record_length : error::none;
            case 1:
                if (!opened_ || ended_) return error::record_order;
                ended_ = size == 0;
                return ended_ ? error::none : error::record_length;
            case 2:
                return error::none;
            case 3:
                if (size != 1) return error::record_length;
                alerted_ = r.first_byte < 0x80;
                return alerted_ ? error::none : error::record_flag;
            case 4:
                if (!awaiting_open) return error::record_order;
                opened_ = std::all_of(r.payload.begin(), r.payload.end(), is_allowed);
                return opened_ ? error::none : error::service_name;
            default:
                return error::record_type;
        }
    }
    [[nodiscard]] bool alerted() const { return alerted_; }

  private:
    static bool is_allowed(std::uint8_t c) {
        static const std::string all =
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-:";
        return all.find(static_cast<char>(c)) != all.npos;
    }

    role receiver_;
    bool opened_;
    bool ended_ = false;
    bool alerted_ = false;
};

sealed_record draw_record(input& in) {
    sealed_record r;
    r.first_byte = in.flag() ? in.byte() : static_cast<std::uint8_t>(in.up_to(4));
    switch (in.up_to(31)) {
        case 1:
            r.declared = in.up_to(0xff'ffff);
            break;
        case 2:
            r.payload = in.message(65'536);
            break;
        case 3:
        case 4:
        case 5:
        case 6:
            r.payload = buffer(in.up_to(2), 'a');
            break;
        default:
            r.payload = in.message(300);
            break;
    }
    if (r.declared < r.payload.size()) r.declared = r.payload.size();
    return r;
}

struct receiving {
    role as = role::server;
    bool open_sent = false;

    [[nodiscard]] tests::receiver make(std::size_t batch) const {
        tests::receiver out(tests::traffic(), as, batch);
        if (open_sent) out.in.open_sent();
        return out;
    }
};

// A stream, what must come of it, and where its records end.
struct scenario {
    buffer stream;
    taken_in expected;
    std::vector<std::size_t> ends;  // of the records that must come out
    std::optional<buffer> secret;   // the payload of a record that fails
};

scenario draw_scenario(input& in, const receiving& how) {
    scenario made;
    tests::forger forger(tests::traffic());
    model rules(how.as, how.as == role::client && how.open_sent);
    for (std::size_t left = in.up_to(12); left-- > 0;) {
        const sealed_record r = draw_record(in);
        const bool alone = r.declared != r.payload.size();
        buffer bytes = alone ? forger.header(static_cast<record_type>(r.first_byte),
                                             static_cast<std::uint32_t>(r.declared))
                             : forger.record(r.first_byte, r.payload);
        const bool flipped = !alone && in.up_to(15) == 1;
        if (flipped) {  // behind the header
            bytes[4 + in.up_to(bytes.size() - 5)] ^= static_cast<std::uint8_t>(1U << in.up_to(7));
        }
        tests::append(made.stream, bytes);
        if (made.expected.fault != error::none || rules.alerted()) continue;
        error verdict = rules.judge(r);
        if (flipped && verdict != error::record_too_long) verdict = error::record_tag;
        if (alone && verdict != error::record_too_long) {  // it is waited for what was declared
            return made;
        }
        made.expected.fault = verdict;
        if (verdict != error::none) {
            made.secret = r.payload;
            continue;
        }
        made.expected.records.push_back({static_cast<record_type>(r.first_byte & 0x0f), r.payload});
        made.ends.push_back(made.stream.size());
    }
    return made;
}

// Byte by byte: each record comes with its last byte and not before.
void check_by_byte(const receiving& how, const scenario& s) {
    auto receiver = how.make(4);
    std::size_t due = 0;
    for (std::size_t i = 0; i < s.stream.size(); ++i) {
        const error fault = receiver.feed(bytes_view(s.stream).subspan(i, 1));
        if (due < s.ends.size() && s.ends[due] == i + 1) ++due;
        require(receiver.arrived.size() == due);
        require(fault == error::none || due == s.expected.records.size());
    }
    require(receiver.arrived == s.expected.records);
}

// What was decrypted of a record that failed has been wiped.
void check_wiped(const scenario& s, const buffer& memory) {
    if (!s.secret || s.secret->size() < 32) return;
    const buffer& secret = *s.secret;
    if (std::count(secret.begin(), secret.end(), secret[0]) == static_cast<long>(secret.size()))
        return;  // too plain a text to be told from others
    const auto holds = [&](const buffer& memory_of) {
        return std::search(memory_of.begin(), memory_of.end(), secret.begin(), secret.end()) !=
               memory_of.end();
    };
    const auto& good = s.expected.records;
    if (std::any_of(good.begin(), good.end(), [&](auto& a) { return holds(a.payload); })) return;
    require(!holds(memory));
}

void run_insider(input& in, const receiving& how) {
    const scenario s = draw_scenario(in, how);
    auto whole = how.make(1 + in.up_to(20));
    const error fault = whole.feed(s.stream);
    require(taken_in{whole.arrived, fault} == s.expected);
    check_wiped(s, whole.buffer);

    auto pieces = how.make(1 + in.up_to(20));
    require(take_in(in, pieces, s.stream) == s.expected);
    check_wiped(s, pieces.buffer);
    if (s.stream.size() <= 1'200) check_by_byte(how, s);
}

// Without the keys: nothing at all comes out.
void run_stranger(input& in, const receiving& how) {
    const buffer stream = in.message(4'000);
    auto whole = how.make(8), pieces = how.make(8);
    const taken_in got{whole.arrived, whole.feed(stream)};
    require(whole.arrived.empty() && pieces.arrived.empty());
    require(take_in(in, pieces, stream) == got);
    require(whole.in.at_eof(true) == error::truncated);
}

void run(input in) {
    receiving how;
    how.as = in.flag() ? role::client : role::server;
    how.open_sent = how.as == role::client && in.flag();
    if (in.up_to(7) == 0) {
        run_stranger(in, how);
    } else {
        run_insider(in, how);
    }
}

}  // namespace
}  // namespace culvert::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    culvert::fuzz::run({data, size});
    return 0;
}
