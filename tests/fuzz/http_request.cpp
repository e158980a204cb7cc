// A WebSocket server's upgrade: it says 101 only to a request that is right in every part that
// matters, 404 to other HTTP and nothing to what is no HTTP, however the bytes come.
#include "tests/fuzz/upgrade.hpp"

namespace culvert::fuzz {
namespace {

carrier::awaitable<ws::upgrade_result> accept(carrier::stream_socket& socket) {
    return ws::accept_upgrade(socket, "/tunnel");
}

upgraded serve(input& in, bytes_view request) {
    exchange with_server(accept);
    in.in_pieces(request, [&](const buffer& piece) { with_server.send(piece); });
    return with_server.end();
}

void check_accepted(const std::string& header, const std::string& answer) {
    const http_header asked = read_header(header);
    require(asked.lawful && header.size() <= ws::max_http_header);
    require(asked.first_line == "GET /tunnel HTTP/1.1");
    require(asked.count("host") == 1);
    require(asked.lists("connection", "upgrade") && asked.lists("upgrade", "websocket"));
    require(asked.all("sec-websocket-version") == std::vector<std::string>{"13"});
    require(asked.count("sec-websocket-key") == 1);
    require(asked.count("content-length") == 0 && asked.count("transfer-encoding") == 0);

    const http_header said = read_header(answer);
    require(said.lawful && said.first_line.starts_with("HTTP/1.1 101 "));
    const std::string key = asked.all("sec-websocket-key").front();
    require(key.size() == 24);
    require(said.all("sec-websocket-accept") == std::vector{accept_for(key)});
    require(said.lists("connection", "upgrade") && said.lists("upgrade", "websocket"));
    require(said.count("sec-websocket-extensions") == 0);
}

void check(const std::string& request, const upgraded& got) {
    if (got.result.ok()) {
        require(request.ends_with(got.behind));
        check_accepted(request.substr(0, request.size() - got.behind.size()), got.written);
    } else if (got.result.answered) {
        const http_header said =
            read_header(got.written.substr(0, got.written.find("\r\n\r\n") + 4));
        require(said.lawful && said.first_line.starts_with("HTTP/1.1 404 "));
        require(said.lists("connection", "close"));
    } else {
        require(got.written.empty());
    }
}

void run(input in) {
    input cuts(in);  // the same bytes say how the request is cut
    const std::string request = draw_header(in);
    input whole(nullptr, 0);
    const upgraded at_once = serve(whole, crypto::as_bytes(request));
    check(request, at_once);
    const upgraded in_pieces = serve(cuts, crypto::as_bytes(request));
    require(in_pieces.result.ok() == at_once.result.ok() &&
            in_pieces.result.answered == at_once.result.answered &&
            in_pieces.written == at_once.written);
    if (at_once.result.ok()) require(in_pieces.behind == at_once.behind);
}

}  // namespace
}  // namespace culvert::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    culvert::fuzz::run({data, size});
    return 0;
}
