"""A network of the bench's own, in which every contender has the same kernel settings.

The run starts itself again in new namespaces: network (its own loopback, TIME_WAIT table and
settings), processes (nothing outlives the run) and mounts (sshd wants a /run/sshd). The host stays
as it was.
"""

import os
import pathlib
import socket
import subprocess
import sys

INSIDE = "CULVERT_BENCH_INSIDE"

# For all alike: many short connections from one address to one port, and long accept queues.
SETTINGS = {
    "net.ipv4.ip_local_port_range": "10240 65535",
    "net.core.somaxconn": "4096",
    "net.ipv4.tcp_max_syn_backlog": "4096",
}
# The most that a socket may buffer: Linux's usual. With many connections less, or three legs of
# each on one host fill all the memory that the kernel has for TCP, and it drops segments.
BUFFERS = {"net.ipv4.tcp_rmem": "4096 131072 6291456", "net.ipv4.tcp_wmem": "4096 16384 4194304"}
MANY_BUFFERS = {"net.ipv4.tcp_rmem": "4096 131072 524288",
                "net.ipv4.tcp_wmem": "4096 16384 262144"}
MANY = 1000
# Outside the range above would be better, but 1024 - 10239 is enough for every listener.
FIRST_PORT = 4000


class NoNamespace(Exception):
    """The system does not let this user make namespaces; the text says what is needed."""


def enter():
    """Returns inside the namespaces only; outside, runs the same command line there and exits."""
    if os.environ.get(INSIDE):
        configure()
        return
    command = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    if os.geteuid() != 0:
        command += ["--user", "--map-root-user"]
    if subprocess.run([*command, "true"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
        raise NoNamespace("can't make a network namespace: run it as root, or allow user "
                          "namespaces (sysctl kernel.unprivileged_userns_clone=1)")
    inside = subprocess.run([*command, sys.executable, *sys.argv], check=False,
                            env={**os.environ, INSIDE: "1"})
    sys.exit(inside.returncode)


def quietly(*command):
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          check=False).returncode == 0


def apply(settings):
    for name, value in settings.items():
        if not quietly("sysctl", "-q", "-w", f"{name}={value}"):
            print(f"note: {name} stays as it is", file=sys.stderr)


def fit_buffers(connections):
    apply(MANY_BUFFERS if connections >= MANY else BUFFERS)


def memory_pressures():
    """How often TCP has run short of memory here."""
    names, values = [line.split() for line in pathlib.Path("/proc/net/netstat").read_text()
                     .splitlines() if line.startswith("TcpExt:")]
    return int(values[names.index("TCPMemoryPressures")])


def configure():
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    apply(SETTINGS)
    want_cubic()
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run"], check=True)
    pathlib.Path("/run/sshd").mkdir(mode=0o755)


def want_cubic():
    """As the namespace's default, or where that is not allowed, as the attribute of the routes that
    the loopback has; else reno, which any namespace may have and which loses nothing here."""
    if quietly("sysctl", "-q", "-w", "net.ipv4.tcp_congestion_control=cubic"):
        return
    quietly("sysctl", "-q", "-w", "net.ipv4.tcp_congestion_control=reno")
    for to in ("127.0.0.0/8", "127.0.0.1"):
        quietly("ip", "route", "replace", "local", to, "dev", "lo", "table", "local", "proto",
                "kernel", "scope", "host", "src", "127.0.0.1", "congctl", "cubic")


def congestion_control():
    """What a connection over the loopback really has, asked at both of its ends."""
    with socket.create_server(("127.0.0.1", 0)) as listening, \
            socket.create_connection(listening.getsockname()) as near:
        far, _ = listening.accept()
        with far:
            found = {end.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)
                     .rstrip(b"\0").decode() for end in (near, far)}
    return " and ".join(sorted(found))
