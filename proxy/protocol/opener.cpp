#include "proxy/protocol/opener.hpp"

#include <algorithm>
#include <cassert>

namespace culvert::protocol {
namespace {

bool is_name_byte(std::uint8_t c) noexcept {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
}

}  // namespace

opener::opener(epoch_keys keys, role receiver)
    : cipher_(std::move(keys)), receiver_(receiver), opened_(false) {}

opener::progress opener::feed(bytes piece, std::span<opened_record> out) {
    progress done;
    while (fault_ == error::none && !alerted_ && done.consumed < piece.size() &&
           done.records < out.size()) {
        const bytes rest = piece.subspan(done.consumed);
        if (held_ < header_size) {
            done.consumed += take_header(rest);
            continue;
        }
        const record_header header = header_;
        const std::size_t taken = take_rest(rest);
        done.consumed += taken;
        if (held_ == 0)
            out[done.records++] = {
                static_cast<record_type>(header.type),
                bytes(rest.data() + taken - tag_size - header.length, header.length)};
    }
    if (alerted_) done.consumed = piece.size();
    done.fault = fault_;
    return done;
}

std::size_t opener::wanted() const noexcept {
    if (held_ < header_size) return header_size - held_;
    return end_of_payload() + tag_size - held_;
}

error opener::at_eof(bool ours_ended) const noexcept {
    return ended_ && ours_ended ? error::none : error::truncated;
}

std::size_t opener::take_header(bytes piece) {
    const std::size_t taken = std::min(header_size - held_, piece.size());
    held_ += taken;
    if (held_ < header_size) return taken;
    const block<header_size> head(piece.data() + taken - held_, header_size);
    fault_ = read_header(head);
    if (fault_ != error::none) crypto::wipe(head);
    return taken;
}

// Only the length is judged here. Any other fault waits for the tag: an error before it would tell
// an attacker who flips bits what kind of record this is.
error opener::read_header(block<header_size> head) {
    if (cipher_.exhausted()) return error::record_counter;
    cipher_.mask(head);
    header_ = record_header::read(head);
    const std::size_t longest = awaiting_open() ? max_service_name : max_payload;
    return header_.length > longest ? error::record_too_long : error::none;
}

// What follows the header, as far as it has come. Whole, it is opened in one go.
std::size_t opener::take_rest(bytes piece) {
    const std::size_t taken = std::min(end_of_record() - held_, piece.size());
    const bytes record(piece.data() - held_, held_ + taken);
    const bool in_one_go = held_ == header_size && record.size() == end_of_record();
    if (!in_one_go) take_text(record.first(std::min(end_of_payload(), record.size())));
    held_ = record.size();
    if (held_ < end_of_record()) return taken;

    const auto tag = record.last<tag_size>();
    if (in_one_go) {
        const auto head = record.first<header_size>();
        finish_record(record, cipher_.open(head, record.subspan(header_size, header_.length), tag));
    } else {
        const auto cipher = std::move(decryptor_);
        finish_record(record, std::move(*cipher).finish(tag));
    }
    return taken;
}

// Decrypts what is new in `record`, which ends where the payload does, or before.
void opener::take_text(bytes record) {
    if (!decryptor_) decryptor_ = cipher_.begin_opening(record.first<header_size>());
    if (record.size() <= held_) return;
    const bytes text = record.subspan(held_);
    [[maybe_unused]] const auto status = decryptor_->update(text, text);
    assert(status == crypto::status::ok);
}

void opener::finish_record(bytes record, bool verified) {
    const bytes payload = record.subspan(header_size, header_.length);
    fault_ = verified ? judge(payload) : error::record_tag;
    if (fault_ != error::none) {
        crypto::wipe(record);
        return;
    }
    held_ = 0;
    confirmed_ = true;
    cipher_.next_record();
    if (header_.rekey) {
        cipher_.next_epoch();
        ++epoch_;
    }
}

// The table of PROTOCOL.md section 7, and the change of state that a good record brings.
error opener::judge(bytes payload) {
    if (header_.reserved) return error::record_flag;
    switch (static_cast<record_type>(header_.type)) {
        case record_type::data:
            if (!opened_ || ended_) return error::record_order;
            return payload.empty() ? error::record_length : error::none;
        case record_type::end:
            if (!opened_ || ended_) return error::record_order;
            if (!payload.empty()) return error::record_length;
            ended_ = true;
            return error::none;
        case record_type::pad:
            return error::none;
        case record_type::alert:
            if (payload.size() != 1) return error::record_length;
            if (header_.rekey) return error::record_flag;
            alerted_ = true;
            return error::none;
        case record_type::open:
            return judge_open(payload);
    }
    return error::record_type;
}

error opener::judge_open(bytes name) {
    if (!awaiting_open()) return error::record_order;
    const auto allowed = [](std::uint8_t c) { return is_name_byte(c) || c == ':'; };
    if (!std::all_of(name.begin(), name.end(), allowed)) return error::service_name;
    opened_ = true;
    return error::none;
}

}  // namespace culvert::protocol
