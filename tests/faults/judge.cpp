#include "tests/faults/judge.hpp"

namespace culvert::faults {
namespace {

// What is wrong with the stream from `writer` to `reader`; empty when nothing is.
std::string wrong_with(const end_report& reader, const end_report& writer) {
    if (reader.first_wrong)
        return "byte " + std::to_string(*reader.first_wrong) + " is not what was written";
    if (reader.read > writer.written)
        return std::to_string(reader.read) + " bytes came, " + std::to_string(writer.written) +
               " were written";
    switch (reader.saw) {
        case seen_end::nothing:
            return "no end was seen within the deadline";
        case seen_end::other:
            return "the end is neither clean nor a reset: " + reader.error;
        case seen_end::reset:
        case seen_end::left:
            return {};
        case seen_end::clean:
            break;
    }
    if (!writer.ended) return "a clean end of a stream that never ended";
    if (reader.read < writer.written)
        return "a clean end after " + std::to_string(reader.read) + " of " +
               std::to_string(writer.written) + " bytes";
    return {};
}

bool whole(const end_report& reader, const end_report& writer, std::uint64_t size) {
    return reader.saw == seen_end::clean && writer.ended && writer.written == size;
}

outcome classify(const script& what, const end_report& app, const end_report& service) {
    if (what.app.leaves || what.service.leaves) return outcome::left;
    const bool up = whole(service, app, what.app.send);
    const bool down = whole(app, service, what.service.send);
    if (up && down) return outcome::clean;
    if (up || down) return outcome::half;
    return app.read + service.read > 0 ? outcome::reset_in_transfer : outcome::reset_at_once;
}

}  // namespace

verdict judge(const script& what, bool harmed, const end_report& app,
              const std::optional<end_report>& service) {
    const auto violated = [](std::string why) {
        return verdict{outcome::violation, std::move(why)};
    };
    end_report unreached;
    unreached.saw = seen_end::reset;
    const end_report& other = service ? *service : unreached;
    if (std::string why = wrong_with(app, other); !why.empty())
        return violated("the application: " + why);
    if (std::string why = wrong_with(other, app); !why.empty())
        return violated("the service: " + why);
    const outcome is = classify(what, app, other);
    if (!harmed && !what.app.leaves && !what.service.leaves && is != outcome::clean)
        return violated("no fault, and yet a stream was not whole");
    return {is, {}};
}

const char* text_of(outcome which) noexcept {
    switch (which) {
        case outcome::clean:
            return "clean";
        case outcome::half:
            return "half";
        case outcome::reset_in_transfer:
            return "reset_in_transfer";
        case outcome::reset_at_once:
            return "reset_at_once";
        case outcome::left:
            return "left";
        case outcome::violation:
            return "violation";
    }
    return "?";
}

}  // namespace culvert::faults
