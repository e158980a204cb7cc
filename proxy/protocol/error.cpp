#include "proxy/protocol/error.hpp"

#include <string>

namespace culvert::protocol {
namespace {

const char* text_of(error e) noexcept {
    switch (e) {
        case error::none:
            return "no error";
        case error::bad_box:
            return "wrong key or not a culvert peer";
        case error::bad_field:
            return "handshake field out of range";
        case error::clock_skew:
            return "clocks too far apart";
        case error::replay:
            return "replayed first message";
        case error::unknown_client:
            return "client key not in the list";
        case error::weak_key:
            return "public key of low order";
        case error::record_too_long:
            return "record longer than allowed";
        case error::record_tag:
            return "record tag wrong";
        case error::record_type:
            return "record type unknown";
        case error::record_flag:
            return "record flag not allowed";
        case error::record_order:
            return "record not allowed at this point";
        case error::record_length:
            return "record length not allowed for its type";
        case error::record_counter:
            return "too many records in one epoch";
        case error::service_name:
            return "service name with a byte that is not allowed";
        case error::truncated:
            return "connection ended before the stream did";
    }
    return "unknown protocol error";
}

class category final : public boost::system::error_category {
    [[nodiscard]] const char* name() const noexcept override { return "culvert"; }
    [[nodiscard]] std::string message(int value) const override {
        return text_of(static_cast<error>(value));
    }
    [[nodiscard]] boost::system::error_condition default_error_condition(
        int value) const noexcept override {
        return make_error_condition(value < static_cast<int>(error::record_too_long)
                                        ? condition::handshake
                                        : condition::record);
    }
};

class conditions final : public boost::system::error_category {
    [[nodiscard]] const char* name() const noexcept override { return "culvert condition"; }
    [[nodiscard]] std::string message(int value) const override {
        return static_cast<condition>(value) == condition::handshake ? "handshake failed"
                                                                     : "record stream failed";
    }
};

}  // namespace

const boost::system::error_category& error_category() noexcept {
    static const category instance;
    return instance;
}

const boost::system::error_category& condition_category() noexcept {
    static const conditions instance;
    return instance;
}

}  // namespace culvert::protocol
