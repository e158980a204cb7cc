// Sockets in the test's own hands: raw, non-blocking, on loopback.
#pragma once

#include <netinet/in.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "crypto/bytes.hpp"

namespace culvert::tests {

using octets = std::vector<std::uint8_t>;

class peer {
  public:
    peer() = default;
    explicit peer(int fd);
    peer(peer&& other) noexcept;
    peer& operator=(peer&& other) noexcept;
    ~peer() { close(); }

    // Sends what the kernel takes at once and returns how much that was.
    std::size_t send(crypto::bytes_view data);
    std::size_t send(const std::string& text);

    // Takes what is there: fills the members below.
    void pump();
    octets received;
    bool ended = false;  // end of file
    int error = 0;       // ECONNRESET and the like, from reading or writing
    [[nodiscard]] bool over() const noexcept { return ended || error != 0; }
    [[nodiscard]] std::string text() const { return {received.begin(), received.end()}; }

    void end();    // of our direction
    void reset();  // closes, and the other side sees a reset
    void close();
    [[nodiscard]] int fd() const noexcept { return fd_; }
    [[nodiscard]] int release() noexcept { return std::exchange(fd_, -1); }

  private:
    int fd_ = -1;
};

// The bytes of a text.
inline octets octets_of_text(const std::string& text) {
    return {text.begin(), text.end()};
}

// 127.0.0.1 and the port, as system calls want it.
sockaddr_in loopback(std::uint16_t port);

// Two ends of one connection.
std::pair<int, int> tcp_pair();
std::pair<int, int> unix_pair();

// Small buffers in the kernel, so that back-pressure comes soon.
void shrink_buffers(int fd);

// Listens on 127.0.0.1, on a port that the kernel does not give to others.
class listener {
  public:
    explicit listener(int backlog = 64);
    listener(const listener&) = delete;
    listener& operator=(const listener&) = delete;
    ~listener();

    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    // -1 when nobody is there.
    [[nodiscard]] int accept() const;

  private:
    int fd_ = -1;
    std::uint16_t port_ = 0;
};

// A descriptor that is connected, or being connected, to this port of 127.0.0.1.
int connect_to(std::uint16_t port);

// A port where nobody listens.
std::uint16_t free_port();

}  // namespace culvert::tests
