// A WebSocket client's upgrade: it goes on only after an answer that is right in every part that
// matters, however its bytes come. "ACCEPT" in the input stands for the value that proves that the
// request was read.
#include "tests/fuzz/upgrade.hpp"

namespace culvert::fuzz {
namespace {

carrier::awaitable<ws::upgrade_result> request(carrier::stream_socket& socket) {
    return ws::request_upgrade(socket, "host.example:80", "/tunnel");
}

struct asked {
    upgraded got;
    std::string answer;
    std::string proof;
};

asked ask(input& in, const std::string& text) {
    exchange with_client(request);
    const http_header wanted = read_header(with_client.take_written());
    require(wanted.lawful && wanted.first_line == "GET /tunnel HTTP/1.1");
    asked out;
    out.proof = accept_for(wanted.all("sec-websocket-key").at(0));
    out.answer = with(text, "ACCEPT", out.proof);
    in.in_pieces(crypto::as_bytes(out.answer), [&](const buffer& p) { with_client.send(p); });
    out.got = with_client.end();
    require(out.got.written.empty());
    return out;
}

void check_accepted(const asked& a) {
    require(a.answer.ends_with(a.got.behind));
    const std::string header = a.answer.substr(0, a.answer.size() - a.got.behind.size());
    require(header.size() <= ws::max_http_header);
    const http_header said = read_header(header);
    require(said.lawful && said.first_line.starts_with("HTTP/1.1 101"));
    require(said.lists("connection", "upgrade"));
    require(lower(said.all("upgrade").at(0)) == "websocket");
    require(said.all("sec-websocket-accept") == std::vector{a.proof});
    require(said.count("sec-websocket-extensions") == 0);
    require(said.count("sec-websocket-protocol") == 0);
}

void run(input in) {
    input cuts(in);  // the same bytes say how the answer is cut
    const std::string text = draw_header(in);
    input whole(nullptr, 0);
    const asked at_once = ask(whole, text);
    if (at_once.got.result.ok()) check_accepted(at_once);
    const asked in_pieces = ask(cuts, text);
    if (in_pieces.got.result.ok()) check_accepted(in_pieces);
    require(in_pieces.got.result.ok() == at_once.got.result.ok());
    require(in_pieces.got.result.status == at_once.got.result.status);
}

}  // namespace
}  // namespace culvert::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    culvert::fuzz::run({data, size});
    return 0;
}
