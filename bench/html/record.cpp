#include "bench/html/record.hpp"

#include <boost/json/parse.hpp>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "config/quote.hpp"

namespace culvert::load::html {
namespace {

namespace json = boost::json;
using config::quote;

// Results of a day take some hundred KiB.
constexpr std::uintmax_t largest_file = std::uintmax_t{64} << 20;

[[noreturn]] void refuse(std::string_view field, const char* what) {
    throw bad_record(std::string(what) + ' ' + quote(field));
}

const json::value& field_of(const json::object& in, std::string_view name) {
    const json::value* const found = in.if_contains(name);
    if (found == nullptr) refuse(name, "there is no");
    return *found;
}

double number(const json::value& value, std::string_view name) {
    if (!value.is_number()) refuse(name, "there is no number in");
    return value.to_number<double>();
}

double number(const json::object& in, std::string_view name) {
    const double value = number(field_of(in, name), name);
    if (value < 0) refuse(name, "there is a negative number in");
    return value;
}

std::string text(const json::object& in, std::string_view name) {
    const json::value& value = field_of(in, name);
    if (!value.is_string()) refuse(name, "there is no text in");
    return std::string(value.get_string());
}

const json::object& object(const json::object& in, std::string_view name) {
    const json::value& value = field_of(in, name);
    if (!value.is_object()) refuse(name, "there is no object in");
    return value.get_object();
}

std::vector<double> numbers(const json::value& in, std::string_view name) {
    if (!in.is_array()) refuse(name, "there is no array in");
    std::vector<double> out;
    for (const json::value& value : in.get_array()) {
        out.push_back(number(value, name));
        if (out.back() < 0) refuse(name, "there is a negative number in");
    }
    return out;
}

std::map<std::string, double> numbers_by_name(const json::object& in) {
    std::map<std::string, double> out;
    for (const auto& [name, value] : in) out[name] = number(value, name);
    return out;
}

// The columns are as long as each other, and what is counted never falls.
std::vector<sample> timeline_of(const json::object& in) {
    const auto column = [&](const char* name) { return numbers(field_of(in, name), name); };
    const auto at = column("seconds");
    const auto sent = column("bytes_sent");
    const auto received = column("bytes_received");
    const auto requests = column("requests");
    const auto failures = column("failures");
    const auto open = column("open");
    for (const auto* other : {&sent, &received, &requests, &failures, &open})
        if (other->size() != at.size()) refuse("timeline", "there are columns of two lengths in");
    std::vector<sample> out;
    for (std::size_t i = 0; i < at.size(); ++i) {
        if (i > 0 && at[i] <= at[i - 1]) refuse("timeline", "time does not rise in");
        out.push_back({at[i], sent[i], received[i], requests[i], failures[i], open[i]});
    }
    return out;
}

std::vector<point> quantiles_of(const json::value& in) {
    constexpr auto name = "latency_quantiles_us";
    if (!in.is_array()) refuse(name, "there is no array in");
    std::vector<point> out;
    for (const json::value& pair : in.get_array()) {
        const auto both = numbers(pair, name);
        if (both.size() != 2 || both[0] >= 1)
            refuse(name, "there is something else than shares in");
        out.push_back({both[0], both[1]});
    }
    return out;
}

machine machine_of(const json::object& in) {
    return {text(in, "processor"), static_cast<unsigned>(number(in, "processors")),
            static_cast<std::uint64_t>(number(in, "memory_bytes")), text(in, "kernel"),
            number(in, "load_before")};
}

std::string content_of(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::error_code unknown;
    if (std::filesystem::file_size(file, unknown) > largest_file && !unknown)
        throw bad_record("the file is too large");
    std::string all{std::istreambuf_iterator<char>(in), {}};
    if (!in.is_open() || in.bad()) throw bad_record(std::strerror(errno));
    return all;
}

}  // namespace

record read_record(const json::object& told, std::string name) {
    record out;
    out.name = std::move(name);
    out.mode = text(told, "mode");
    out.command = text(told, "command");
    out.started = text(told, "started");
    out.version = text(told, "version");
    out.machine = machine_of(object(told, "machine"));
    out.seconds = number(told, "seconds");
    out.bytes_sent = number(told, "bytes_sent");
    out.bytes_received = number(told, "bytes_received");
    out.requests = number(told, "requests");
    out.not_sent = number(told, "requests_not_sent");
    out.failures = number(told, "failures");
    out.cpu_seconds = number(told, "cpu_seconds");
    out.latency = numbers_by_name(object(told, "latency_us"));
    out.errors = numbers_by_name(object(told, "errors"));
    out.integrity = text(told, "integrity");
    out.counted_from = number(told, "counted_from_seconds");
    out.timeline = timeline_of(object(told, "timeline"));
    out.quantiles = quantiles_of(field_of(told, "latency_quantiles_us"));
    const json::object& histogram = object(told, "latency_histogram");
    out.histogram = numbers(field_of(histogram, "counts"), "counts");
    out.buckets_per_doubling = number(histogram, "buckets_per_doubling");
    if (out.buckets_per_doubling < 1) refuse("buckets_per_doubling", "there is no bucket in");
    return out;
}

record read_record(const std::filesystem::path& file) {
    try {
        boost::system::error_code ec;
        const json::value told = json::parse(content_of(file), ec);
        if (ec || !told.is_object()) throw bad_record("it is no JSON object");
        return read_record(told.get_object(), file.stem().string());
    } catch (const bad_record& error) {
        throw bad_record(quote(file.string()) +
                         " is no result of culvert-load --json: " + error.what());
    }
}

}  // namespace culvert::load::html
