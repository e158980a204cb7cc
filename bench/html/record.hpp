// A run as `culvert-load --json` tells it: what a report is made from.
#pragma once

#include <boost/json/object.hpp>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/html/svg.hpp"
#include "bench/machine.hpp"

namespace culvert::load::html {

// What had been counted at a moment of the run.
struct sample {
    double at;  // seconds
    double sent;
    double received;
    double requests;
    double failures;
    double open;
};

struct record {
    std::string name;  // for the reader, to tell runs apart
    std::string mode;
    std::string command;
    std::string started;
    std::string version;
    load::machine machine;

    double seconds = 0;
    double bytes_sent = 0;
    double bytes_received = 0;
    double requests = 0;
    double not_sent = 0;
    double failures = 0;
    double cpu_seconds = 0;
    std::map<std::string, double> latency;  // µs: p50, p90, p99, p99.9, max
    std::map<std::string, double> errors;   // how often each came
    std::string integrity;

    double counted_from = 0;  // seconds, in the timeline
    std::vector<sample> timeline;
    std::vector<point> quantiles;   // x: share, y: µs
    std::vector<double> histogram;  // answers in each bucket
    double buckets_per_doubling = 1;
};

// What is no such result; says why.
struct bad_record : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Throws bad_record.
record read_record(const boost::json::object& told, std::string name);
record read_record(const std::filesystem::path& file);

}  // namespace culvert::load::html
