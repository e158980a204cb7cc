// culvert-load: a load client, and the backend that it talks to.
#include <fmt/format.h>
#include <sys/resource.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/json/serialize.hpp>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <functional>
#include <iostream>

#include "bench/html/page.hpp"
#include "bench/options.hpp"
#include "bench/report.hpp"
#include "bench/run.hpp"
#include "config/quote.hpp"

namespace {

using namespace culvert::load;
using culvert::config::quote;

enum exit_status { all_well = 0, went_wrong = 1, wrong_usage = 2 };

// Many connections are many files; what the system allows is the user's to use.
void allow_many_files() noexcept {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

// SIGUSR1 asks for a line; the others end it.
void serve_until_signal(const served& counts) {
    boost::asio::io_context context;
    boost::asio::signal_set ends(context, SIGINT, SIGTERM);
    boost::asio::signal_set asks(context, SIGUSR1);
    ends.async_wait([&](const boost::system::error_code&, int) { context.stop(); });
    const std::function<void()> await_ask = [&] {
        asks.async_wait([&](const boost::system::error_code& ec, int) {
            if (ec) return;
            std::cerr << fmt::format("so far {} bytes received, {} sent", counts.received.load(),
                                     counts.sent.load())
                      << std::endl;
            await_ask();
        });
    };
    await_ask();
    context.run();
}

int execute(const show_help& help) {
    std::cout << help.text;
    return all_well;
}

int execute(const serve_plan& plan) {
    const backend running(plan);
    std::cerr << "listening on " << running.address().text() << std::endl;
    const served& counts = running.served();
    serve_until_signal(counts);
    if (!plan.quiet)
        std::cerr << fmt::format("served {} connections: {} received, {} sent, {} wrong\n",
                                 counts.connections.load(), size_text(counts.received),
                                 size_text(counts.sent), counts.wrong.load());
    return counts.wrong == 0 ? all_well : went_wrong;
}

// Finds out before a long run whether its report can be written; what is there stays.
void check_writable(const std::string& file) {
    if (!std::ofstream(file, std::ios::app))
        throw usage_error("--report: " + quote(file) + ": " + std::strerror(errno));
}

void write_page(const std::string& file, const std::vector<html::record>& runs) {
    std::ofstream out(file, std::ios::trunc);
    out << html::page(runs) << std::flush;
    if (!out)
        throw failure(failure_kind::connection,
                      "cannot write " + quote(file) + ": " + std::strerror(errno));
}

int execute(const report_plan& what) {
    std::vector<html::record> runs;
    try {
        for (const std::string& file : what.results)
            runs.push_back(html::read_record(std::filesystem::path(file)));
    } catch (const html::bad_record& error) {
        throw usage_error(error.what());
    }
    write_page(what.output, runs);
    return all_well;
}

int execute(const plan& what) {
    if (!what.report.empty()) check_writable(what.report);
    const outcome found = run(what);
    const boost::json::object result = json(what, found);
    if (!what.report.empty())
        write_page(what.report, {html::read_record(result, text_of(what.mode))});
    if (what.json)
        std::cout << result << '\n';
    else
        std::cout << table(what, found);
    if (what.json || what.quiet)
        for (const auto& [reason, times] : found.failures.reasons())
            std::cerr << fmt::format("culvert-load: {} x {}\n", times, reason);
    return succeeded(found) ? all_well : went_wrong;
}

}  // namespace

int main(int argc, char** argv) {
    allow_many_files();
    try {
        const command wanted = parse_command_line({argv + 1, argv + argc});
        return std::visit([](const auto& what) { return execute(what); }, wanted);
    } catch (const usage_error& error) {
        std::cerr << "culvert-load: " << error.what() << '\n';
        return wrong_usage;
    } catch (const failure& error) {
        std::cerr << "culvert-load: " << error.what() << '\n';
        return went_wrong;
    }
}
