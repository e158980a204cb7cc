#include "proxy/watch/place.hpp"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "proxy/watch/failure.hpp"

using namespace culvert::watch;

namespace {

// A configuration file that goes with the test; its secret is missing.
class file {
  public:
    explicit file(const std::string& daemon) {
        std::string name = std::filesystem::temp_directory_path() / "culvert-place-XXXXXX";
        folder_ = ::mkdtemp(name.data());
        std::ofstream(path()) << "[daemon]\n"
                              << daemon << "\n[server.s]\nlisten = 7700\npsk = absent.psk\n"
                              << "service = a 127.0.0.1:1\n";
    }
    ~file() { std::filesystem::remove_all(folder_); }
    [[nodiscard]] std::string path() const { return folder_ / "x.conf"; }
    [[nodiscard]] std::string folder() const { return folder_; }

  private:
    std::filesystem::path folder_;
};

std::string refusal(const std::string& word) {
    try {
        find_admin(word);
    } catch (const no_place& error) {
        return error.what();
    }
    return "accepted";
}

}  // namespace

TEST_SUITE("watch.place") {
    TEST_CASE("addresses") {
        CHECK(find_admin("127.0.0.1:7790").text() == "127.0.0.1:7790");
        CHECK(find_admin("http://[::1]:7790/").text() == "[::1]:7790");
        CHECK(find_admin("7790").text() == "127.0.0.1:7790");
        CHECK(find_admin("unix:/run/x.sock").unix_path == "/run/x.sock");
        CHECK(find_admin("http://0.0.0.0:7790").text() == "127.0.0.1:7790");
        CHECK(find_admin("[::]:7790").text() == "[::1]:7790");
    }

    TEST_CASE("the key admin of a file, whatever else is wrong with it") {
        CHECK(find_admin(file("admin = 127.0.0.1:7790").path()).text() == "127.0.0.1:7790");
        const file relative("admin = unix:admin.sock");
        CHECK(find_admin(relative.path()).unix_path == relative.folder() + "/admin.sock");
    }

    TEST_CASE("what says no place says what would") {
        CHECK(refusal(file("threads = 1").path()).find("has no key 'admin'") != std::string::npos);
        CHECK(refusal("/nowhere/x.conf").find("no file '/nowhere/x.conf'") != std::string::npos);
        CHECK(refusal("https://h:1").find("write FILE, HOST:PORT") != std::string::npos);
    }
}
