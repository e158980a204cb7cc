// culvert-faults: drives connections through a tunnel whose network is at fault, and holds the
// tunnel to what it promises its applications.
#include <fmt/format.h>
#include <sys/resource.h>

#include <boost/asio/io_context.hpp>
#include <boost/json.hpp>
#include <boost/program_options.hpp>
#include <iostream>

#include "tests/faults/arena.hpp"
#include "tests/faults/random_script.hpp"

namespace {

using namespace culvert::faults;
namespace options = boost::program_options;
namespace json = boost::json;

enum exit_status { all_well = 0, went_wrong = 1, wrong_usage = 2 };

struct plan {
    arena_plan arena;
    std::uint64_t first = 0;
    std::uint64_t count = 1;
    std::optional<script> fixed;
    bool show = false;
};

options::options_description described() {
    options::options_description all("culvert-faults");
    auto add = all.add_options();
    add("help", "this text");
    add("seed", options::value<std::uint64_t>()->default_value(0), "the first seed");
    add("count", options::value<std::uint64_t>()->default_value(1), "how many seeds, one by one");
    add("script", options::value<std::string>(), "run this script for every seed");
    add("show", "print the scripts of the seeds, and run nothing");
    add("first-lane", options::value<std::size_t>()->default_value(0), "number of the first lane");
    add("lanes", options::value<std::size_t>()->default_value(64), "lanes; see arena.hpp");
    add("at-once", options::value<std::size_t>()->default_value(32), "connections at a time");
    add("entry", options::value<std::uint16_t>()->default_value(0), "port of the client's entries");
    add("network", options::value<std::uint16_t>()->default_value(0), "port of the network");
    add("service", options::value<std::uint16_t>()->default_value(0), "port of the services");
    add("server", options::value<std::vector<std::uint16_t>>()->composing(),
        "port of a server on 127.0.0.1; lane i has the (i mod how many there are)th");
    add("others-harm", "ends are stopped and started meanwhile: no reset is a violation");
    add("deadline", options::value<unsigned>()->default_value(60),
        "seconds after which a connection counts as hanging");
    return all;
}

plan read_plan(const options::variables_map& said) {
    plan out;
    out.first = said["seed"].as<std::uint64_t>();
    out.count = said["count"].as<std::uint64_t>();
    out.show = said.count("show") > 0;
    out.arena.first_lane = said["first-lane"].as<std::size_t>();
    out.arena.lanes = said["lanes"].as<std::size_t>();
    out.arena.at_once = said["at-once"].as<std::size_t>();
    out.arena.entry = said["entry"].as<std::uint16_t>();
    out.arena.network = said["network"].as<std::uint16_t>();
    out.arena.service = said["service"].as<std::uint16_t>();
    out.arena.deadline = std::chrono::seconds(said["deadline"].as<unsigned>());
    out.arena.others_harm = said.count("others-harm") > 0;
    if (said.count("server") > 0) {
        for (const std::uint16_t port : said["server"].as<std::vector<std::uint16_t>>())
            out.arena.servers.emplace_back(asio::ip::address_v4::loopback(), port);
    }
    if (said.count("script") > 0) {
        std::string mistake;
        out.fixed = parse_script(said["script"].as<std::string>(), &mistake);
        if (!out.fixed) throw options::error("script: " + mistake);
    }
    return out;
}

json::object summary(const tally& of) {
    json::object out;
    for (std::size_t i = 0; i < outcomes; ++i) out[text_of(static_cast<outcome>(i))] = of.runs[i];
    json::object faults;
    for (const auto& [name, count] : of.faults) faults[name] = count;
    out["faults"] = faults;
    out["bytes"] = of.bytes;
    out["longest_ms"] = of.longest.count();
    out["longest_seed"] = of.longest_seed;
    return out;
}

json::object summary(const arena& after) {
    json::array kinds;
    for (const tally& of : after.tallies()) kinds.push_back(summary(of));
    json::array violations;
    for (const violation& of : after.violations())
        violations.push_back(json::object{
            {"seed", of.seed}, {"kind", of.kind}, {"script", of.script}, {"why", of.why}});
    return {{"kinds", kinds}, {"violations", violations}};
}

int run_plan(const plan& from) {
    const auto script_of = [&from](std::uint64_t seed) {
        return from.fixed ? *from.fixed : random_script(seed);
    };
    std::vector<std::uint64_t> seeds;
    for (std::uint64_t i = 0; i < from.count; ++i) seeds.push_back(from.first + i);
    if (from.show) {
        for (const std::uint64_t seed : seeds)
            std::cout << seed << ": " << text_of(script_of(seed)) << "\n";
        return all_well;
    }
    asio::io_context context(1);
    arena field(context, from.arena);
    field.run_all(std::move(seeds), script_of, [&context] { context.stop(); });
    context.run();
    for (const violation& of : field.violations())
        std::cerr << fmt::format("seed {} (kind {}): {}\n    {}\n", of.seed, of.kind, of.why,
                                 of.script);
    std::cout << json::serialize(summary(field)) << std::endl;
    return field.violations().empty() ? all_well : went_wrong;
}

void allow_many_files() noexcept {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

int main(int argc, char** argv) {
    const auto known = described();
    try {
        options::variables_map said;
        options::store(options::parse_command_line(argc, argv, known), said);
        options::notify(said);
        if (said.count("help") > 0) {
            std::cout << known;
            return all_well;
        }
        allow_many_files();
        return run_plan(read_plan(said));
    } catch (const options::error& wrong) {
        std::cerr << "culvert-faults: " << wrong.what() << "\n";
        return wrong_usage;
    } catch (const std::exception& failed) {
        std::cerr << "culvert-faults: " << failed.what() << "\n";
        return went_wrong;
    }
}
