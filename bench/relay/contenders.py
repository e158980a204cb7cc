"""Who takes part, and how each is set up. The configuration files are filled from configs/."""

import dataclasses
import getpass
import pathlib
import shutil
import string
import subprocess
from collections.abc import Callable

CONFIGS = pathlib.Path(__file__).parent / "configs"
AES = "TLS_AES_256_GCM_SHA384"  # what OpenSSL itself prefers
CHACHA = "TLS_CHACHA20_POLY1305_SHA256"
POOL = 64
ANY_IDLE = 9000
FEW_IDLE = 2000


@dataclasses.dataclass
class Place:
    """Where one contender runs: the run's folder with all keys, the binaries, and three ports."""
    name: str
    folder: pathlib.Path
    binaries: pathlib.Path
    entry: int
    tunnel: int
    backend: int

    def fill(self, template, **values):
        """The path of a configuration file, made from a template of configs/."""
        known = {"name": self.name, "folder": self.folder, "entry": self.entry,
                 "tunnel": self.tunnel, "backend": self.backend}
        path = self.folder / f"{self.name}.{template}"
        text = string.Template((CONFIGS / template).read_text())
        path.write_text(text.substitute(known, **values))
        return path


@dataclasses.dataclass(frozen=True)
class Contender:
    name: str
    title: str
    # Place -> the commands of the end that has the tunnel's port and of the one with the entry's.
    ends: Callable | None
    version: tuple = ()        # a command that tells it
    connecting_ms: float = 0.7  # of both cores for each connection: how long to wait for many
    most_idle: int = FEW_IDLE
    most_connections: int = 1024
    # Closes both ways when one has ended, so that the backend's verdict on a stream gets lost.
    breaks_half_close: bool = False
    main_cells_only: bool = False  # a variant that differs from another in a part of the figures


def haproxy(kind, **values):
    def ends(place):
        return tuple(("haproxy", "-db", "-f", place.fill(f"haproxy-{kind}-{end}.cfg", **values))
                     for end in ("server", "client"))
    return ends


def nginx(suite):
    def ends(place):
        return tuple(("nginx", "-e", "stderr", "-p", place.folder, "-c",
                      place.fill(f"nginx-tls-{end}.conf", suite=suite))
                     for end in ("server", "client"))
    return ends


def stunnel(place):
    return tuple(("stunnel", place.fill(f"stunnel-{end}.conf", suite=AES))
                 for end in ("server", "client"))


def shadowsocks(cipher):
    def ends(place):
        both = ("-k", "a password of the bench", "-m", cipher, "-t", "600", "-n", "20000",
                "--no-delay", "-p", str(place.tunnel), "-s", "127.0.0.1")
        return (("ss-server", *both),
                ("ss-tunnel", *both, "-b", "127.0.0.1", "-l", str(place.entry), "-L",
                 f"127.0.0.1:{place.backend}"))
    return ends


def spiped(place):
    entry, tunnel, backend = (f"[127.0.0.1]:{port}" for port in
                              (place.entry, place.tunnel, place.backend))
    both = ("-F", "-n", "0", "-k", "spiped.key")
    return (("spiped", "-d", "-s", tunnel, "-t", backend, *both),
            ("spiped", "-e", "-s", entry, "-t", tunnel, *both))


def ssh(place):
    options = ("UserKnownHostsFile=/dev/null", "StrictHostKeyChecking=no", "LogLevel=ERROR",
               "BatchMode=yes", "IdentityFile=ssh-user", "IdentitiesOnly=yes",
               "ExitOnForwardFailure=yes", "Ciphers=aes256-gcm@openssh.com")
    return (("/usr/sbin/sshd", "-D", "-e", "-f", place.fill("sshd.conf")),
            ("ssh", "-F", "none", "-N", *(word for option in options for word in ("-o", option)),
             "-p", str(place.tunnel), "-L", f"127.0.0.1:{place.entry}:127.0.0.1:{place.backend}",
             f"{getpass.getuser()}@127.0.0.1"))


def culvert(carrier, keys="psk", pool=False, threads=1):
    def ends(place):
        static = keys == "static"
        server_public = (place.folder / "server.pub").read_text()
        path = "/tunnel" if carrier == "ws" else ""
        server = place.fill(
            "culvert-server.conf", threads=threads,
            carrier="carrier = ws\npath = /tunnel\n" if carrier == "ws" else "",
            server_keys="identity = server-identity\nclients = clients.pub" if static
            else "psk = bench.psk")
        client = place.fill(
            "culvert-client.conf", threads=threads,
            target=f"{carrier}://127.0.0.1:{place.tunnel}{path}",
            client_keys=f"identity = client-identity\nserver-key = {server_public}" if static
            else "psk = bench.psk",
            pool=f"pool = {POOL}" if pool else "")
        return tuple((place.binaries / "culvert", "run", file) for file in (server, client))
    return ends


def refusal(contender, place):
    """What keeps a contender from taking part: its program is not there, or culvert does not know a
    key of its configuration. None when nothing does."""
    if contender.ends is None:
        return None
    for command in contender.ends(place):
        if shutil.which(command[0]) is None:
            return f"{command[0]} is not installed"
        if pathlib.Path(command[0]).name == "culvert":
            checked = subprocess.run([command[0], "check", command[-1]], check=False,
                                     capture_output=True, text=True)
            if checked.returncode != 0:
                return checked.stderr.strip().splitlines()[0].partition(": ")[2]
    return None


def culvert_variants():
    for carrier, title in (("tcp", "TCP"), ("ws", "WebSocket")):
        yield Contender(f"culvert-{carrier}", f"culvert, {title}, psk", culvert(carrier),
                        most_idle=ANY_IDLE)
        yield Contender(f"culvert-{carrier}-static", f"culvert, {title}, static",
                        culvert(carrier, "static"), most_idle=FEW_IDLE, main_cells_only=True)
        yield Contender(f"culvert-{carrier}-pool", f"culvert, {title}, psk, pool of {POOL}",
                        culvert(carrier, pool=True), main_cells_only=True)
        yield Contender(f"culvert-{carrier}-static-pool",
                        f"culvert, {title}, static, pool of {POOL}",
                        culvert(carrier, "static", pool=True), main_cells_only=True)
    yield Contender("culvert-tcp-2", "culvert, TCP, psk, 2 threads an end",
                    culvert("tcp", threads=2), main_cells_only=True)


SHADOWSOCKS = ("ss-server", "--help")
CONTENDERS = [
    Contender("direct", "direct, no relay", None, most_idle=0),
    Contender("haproxy-plain", "haproxy, plain relay", haproxy("plain"), ("haproxy", "-v"),
              most_idle=ANY_IDLE),
    Contender("haproxy-tls", "haproxy, TLS 1.3 AES", haproxy("tls", suite=AES), ("haproxy", "-v"),
              connecting_ms=4),
    Contender("nginx-tls-aes", "nginx stream, TLS 1.3 AES", nginx(AES), ("nginx", "-v"),
              connecting_ms=3, most_idle=ANY_IDLE),
    Contender("nginx-tls-chacha", "nginx stream, TLS 1.3 ChaCha", nginx(CHACHA), ("nginx", "-v"),
              connecting_ms=3),
    Contender("stunnel", "stunnel, TLS 1.3 AES", stunnel, ("stunnel", "-version"), connecting_ms=5),
    Contender("shadowsocks-xchacha", "shadowsocks, xchacha20-ietf-poly1305",
              shadowsocks("xchacha20-ietf-poly1305"), SHADOWSOCKS, most_idle=ANY_IDLE, breaks_half_close=True),
    Contender("shadowsocks-aes", "shadowsocks, aes-256-gcm", shadowsocks("aes-256-gcm"),
              SHADOWSOCKS, most_idle=ANY_IDLE, breaks_half_close=True),
    Contender("spiped", "spiped", spiped, ("spiped", "-v"), connecting_ms=8),
    Contender("ssh", "ssh -L, aes256-gcm", ssh, ("ssh", "-V"), connecting_ms=1),
    *culvert_variants(),
]
