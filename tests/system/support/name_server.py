"""A name server that does what a test tells it: it answers, fails, changes its mind or hangs."""

import ipaddress
import socket
import struct
import threading

_A, _AAAA = 1, 28
_SERVFAIL, _NXDOMAIN = 2, 3
SERVFAIL, NXDOMAIN, SILENCE = "SERVFAIL", "NXDOMAIN", "silence"


class NameServer:
    """On 127.0.0.1:53, over UDP; names that it was told nothing of do not exist."""

    def __init__(self):
        self._answers = {}
        self._questions = {}
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 53))
        threading.Thread(target=self._serve, daemon=True).start()

    def set(self, name, *answer):
        """From now on the name has these addresses; or a failure."""
        self._answers[name] = answer

    def questions(self, name):
        return self._questions.get(name, 0)

    def close(self):
        self._socket.close()

    def _serve(self):
        while True:
            try:
                query, sender = self._socket.recvfrom(4096)
                name, kind, question = _parse(query)
                self._questions[name] = self._questions.get(name, 0) + 1
                reply = self._reply(query[:2], name, kind, question)
                if reply:
                    self._socket.sendto(reply, sender)
            except OSError:
                return

    def _reply(self, number, name, kind, question):
        answer = self._answers.get(name, (NXDOMAIN,))
        if SILENCE in answer:
            return None
        if SERVFAIL in answer:
            return _message(number, _SERVFAIL, question, [])
        if NXDOMAIN in answer:
            return _message(number, _NXDOMAIN, question, [])
        version = {_A: 4, _AAAA: 6}.get(kind)
        addresses = [ipaddress.ip_address(text) for text in answer]
        records = [address.packed for address in addresses if address.version == version]
        return _message(number, 0, question, records)


def _parse(query):
    """The name, its type, and the question section."""
    at, labels = 12, []
    while query[at]:
        labels.append(query[at + 1 : at + 1 + query[at]].decode().lower())
        at += 1 + query[at]
    kind = struct.unpack_from("!H", query, at + 1)[0]
    return ".".join(labels), kind, query[12 : at + 5]


def _message(number, code, question, records):
    header = number + struct.pack("!HHHHH", 0x8580 | code, 1, len(records), 0, 0)
    kind = question[-4:-2]
    body = b"".join(
        b"\xc0\x0c" + kind + struct.pack("!HIH", 1, 0, len(packed)) + packed for packed in records)
    return header + question + body
