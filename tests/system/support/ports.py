"""Ports of the loopback that no other test uses."""

import random
import socket

# Below the range from which the kernel takes the ports of outgoing connections.
_LOWEST, _HIGHEST = 10_000, 32_000
_reservations = []


def free_port():
    """A port that is free on every local address, and stays ours while this process lives."""
    while True:
        port = random.randint(_LOWEST, _HIGHEST)
        if _reserve(port) and _is_free(port):
            return port


def _reserve(port):
    # A name in the abstract namespace: other test processes see it, and it goes when we go.
    reservation = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        reservation.bind(f"\0culvert-system-test-port-{port}")
    except OSError:
        reservation.close()
        return False
    _reservations.append(reservation)
    return True


def _is_free(port):
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
            probe.bind(("::", port))
    except OSError:
        return False
    return True


def is_listening(port, process="self"):
    """Whether anybody in the network of that process listens on the port; seen from outside,
    without connecting."""
    return any(_listens_in(f"/proc/{process}/net/{table}", port) for table in ("tcp", "tcp6"))


def _listens_in(table, port):
    listen_state = "0A"
    with open(table, encoding="ascii") as lines:
        for line in list(lines)[1:]:
            _, local, _, state = line.split()[:4]
            if state == listen_state and int(local.rpartition(":")[2], 16) == port:
                return True
    return False
