// What may be said again on another session, and what may not.
#include "proxy/relay/kept_stream.hpp"

#include <doctest/doctest.h>

#include "tests/proxy/peer.hpp"

using namespace culvert::tests;
using culvert::protocol::alert;
using culvert::protocol::record_type;
using culvert::relay::end_reason;
using culvert::relay::kept_stream;
using culvert::relay::session_end;

namespace {

const session_end lost(end_reason::tunnel_lost);
const session_end told(end_reason::alerted);

void receive_alert(kept_stream& kept, alert code) {
    kept.received(record_type::alert, octets{static_cast<std::uint8_t>(code)});
}

}  // namespace

TEST_SUITE("kept stream") {
    TEST_CASE("lost before the application has said a word: another session may be used") {
        kept_stream kept;
        CHECK(kept.may_begin_anew(lost));
        kept.received(record_type::pad, {});  // sent before OPEN came, maybe
        CHECK(kept.may_begin_anew(lost));
        CHECK(kept.bytes().empty());
    }

    TEST_CASE("lost after a byte, or after the end: never again") {
        kept_stream spoken;
        spoken.sent(octets_of_text("GET"));
        CHECK_FALSE(spoken.may_begin_anew(lost));
        kept_stream ended;
        ended.sent_end();
        CHECK_FALSE(ended.may_begin_anew(lost));
    }

    TEST_CASE("not opened, says the server: all of it again") {
        kept_stream kept;
        kept.sent(octets_of_text("GET "));
        octets more = octets_of_text("/ and what is not sent");
        std::vector<iovec> parts{{more.data(), 1}, {more.data() + 1, more.size() - 1}};
        kept.sent(parts, 5);
        kept.sent_end();
        receive_alert(kept, alert::not_opened);
        CHECK(kept.may_begin_anew(told));
        CHECK(kept.bytes() == "GET / and");
    }

    TEST_CASE("any other word of the server is final") {
        for (const alert code : {alert::backend_unreachable, alert::backend_reset, alert::timeout,
                                 alert::shutdown, alert::refused}) {
            kept_stream kept;
            receive_alert(kept, code);
            CHECK_FALSE(kept.may_begin_anew(told));
        }
    }

    TEST_CASE("what is wrong, silent or too old is not tried again") {
        const kept_stream kept;
        for (const end_reason why :
             {end_reason::bad_record, end_reason::dead_peer, end_reason::application_reset,
              end_reason::idle, end_reason::too_old, end_reason::shutdown})
            CHECK_FALSE(kept.may_begin_anew(session_end(why)));
    }

    TEST_CASE("once the service has answered nothing is kept, and nothing said again") {
        for (const record_type type : {record_type::data, record_type::end}) {
            kept_stream kept;
            kept.sent(octets_of_text("GET"));
            kept.received(type, {});
            CHECK(kept.answered());
            kept.sent(octets_of_text("more"));
            CHECK(kept.bytes().empty());
            receive_alert(kept, alert::not_opened);
            CHECK_FALSE(kept.may_begin_anew(told));
            CHECK_FALSE(kept.may_begin_anew(lost));
        }
    }

    TEST_CASE("a long stream is not kept") {
        kept_stream kept;
        kept.sent(octets(kept_stream::most, 1));
        CHECK(kept.bytes().size() == kept_stream::most);
        receive_alert(kept, alert::not_opened);
        CHECK(kept.may_begin_anew(told));
        kept.sent(octets(1, 1));
        CHECK(kept.bytes().empty());
        CHECK_FALSE(kept.may_begin_anew(told));
    }
}
