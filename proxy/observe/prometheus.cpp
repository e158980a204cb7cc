#include "proxy/observe/prometheus.hpp"

#include <fmt/format.h>

#include <initializer_list>
#include <utility>

namespace culvert::observe {
namespace {

using labels = std::initializer_list<std::pair<const char*, std::string_view>>;

double unix_seconds(std::chrono::system_clock::time_point when) {
    return std::chrono::duration<double>(when.time_since_epoch()).count();
}

std::string escaped(std::string_view value) {
    std::string out;
    for (const char c : value) {
        if (c == '\\' || c == '"') out += '\\';
        if (c == '\n')
            out += "\\n";
        else
            out += c;
    }
    return out;
}

std::string in_braces(labels of) {
    std::string out;
    for (const auto& [name, value] : of)
        out += fmt::format("{}{}=\"{}\"", out.empty() ? "{" : ",", name, escaped(value));
    return out.empty() ? out : out + "}";
}

bool is_server(const section_status& of) noexcept {
    return of.about.what == section_info::kind::server;
}

// All series of a name have to stand together, behind its # lines.
class writer {
  public:
    explicit writer(const status& now) : now_(now) {}

    std::string write() && {
        process();
        sections();
        servers();
        clients();
        traffic();
        return std::move(out_);
    }

  private:
    void begin(std::string_view name, std::string_view type, std::string_view help) {
        name_ = name;
        out_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
    }
    template <class Number>
    void add(labels of, Number value, std::string_view suffix = "") {
        out_ += fmt::format("{}{}{} {}\n", name_, suffix, in_braces(of), value);
    }
    template <class Number>
    void single(std::string_view name, std::string_view type, std::string_view help, Number value) {
        begin(name, type, help);
        add({}, value);
    }

    template <class Write>
    void for_each(bool (*of)(const section_status&), Write write) {
        for (const section_status& one : now_.sections)
            if (of(one)) write(one, one.about.section());
    }
    template <class Write>
    void for_each_server(Write write) {
        for_each(is_server, write);
    }
    template <class Write>
    void for_each_client(Write write) {
        for_each([](const section_status& of) { return !is_server(of); }, write);
    }
    template <class Write>
    void for_each_section(Write write) {
        for_each([](const section_status&) { return true; }, write);
    }

    void process();
    void sections();
    void handshakes();
    void servers();
    void clients();
    void traffic();
    void traffic_of(std::string_view label, std::vector<traffic_status> section_status::*rows);

    const status& now_;
    std::string out_;
    std::string name_;
};

void writer::process() {
    begin("culvert_build_info", "gauge", "The program, and the protocol that it speaks.");
    add({{"version", now_.version}, {"protocol", now_.protocol}}, 1);
    begin("culvert_kernel_info", "gauge", "The kernel that is in use for each primitive.");
    for (const auto& [primitive, kernel] : now_.kernels)
        add({{"primitive", primitive}, {"kernel", kernel}}, 1);
    single("culvert_threads", "gauge", "Threads that carry connections.", now_.threads);
    single("culvert_ready", "gauge", "1 while new connections are taken.", now_.ready ? 1 : 0);
    single("culvert_draining", "gauge", "1 once the daemon has been told to stop.",
           now_.draining ? 1 : 0);
    single("culvert_replay_cache_entries", "gauge", "First messages that are remembered.",
           now_.replay_cache_entries);
    single("process_start_time_seconds", "gauge", "Start of the process, in Unix seconds.",
           fmt::format("{:.3f}", unix_seconds(now_.started)));
    single("process_cpu_seconds_total", "counter", "Processor time, user and system.",
           now_.process.cpu_s);
    single("process_open_fds", "gauge", "Open file descriptors.", now_.process.open_fds);
    single("process_max_fds", "gauge", "The limit of open file descriptors.", now_.process.max_fds);
    single("process_resident_memory_bytes", "gauge", "Resident memory.",
           now_.process.resident_bytes);
    single("process_virtual_memory_bytes", "gauge", "Virtual memory.", now_.process.virtual_bytes);
}

void writer::sections() {
    begin("culvert_sessions", "gauge",
          "Sessions that carry a stream: of a server those that have named a service, of a client "
          "the connections of applications.");
    for_each_section([this](const auto& of, const auto& section) {
        add({{"section", section}}, of.sessions);
    });
    begin("culvert_sessions_total", "counter", "The same, since the start.");
    for_each_section([this](const auto& of, const auto& section) {
        add({{"section", section}}, of.sessions_total);
    });
    begin("culvert_session_ends_total", "counter",
          "Ended sessions by reason; every reason but clean is a failure.");
    for_each_section([this](const auto& of, const auto& section) {
        for (const end_count& end : of.ends)
            add({{"section", section}, {"reason", end.reason}}, end.count);
    });
    begin("culvert_accept_errors_total", "counter",
          "Times that accepting a connection failed and was put off.");
    for_each_section([this](const auto& of, const auto& section) {
        add({{"section", section}}, of.accept_errors_total);
    });
    handshakes();
}

void writer::handshakes() {
    begin("culvert_handshake_seconds", "histogram",
          "Of a server from the accepted connection, of a client from the lookup of the name, to "
          "the proven key.");
    for_each_section([this](const auto& of, const auto& section) {
        const auto& times = of.handshake;
        for (std::size_t i = 0; i < times.at_most.size(); ++i) {
            const auto end = fmt::format("{}", handshake_counters::ends_s[i]);
            add({{"section", section}, {"le", end}}, times.at_most[i], "_bucket");
        }
        add({{"section", section}, {"le", "+Inf"}}, times.count, "_bucket");
        add({{"section", section}}, times.sum_s, "_sum");
        add({{"section", section}}, times.count, "_count");
    });
}

void writer::servers() {
    begin("culvert_connections_total", "counter", "Connections that a server has accepted.");
    for_each_server([this](const auto& of, const auto& section) {
        add({{"section", section}}, of.connections_total);
    });
    begin("culvert_strangers", "gauge", "Connections that have not proven a key yet.");
    for_each_server([this](const auto& of, const auto& section) {
        add({{"section", section}}, of.strangers);
    });
    begin("culvert_strangers_evicted_total", "counter",
          "Strangers that were closed as there were too many.");
    for_each_server([this](const auto& of, const auto& section) {
        add({{"section", section}}, of.strangers_evicted_total);
    });
    begin("culvert_waiting_sessions", "gauge",
          "Sessions that clients keep ready: proven, and no service named yet.");
    for_each_server([this](const auto& of, const auto& section) {
        add({{"section", section}}, of.waiting);
    });
    begin("culvert_handshakes_failed_total", "counter",
          "Connections that ended without having proven a key, by reason.");
    for_each_server([this](const auto& of, const auto& section) {
        for (const named_count& failed : of.handshakes_failed)
            add({{"section", section}, {"reason", failed.name}}, failed.count);
    });
}

void writer::clients() {
    begin("culvert_pool_size", "gauge", "Sessions that a client is to keep ready.");
    for_each_client([this](const auto& of, const auto& section) {
        add({{"section", section}}, of.about.pool);
    });
    begin("culvert_pool_ready", "gauge", "Sessions that a client keeps ready.");
    for_each_client([this](const auto& of, const auto& section) {
        add({{"section", section}}, of.pool_ready);
    });
    begin("culvert_pool_failures_total", "counter",
          "Sessions for the pool that did not come about, or died young.");
    for_each_client([this](const auto& of, const auto& section) {
        add({{"section", section}}, of.pool_failures_total);
    });
}

void writer::traffic() {
    begin("culvert_service_sessions", "gauge", "Sessions of a service.");
    for_each_section([this](const auto& of, const auto& section) {
        for (const traffic_status& row : of.services)
            add({{"section", section}, {"service", row.name}}, row.sessions);
    });
    begin("culvert_service_sessions_total", "counter", "The same, since the start.");
    for_each_section([this](const auto& of, const auto& section) {
        for (const traffic_status& row : of.services)
            add({{"section", section}, {"service", row.name}}, row.sessions_total);
    });
    begin("culvert_bytes_total", "counter",
          "Bytes of the streams; at a server, to_tunnel is from the service to its clients.");
    traffic_of("service", &section_status::services);
    begin("culvert_client_sessions", "gauge", "Sessions of a named client.");
    for_each_server([this](const auto& of, const auto& section) {
        for (const traffic_status& row : of.clients)
            add({{"section", section}, {"client", row.name}}, row.sessions);
    });
    begin("culvert_client_sessions_total", "counter", "The same, since the start.");
    for_each_server([this](const auto& of, const auto& section) {
        for (const traffic_status& row : of.clients)
            add({{"section", section}, {"client", row.name}}, row.sessions_total);
    });
    begin("culvert_client_bytes_total", "counter", "Bytes of the streams of a named client.");
    traffic_of("client", &section_status::clients);
}

void writer::traffic_of(std::string_view label, std::vector<traffic_status> section_status::*rows) {
    const std::string name(label);
    for_each_section([&](const section_status& of, const std::string& section) {
        for (const traffic_status& row : of.*rows) {
            const auto add_one = [&](std::string_view direction, std::uint64_t bytes) {
                add({{"section", section}, {name.c_str(), row.name}, {"direction", direction}},
                    bytes);
            };
            add_one("to_tunnel", row.to_tunnel);
            add_one("from_tunnel", row.from_tunnel);
        }
    });
}

}  // namespace

std::string to_prometheus(const status& now) {
    return writer(now).write();
}

}  // namespace culvert::observe
