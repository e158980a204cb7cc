#include "bench/options.hpp"

#include <boost/program_options.hpp>
#include <sstream>

#include "bench/html/page.hpp"
#include "bench/option_reader.hpp"
#include "config/connect.hpp"
#include "config/key_file.hpp"
#include "config/key_text.hpp"

namespace culvert::load {
namespace {

namespace po = boost::program_options;
using config::quote;

constexpr const char* usage =
    "culvert-load measures what carries bytes, and checks every byte of them.\n"
    "\n"
    "  culvert-load serve [echo|sink|source] [HOST:]PORT|unix:PATH\n"
    "      A backend. Without a word it does what each connection asks for, and checks it;\n"
    "      echo, sink and source serve clients other than culvert-load.\n"
    "  culvert-load bulk     streams as fast as they go\n"
    "  culvert-load latency  requests and answers, in a closed loop or at a fixed rate\n"
    "  culvert-load churn    connections of one request each, one after the other\n"
    "  culvert-load idle     connections that are held open\n"
    "  culvert-load report --output FILE.html RESULT.json ...\n"
    "      Runs side by side, as plots and ratios: an HTML page of what --json has told.\n"
    "\n"
    "bulk, latency, churn and idle want --to HOST:PORT or --connect tcp://HOST:PORT, with "
    "`culvert-load "
    "serve`\n"
    "behind it. `culvert-load COMMAND --help` shows the options.\n"
    "\n"
    "Exit status: 0 all well; 1 a connection failed, or wrong data; 2 wrong command line.\n";

constexpr std::uint64_t most_threads = 256;
constexpr std::uint64_t most_connections = 100'000;
constexpr std::uint64_t highest_rate = 10'000'000;
constexpr std::uint64_t largest_write = std::uint64_t{1} << 30;

void add_threads(po::options_description& table) {
    table.add_options()("threads", text("N"), "threads, each with its share of connections [1]");
    table.add_options()("quiet", "nothing on stderr but errors");
    table.add_options()("help", "this text");
}

po::options_description destination_table() {
    po::options_description table("Where to");
    auto add = table.add_options();
    add("to", text("HOST:PORT|unix:PATH"), "a plaintext entry");
    add("connect", text("tcp://HOST:PORT|ws://HOST:PORT/PATH"),
        "a culvert server, whose client this program is then");
    add("psk", text("FILE"), "with --connect: the secret that both ends share");
    add("identity", text("FILE"), "with --connect: private key of this end");
    add("server-key", text("KEY"), "with --identity: the server's public key");
    add("service", text("NAME"), "with --connect: the service wanted [the server's default]");
    add("realm", text("TEXT"), "with --psk alone: the realm of both ends");
    add("raw", "the backend is a foreign echo service, without culvert-load's request and verdict");
    return table;
}

po::options_description load_table(mode of) {
    po::options_description table("What to do");
    auto add = table.add_options();
    add("connections", text("N"), of == mode::idle ? "connections [1000]" : "connections [1]");
    add("size", text("BYTES"),
        of == mode::bulk ? "bytes of each write, as 64K or 1M [256K]" : "bytes of a request [1]");
    add("duration", text("TIME"), "as 500ms, 10s or 2m [10s]");
    if (of != mode::idle)
        add("warm-up", text("TIME"), "goes before the duration, and does not count [none]");
    add("marks",
        "a line \"begin\" and a line \"end\" on stderr at the moments between which is measured");
    add("grace", text("TIME"), "for what is under way when the duration is over [10s]");
    add("json", "the result as one JSON object");
    add("report", text("FILE.html"), "the result with plots, as a page for a browser");
    if (of == mode::bulk) {
        add("direction", text("up|down|both"), "both: up, and echoed back [up; with --raw both]");
        add("bytes", text("BYTES"), "of each connection; then no duration unless given");
    }
    if (of == mode::latency) {
        add("reply-size", text("BYTES"), "bytes of an answer [the same as --size]");
        add("rate", text("N"),
            "requests a second, of all connections together; times count from when a request was "
            "due. Without it: each as soon as the answer before it is there");
    }
    add_threads(table);
    return table;
}

// ---- destination ----

config::client_settings read_tunnel(const option_reader& given) {
    config::client_settings to;
    to.connect = {given.required("connect", config::parse_connect)};
    to.keys.psk = given.optional("psk", config::read_secret_key);
    to.keys.identity = given.optional("identity", config::read_secret_key);
    if (given.has("server-key"))
        to.server_key = given.required("server-key", config::parse_public_key);
    to.service = given.value("service", config::parse_name, std::string());
    to.keys.realm = given.text_of("realm");
    return to;
}

void check_keys(const option_reader& given) {
    const bool is_static = given.has("identity");
    if (!is_static && !given.has("psk"))
        throw usage_error("--connect needs --psk FILE, or --identity FILE and --server-key KEY");
    if (is_static != given.has("server-key"))
        throw usage_error("--identity and --server-key need each other");
    if (is_static && given.has("realm"))
        throw usage_error(
            "--realm is for --psk alone: with --identity, the keys tell servers apart");
    if (given.text_of("realm").size() > 255) throw usage_error("--realm is longer than 255 bytes");
}

destination read_destination(const option_reader& given) {
    if (given.has("to") == given.has("connect"))
        throw usage_error("one of --to HOST:PORT and --connect tcp://HOST:PORT is needed");
    destination to;
    to.raw = given.has("raw");
    if (given.has("connect")) {
        check_keys(given);
        to.tunnel = read_tunnel(given);
        return to;
    }
    for (const char* name : {"psk", "identity", "server-key", "service", "realm"})
        if (given.has(name)) throw usage_error(std::string("--") + name + " needs --connect");
    to.plain = given.required("to", parse_target);
    return to;
}

// ---- the four modes ----

direction read_direction(const option_reader& given, bool raw) {
    const config::choices<direction> known{
        {"up", direction::up}, {"down", direction::down}, {"both", direction::both}};
    const auto parse = [&](const std::string& text) { return config::parse_choice(text, known); };
    const auto chosen = given.value("direction", parse, raw ? direction::both : direction::up);
    if (raw && chosen != direction::both)
        throw usage_error("--raw is for echo services: --direction both");
    return chosen;
}

void read_bulk(const option_reader& given, plan& into) {
    into.direction = read_direction(given, into.to.raw);
    into.bytes = given.value("bytes", parse_size, unbounded);
    if (given.has("bytes") && into.in_part())
        throw usage_error("--bytes is for whole runs: no --warm-up, no --marks");
    if (given.has("bytes") && !given.has("duration")) into.duration = std::chrono::hours{24};
}

void read_latency(const option_reader& given, plan& into) {
    into.rate = given.value("rate", count_to(highest_rate), std::uint64_t{0});
    if (into.rate > 0 && into.in_part())
        throw usage_error("--rate is for whole runs: no --warm-up, no --marks");
    into.reply_size = given.value("reply-size", parse_size, into.size);
    if (into.to.raw && into.reply_size != into.size)
        throw usage_error("--raw is for echo services: no --reply-size");
}

plan read_plan(mode of, const option_reader& given) {
    plan out;
    out.mode = of;
    out.to = read_destination(given);
    out.size = given.value("size", parse_size, of == mode::bulk ? std::uint64_t{262'144} : 1);
    if (out.size > largest_write) throw usage_error("--size: more than 1G");
    out.connections = static_cast<unsigned>(
        given.value("connections", count_to(most_connections), of == mode::idle ? 1'000 : 1));
    out.threads = static_cast<unsigned>(given.value("threads", count_to(most_threads), 1));
    if (out.threads > out.connections)
        throw usage_error("--threads: there are only " + std::to_string(out.connections) +
                          " connections to share among them");
    out.duration = given.value("duration", parse_duration, milliseconds{10'000});
    out.warm_up = given.value("warm-up", parse_duration, milliseconds{0});
    out.grace = given.value("grace", parse_duration, milliseconds{10'000});
    out.json = given.has("json");
    out.report = given.text_of("report");
    out.marks = given.has("marks");
    out.quiet = given.has("quiet");
    if (of == mode::bulk) read_bulk(given, out);
    if (of == mode::latency) read_latency(given, out);
    return out;
}

// As a shell would have to be told it.
std::string shell_word(const std::string& word) {
    constexpr auto plain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%[]";
    if (!word.empty() && word.find_first_not_of(plain) == word.npos) return word;
    std::string quoted = "'";
    for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

std::string help(const std::string& synopsis, const std::vector<po::options_description>& tables) {
    std::ostringstream text;
    text << synopsis << '\n';
    for (const auto& table : tables) text << '\n' << table;
    return text.str();
}

command parse_run(mode of, const std::vector<std::string>& words) {
    const po::options_description destination = destination_table();
    const po::options_description load = load_table(of);
    po::options_description all;
    all.add(destination).add(load);
    const option_reader given(words, all, 0);
    if (given.has("help"))
        return show_help{
            help(std::string("culvert-load ") + text_of(of) + " [options]", {destination, load})};
    plan out = read_plan(of, given);
    out.command = std::string("culvert-load ") + text_of(of);
    for (const std::string& word : words) out.command += ' ' + shell_word(word);
    return out;
}

// ---- report ----

command parse_report(const std::vector<std::string>& words) {
    po::options_description table("Options");
    table.add_options()("output", text("FILE.html"), "where the page goes");
    table.add_options()("help", "this text");
    const option_reader given(words, table, html::most_runs);
    if (given.has("help"))
        return show_help{
            help("culvert-load report --output FILE.html RESULT.json ...\n"
                 "Results are what --json has told, up to 8 of them; the first is what "
                 "the others are\ncompared with.",
                 {table})};
    report_plan out{given.free_words(), given.text_of("output")};
    if (out.results.empty())
        throw usage_error(
            "a report of what? culvert-load report --output FILE.html RESULT.json ...");
    if (out.output.empty()) throw usage_error("--output FILE.html is needed");
    return out;
}

// ---- serve ----

command parse_serve(const std::vector<std::string>& words) {
    po::options_description table("Options");
    add_threads(table);
    const option_reader given(words, table, 2);
    const auto& free = given.free_words();
    if (given.has("help"))
        return show_help{
            help("culvert-load serve [echo|sink|source] [HOST:]PORT|unix:PATH\n"
                 "On SIGUSR1 it tells on stderr how many bytes it has received and sent so far.",
                 {table})};
    if (free.empty()) throw usage_error("serve where? culvert-load serve 127.0.0.1:7000");
    serve_plan out;
    if (free.size() == 2) {
        const config::choices<kind> known{
            {"echo", kind::echo}, {"sink", kind::sink}, {"source", kind::source}};
        out.fixed = or_throw("serve", config::parse_choice(free.front(), known));
    }
    out.listen = or_throw("serve", parse_listen_any_port(free.back()));
    out.threads = static_cast<unsigned>(given.value("threads", count_to(most_threads), 1));
    out.quiet = given.has("quiet");
    return out;
}

}  // namespace

command parse_command_line(const std::vector<std::string>& words) {
    if (words.empty()) throw usage_error(usage);
    const std::string& name = words.front();
    const std::vector<std::string> rest(words.begin() + 1, words.end());
    if (name == "--help" || name == "help" || name == "-h") return show_help{usage};
    if (name == "serve") return parse_serve(rest);
    if (name == "report") return parse_report(rest);
    for (const mode of : {mode::bulk, mode::latency, mode::churn, mode::idle})
        if (name == text_of(of)) return parse_run(of, rest);
    throw usage_error(
        "unknown command " + quote(name) +
        config::did_you_mean(name, {"serve", "bulk", "latency", "churn", "idle", "report"}) +
        " (accepted: serve, bulk, latency, churn, idle, report)");
}

}  // namespace culvert::load
