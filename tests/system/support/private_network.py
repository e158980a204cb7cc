"""A test file that runs in namespaces of its own: its own loopback, name service and settings.

The file starts itself again in them. What the machine does not allow is told, and left out.
"""

import fcntl
import os
import pathlib
import socket
import struct
import subprocess
import sys
import tempfile

_INSIDE = "CULVERT_TEST_PRIVATE_NETWORK"
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1


def enter():
    """Call first of all. Returns inside the namespaces, or where there can be none."""
    if os.environ.get(_INSIDE):
        _raise_loopback()
        return
    command = ["unshare", "--net", "--mount"]
    if os.geteuid() != 0:
        command += ["--user", "--map-root-user"]
    if subprocess.run([*command, "true"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
        return
    inside = [*command, sys.executable, "-B", *sys.argv]
    os.execvpe(inside[0], inside, {**os.environ, _INSIDE: "1"})


def why_not():
    """Empty where the tests run in namespaces of their own."""
    if os.environ.get(_INSIDE):
        return ""
    return "this machine lets this user make no network and mount namespaces"


def _raise_loopback():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = fcntl.ioctl(any_socket, _SIOCGIFFLAGS, struct.pack("16sh14x", b"lo", 0))
        flags = struct.unpack("16sh14x", request)[1]
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | _IFF_UP))


def set_value(name, value):
    """Sets a value of /proc/sys/net, of this network only. False where that is not allowed."""
    try:
        pathlib.Path("/proc/sys/net", name).write_text(value)
    except OSError:
        return False
    return True


def replace_file(path, text):
    """Lets a file of the system read so, in this mount namespace only."""
    with tempfile.NamedTemporaryFile("w", prefix="culvert-", delete=False) as file:
        file.write(text)
    os.chmod(file.name, 0o644)
    subprocess.run(["mount", "--bind", file.name, path], check=True)
    os.unlink(file.name)
