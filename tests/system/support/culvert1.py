"""culvert/1 a second time, for peers that hold the keys and misbehave.

Written from proxy/PROTOCOL.md and not from the daemon's code, on other ciphers than the daemon's:
20_attackers.py holds it to the transcripts of a third hand. Bytes in, bytes out; sockets are in
key_holders.py. Where an attack needs it, a caller may put anything in the place of any field.
"""

import dataclasses
import functools
import os
import struct
import time

from .programs import missing

try:
    from Cryptodome.Cipher import ChaCha20, ChaCha20_Poly1305
except ImportError:
    raise missing("Cryptodome", "python3-pycryptodome") from None

DATA, END, PAD, ALERT, OPEN = range(5)
REKEY = 0x80
HEADER, TAG = 4, 16
MOST_PAD = 1023


# ---- X25519 (RFC 7748), as slow as it may be here ----

_P = 2**255 - 19
BASE = (9).to_bytes(32, "little")


def x25519(scalar, point):
    k = int.from_bytes(scalar, "little") & ~7 & ~(1 << 255) | 1 << 254
    u = int.from_bytes(point, "little") & (1 << 255) - 1
    x2, z2, x3, z3, swapped = 1, 0, u, 1, 0
    for t in reversed(range(255)):
        bit = k >> t & 1
        if bit != swapped:
            x2, x3, z2, z3 = x3, x2, z3, z2
        swapped = bit
        a, b, c, d = x2 + z2, x2 - z2, x3 + z3, x3 - z3
        da, cb, aa, bb = d * a % _P, c * b % _P, a * a % _P, b * b % _P
        x3, z3 = (da + cb) ** 2 % _P, u * (da - cb) ** 2 % _P
        x2, z2 = aa * bb % _P, (aa - bb) * (aa + 121665 * (aa - bb)) % _P
    if swapped:
        x2, z2 = x3, z3
    return (x2 * pow(z2, _P - 2, _P) % _P).to_bytes(32, "little")


# ---- Keccak (FIPS 202) and what SP 800-185 makes of it ----

_LANE = (1 << 64) - 1
_RATE = 136  # of cSHAKE256 and KMAC256


def _round_constants():
    state, constants = 1, []
    for _ in range(24):
        constant = 0
        for j in range(7):
            constant |= (state & 1) << (1 << j) - 1
            state = state << 1 ^ (0x171 if state & 0x80 else 0)
        constants.append(constant)
    return constants


def _turns():
    """Lane x + 5y: how far it is rotated, and where it goes."""
    turns, x, y = [(0, 0)] * 25, 1, 0
    for t in range(24):
        turns[x + 5 * y] = ((t + 1) * (t + 2) // 2 % 64, y + 5 * ((2 * x + 3 * y) % 5))
        x, y = y, (2 * x + 3 * y) % 5
    return turns


_ROUNDS, _TURNS = _round_constants(), _turns()
_NEXT = [(i, i // 5 * 5 + (i + 1) % 5, i // 5 * 5 + (i + 2) % 5) for i in range(25)]


def _permute(a):
    for constant in _ROUNDS:
        c = [a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20] for x in range(5)]
        d = [c[x - 1] ^ (c[x - 4] << 1 | c[x - 4] >> 63) & _LANE for x in range(5)]
        b = [0] * 25
        for i, (turn, place) in enumerate(_TURNS):
            lane = a[i] ^ d[i % 5]
            b[place] = (lane << turn | lane >> 64 - turn) & _LANE
        a = [b[i] ^ ~b[j] & b[k] for i, j, k in _NEXT]
        a[0] ^= constant
    return a


def _absorb(state, blocks):
    for at in range(0, len(blocks), _RATE):
        block = struct.unpack_from("<17Q", blocks, at)
        state = _permute([s ^ b for s, b in zip(state, (*block, *[0] * 8))])
    return state


def _encoded(number):
    """left_encode; right_encode has the same bytes the other way about its length."""
    octets = number.to_bytes((number.bit_length() + 7) // 8 or 1, "big")
    return bytes([len(octets)]) + octets


def _encode_string(text):
    return _encoded(8 * len(text)) + text


def _whole_blocks(data):
    return data + bytes(-len(data) % _RATE)


@functools.cache
def _begun(name, custom):
    prefix = _encoded(_RATE) + _encode_string(name) + _encode_string(custom)
    return _absorb([0] * 25, _whole_blocks(prefix))


def _cshake256(name, custom, data, size):
    assert size <= _RATE
    padded = bytearray(_whole_blocks(data + b"\x04"))
    padded[-1] ^= 0x80
    return struct.pack("<17Q", *_absorb(_begun(name, custom), padded)[:17])[:size]


# ---- the key schedule (section 2) ----


def hashed(data):
    return _cshake256(b"", b"culvert/1 hash", data, 64)


def derive(key, data, size, label):
    bits = _encoded(8 * size)
    whole = _whole_blocks(_encoded(_RATE) + _encode_string(key)) + data + bits[1:] + bits[:1]
    return _cshake256(b"KMAC", b"culvert/1 " + label, whole, size)


def _box(key):
    return ChaCha20_Poly1305.new(key=key, nonce=bytes(24))


@dataclasses.dataclass(frozen=True)
class Secrets:
    """What the ends of a tunnel know; a test plays either, so both are here. The keys of the ends
    are there in static mode."""

    psk: bytes = bytes(32)
    server: bytes | None = None
    client: bytes | None = None
    server_public: bytes = b""
    realm: bytes = b""

    @property
    def start(self):
        mode = b"static" if self.server_public else b"psk"
        text = _encode_string(b"culvert/1 %s 25519" % mode)
        return hashed(text + _encode_string(self.server_public or self.realm))


class Handshake:
    """h and ck, and what changes them."""

    def __init__(self, secrets):
        self._secrets = secrets
        self.h = secrets.start
        self.ck = derive(secrets.psk, self.h, 32, b"init")

    def absorb(self, data):
        self.h = hashed(self.h + data)

    def mix(self, shared):
        self.ck = derive(self.ck, shared, 32, b"mix")

    def seal(self, plaintext):
        text, tag = _box(derive(self.ck, self.h, 32, b"box")).encrypt_and_digest(plaintext)
        self.absorb(text + tag)
        return text + tag

    def open(self, box):
        """ValueError when the tag is wrong."""
        key = derive(self.ck, self.h, 32, b"box")
        plaintext = _box(key).decrypt_and_verify(box[:-TAG], box[-TAG:])
        self.absorb(box)
        return plaintext

    def secrets(self):
        """Of the first epochs: client to server, server to client."""
        return tuple(derive(self.ck, self.h, 32, label) for label in (b"c2s", b"s2c"))


def hello(pad=0, ago=0, reserved=bytes(6)):
    return struct.pack("<QH", int(time.time()) - ago, pad) + reserved


class Client(Handshake):
    """Makes message 1; takes message 2."""

    def __init__(self, secrets, *, salt=None, says=None, ephemeral=None, e_c=None, s_c=None,
                 pad=b"", wrong_c=False):
        super().__init__(secrets)
        self._ephemeral = ephemeral or os.urandom(32)
        salt = salt or os.urandom(32)
        self.absorb(salt)
        e_c = e_c or x25519(self._ephemeral, BASE)
        parts = {"salt": salt, "A": self.seal(e_c + (says or hello(len(pad))))}
        if secrets.server_public:
            self.mix(x25519(self._ephemeral, secrets.server_public))
            parts["B"] = self.seal(s_c or x25519(secrets.client, BASE))
            own = os.urandom(32) if wrong_c else secrets.client
            self.mix(x25519(own, secrets.server_public))
            parts["C"] = self.seal(b"")
        self.absorb(pad)
        self.parts = {**parts, "pad": pad}
        self.message1 = b"".join(self.parts.values())

    def finish(self, read):
        """`read(size)` gives so many bytes of message 2."""
        self.absorb(read(32))
        e_s = self.open(read(32 + TAG))
        self.mix(x25519(self._ephemeral, e_s))
        if self._secrets.server_public:
            self.mix(x25519(self._secrets.client, e_s))
        pad, reserved = struct.unpack("<H14s", self.open(read(16 + TAG)))
        if pad > MOST_PAD or any(reserved):
            raise ValueError("message 2 has a field out of range")
        self.absorb(read(pad))
        return self.secrets()


class Server(Handshake):
    """Takes message 1; makes message 2."""

    def take(self, read):
        self.heard = b""

        def reading(size):
            piece = read(size)
            self.heard += piece
            return piece

        self._take(reading)

    def _take(self, read):
        self.absorb(read(32))
        inside = self.open(read(48 + TAG))
        self.e_c, self.time, pad = inside[:32], *struct.unpack("<QH6x", inside[32:])
        self.s_c = None
        if self._secrets.server_public:
            self.mix(x25519(self._secrets.server, self.e_c))
            self.s_c = self.open(read(32 + TAG))
            self.mix(x25519(self._secrets.server, self.s_c))
            self.open(read(TAG))
        self.absorb(read(pad))

    def answer(self, *, salt=None, ephemeral=None, e_s=None, says=None, pad=b""):
        """The parts of message 2."""
        ephemeral = ephemeral or os.urandom(32)
        salt = salt or os.urandom(32)
        self.absorb(salt)
        parts = {"salt": salt, "D": self.seal(e_s or x25519(ephemeral, BASE))}
        self.mix(x25519(ephemeral, self.e_c))
        if self.s_c:
            self.mix(x25519(ephemeral, self.s_c))
        parts["F"] = self.seal(says or struct.pack("<H14x", len(pad)))
        self.absorb(pad)
        return {**parts, "pad": pad}


# ---- records (section 4) ----


class _Epochs:
    def __init__(self, secret):
        self._enter(secret)

    def _enter(self, secret):
        keys = derive(secret, b"", 112, b"epoch")
        self._key, self._prefix, self._header_key, self._next = (
            keys[:32], keys[32:48], keys[48:80], keys[80:])
        self.index = 0

    def _mask(self, header):
        stream = ChaCha20.new(key=self._header_key, nonce=bytes(12))
        stream.seek(HEADER * self.index)
        return stream.encrypt(header)

    def _cipher(self, header):
        nonce = self._prefix + self.index.to_bytes(8, "little")
        cipher = ChaCha20_Poly1305.new(key=self._key, nonce=nonce)
        cipher.update(header)
        return cipher

    def _step(self, flags):
        self.index += 1
        if flags & REKEY:
            self._enter(self._next)


class Sealer(_Epochs):
    def seal(self, kind, payload=b"", flags=0, length=None):
        """A record. `length` is what its header says, where that is not the truth."""
        length = len(payload) if length is None else length
        header = bytes([kind | flags]) + length.to_bytes(3, "little")
        text, tag = self._cipher(header).encrypt_and_digest(payload)
        record = self._mask(header) + text + tag
        self._step(flags)
        return record


@dataclasses.dataclass(frozen=True)
class Record:
    kind: int
    payload: bytes = b""
    flags: int = 0


class Opener(_Epochs):
    def __init__(self, secret):
        super().__init__(secret)
        self._held = b""

    def feed(self, data):
        """The whole records so far. ValueError when a tag is wrong."""
        self._held += data
        records = []
        while len(self._held) >= HEADER:
            header = self._mask(self._held[:HEADER])
            end = HEADER + int.from_bytes(header[1:], "little")
            if len(self._held) < end + TAG:
                break
            payload = self._cipher(header).decrypt_and_verify(
                self._held[HEADER:end], self._held[end : end + TAG])
            self._held = self._held[end + TAG :]
            records.append(Record(header[0] & 0x0F, payload, header[0] & 0xF0))
            self._step(header[0])
        return records
