// What the protocol makes public on purpose, after its tag has verified or because the wire shows
// it anyway: the hello, the pad length of message 2, and a record's header. The linker sends the
// calls of their readers here (--wrap), where their input is made public first. Were they not so
// sent, the tests of the handshake and of opening records would fail.
#include "proxy/protocol/handshake.hpp"
#include "proxy/protocol/record.hpp"
#include "tests/constant_time/secrets.hpp"

namespace culvert::tests {

using protocol::hello;
using protocol::record_header;

std::optional<hello> read_hello(block_view<protocol::hello_size> in) noexcept
    __asm__("__real_" CULVERT_READ_HELLO);
std::optional<hello> read_public_hello(block_view<protocol::hello_size> in) noexcept
    __asm__("__wrap_" CULVERT_READ_HELLO);
std::optional<std::uint16_t> read_pad(block_view<16> in) noexcept
    __asm__("__real_" CULVERT_READ_PAD);
std::optional<std::uint16_t> read_public_pad(block_view<16> in) noexcept
    __asm__("__wrap_" CULVERT_READ_PAD);
record_header read_header(block_view<protocol::header_size> in) noexcept
    __asm__("__real_" CULVERT_READ_HEADER);
record_header read_public_header(block_view<protocol::header_size> in) noexcept
    __asm__("__wrap_" CULVERT_READ_HEADER);

std::optional<hello> read_public_hello(block_view<protocol::hello_size> in) noexcept {
    reveal(in);
    return read_hello(in);
}

std::optional<std::uint16_t> read_public_pad(block_view<16> in) noexcept {
    reveal(in);
    return read_pad(in);
}

record_header read_public_header(block_view<protocol::header_size> in) noexcept {
    reveal(in);
    return read_header(in);
}

}  // namespace culvert::tests
