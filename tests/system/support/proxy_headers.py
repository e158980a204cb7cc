"""The PROXY protocol, read by the letter of HAProxy's specification and by nothing of culvert's."""

import dataclasses
import ipaddress
import socket
import struct

from .streams import read_exactly

SIGNATURE = bytes.fromhex("0d0a0d0a000d0a515549540a")
CLIENT_NAME, CHECKSUM = 0xE0, 0x03


@dataclasses.dataclass
class Header:
    source: tuple  # address, port; None where the header tells none
    destination: tuple
    tlvs: dict = dataclasses.field(default_factory=dict)


def read_header(sock):
    """Takes one off the socket, of whatever version, and nothing behind it."""
    begin = read_exactly(sock, 12)
    return _read_binary(sock) if begin == SIGNATURE else _read_line(sock, begin)


def _read_line(sock, begin):
    line = begin
    while not line.endswith(b"\r\n"):
        line += read_exactly(sock, 1)
        if len(line) > 107:
            raise AssertionError(f"no end of {line!r}")
    words = line[:-2].decode("ascii").split(" ")
    if words == ["PROXY", "UNKNOWN"]:
        return Header(None, None)
    word, family, source, destination, source_port, destination_port = words
    version = {"TCP4": 4, "TCP6": 6}[family]
    assert word == "PROXY"
    for address in (source, destination):
        assert ipaddress.ip_address(address).version == version
    return Header((source, int(source_port)), (destination, int(destination_port)))


def _read_binary(sock):
    fixed = read_exactly(sock, 4)
    command, family, size = struct.unpack("!BBH", fixed)
    rest = read_exactly(sock, size)
    if command == 0x20:
        return Header(None, None)
    assert command == 0x21, fixed
    length, kind = {0x11: (4, socket.AF_INET), 0x21: (16, socket.AF_INET6)}[family]
    addresses, at = rest[: 2 * length], 2 * length + 4
    ports = struct.unpack("!HH", rest[2 * length : at])
    tlvs = dict(_tlvs(rest[at:]))
    if CHECKSUM in tlvs:
        whole = SIGNATURE + fixed + rest
        zeroed = whole.replace(bytes([CHECKSUM, 0, 4]) + tlvs[CHECKSUM],
                               bytes([CHECKSUM, 0, 4, 0, 0, 0, 0]))
        assert crc32c(zeroed) == int.from_bytes(tlvs[CHECKSUM], "big"), whole.hex()
    source, destination = (socket.inet_ntop(kind, addresses[i : i + length])
                           for i in (0, length))
    return Header((source, ports[0]), (destination, ports[1]), tlvs)


def _tlvs(rest):
    while rest:
        kind, size = struct.unpack("!BH", rest[:3])
        assert len(rest) >= 3 + size
        yield kind, rest[3 : 3 + size]
        rest = rest[3 + size :]


def crc32c(data):
    """RFC 4960, appendix B."""
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
    return value ^ 0xFFFFFFFF


assert crc32c(b"123456789") == 0xE3069283
