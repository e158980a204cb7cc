#include "folder.hpp"

#include <doctest/doctest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <fstream>
#include <iterator>

namespace culvert::tests {
namespace {

std::string only_text(const config::loaded& loaded) {
    std::string all;
    for (const auto& said : loaded.diagnostics) {
        all += (all.empty() ? "" : " | ") + said.text;
    }
    return all;
}

}  // namespace

folder::folder() {
    std::string pattern = std::filesystem::temp_directory_path() / "culvert-config-XXXXXX";
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
}

folder::~folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path folder::write(std::string_view name, std::string_view content,
                                    mode_t mode) const {
    const std::filesystem::path file = path_ / name;
    std::ofstream(file, std::ios::binary) << content;
    REQUIRE(::chmod(file.c_str(), mode) == 0);
    return file;
}

std::string content_of(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    REQUIRE(in);
    return {std::istreambuf_iterator<char>(in), {}};
}

void write_keys(const folder& in) {
    in.write("a.psk", key_hex);
    in.write("b.key", std::string(64, 'b'));
    in.write("clients.pub", "alice " + std::string(64, 'a') + "\n", 0644);
    in.write("clients.psk", "alice " + std::string(64, 'a') + "\n");
}

config::loaded parse_in(const folder& in, std::string_view text) {
    return config::parse(text, "t.conf", in.path());
}

std::vector<std::string> texts_of(const config::loaded& loaded) {
    std::vector<std::string> texts;
    for (const auto& said : loaded.diagnostics) texts.push_back(to_text(said));
    return texts;
}

config::loaded parse_with(std::string_view server_line, std::string_view client_line) {
    const folder in;
    write_keys(in);
    return parse_in(in, "[server.s]\nlisten = 7700\nservice = x y:1\npsk = a.psk\n" +
                            std::string(server_line) +
                            "\n[client.c]\nlisten = 6380\nconnect = tcp://h:7700\npsk = a.psk\n" +
                            std::string(client_line) + "\n");
}

std::string server_says(std::string_view line) {
    return only_text(parse_with(line, ""));
}
std::string client_says(std::string_view line) {
    return only_text(parse_with("", line));
}

}  // namespace culvert::tests
