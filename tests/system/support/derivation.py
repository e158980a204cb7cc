"""Where the handshakes of a section begin (PROTOCOL.md section 2), computed without culvert's code:
Keccak-f as FIPS 202 has it, cSHAKE256 and KMAC256 of SP 800-185. `responder` is the realm, or in
static mode the server's public key."""

_RATE = 136  # bytes
_LANES = [(x, y) for y in range(5) for x in range(5)]


def start_state(psk, responder=b"", mode="psk"):
    """ck of a section: whoever has it can do what a holder of the psk can."""
    return kmac256(psk, start_hash(responder, mode), 32, b"culvert/1 init")


def start_hash(responder=b"", mode="psk"):
    """h of a section, which is no secret."""
    transcript = _string(f"culvert/1 {mode} 25519".encode()) + _string(responder)
    return cshake256(transcript, 64, custom=b"culvert/1 hash")


def kmac256(key, data, size, custom):
    text = _padded(_string(key)) + data + _right_encode(size * 8)
    return cshake256(text, size, b"KMAC", custom)


def cshake256(data, size, name=b"", custom=b""):
    """Up to one block of output."""
    text = bytearray(_padded(_string(name) + _string(custom)) + data + b"\x04")
    text += bytes(-len(text) % _RATE)
    text[-1] |= 0x80
    state = {lane: 0 for lane in _LANES}
    for block in range(0, len(text), _RATE):
        for i, (x, y) in enumerate(_LANES[: _RATE // 8]):
            state[x, y] ^= int.from_bytes(text[block + 8 * i : block + 8 * i + 8], "little")
        state = _keccak_f(state)
    return b"".join(state[lane].to_bytes(8, "little") for lane in _LANES)[:size]


def _keccak_f(state):
    register = 1
    for _ in range(24):
        columns = [state[x, 0] ^ state[x, 1] ^ state[x, 2] ^ state[x, 3] ^ state[x, 4]
                   for x in range(5)]
        for x, y in _LANES:
            state[x, y] ^= columns[x - 1] ^ _rotate(columns[(x + 1) % 5], 1)
        x, y, current = 1, 0, state[1, 0]
        for t in range(24):
            x, y = y, (2 * x + 3 * y) % 5
            current, state[x, y] = state[x, y], _rotate(current, (t + 1) * (t + 2) // 2)
        for y in range(5):
            row = [state[x, y] for x in range(5)]
            for x in range(5):
                state[x, y] = row[x] ^ (~row[(x + 1) % 5] & row[(x + 2) % 5])
        for bit in range(7):
            register = (register << 1 ^ (register >> 7) * 0x71) % 256
            if register & 2:
                state[0, 0] ^= 1 << ((1 << bit) - 1)
    return state


def _rotate(lane, by):
    by %= 64
    return (lane << by | lane >> (64 - by)) & (2**64 - 1)


def _left_encode(number):
    digits = number.to_bytes(max(1, (number.bit_length() + 7) // 8), "big")
    return bytes([len(digits)]) + digits


def _right_encode(number):
    digits = number.to_bytes(max(1, (number.bit_length() + 7) // 8), "big")
    return digits + bytes([len(digits)])


def _string(value):
    return _left_encode(len(value) * 8) + value


def _padded(text):
    text = _left_encode(_RATE) + text
    return text + bytes(-len(text) % _RATE)
