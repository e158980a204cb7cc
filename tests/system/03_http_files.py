"""nginx and curl through the tunnel: a GiB each way arrives unchanged."""

import hashlib
import os
import pathlib
import shutil
import struct
import subprocess
import tempfile

from support import case, nginx, programs
from support.ports import free_port, is_listening
from support.streams import random_bytes
from support.tunnel import FOUR_KINDS, TCP, WEBSOCKET_STATIC

MIB = 1 << 20
SIZE = 1 << 30

SITE = """
    client_max_body_size 0;
    server {{
        listen 127.0.0.1:{port};
        root {folder}/files;
        location /up/ {{ dav_methods PUT; }}
    }}
"""


def roomiest_folder():
    folders = {tempfile.gettempdir(), "/var/tmp"}
    writable = [folder for folder in folders if os.access(folder, os.W_OK)]
    return max(writable, key=lambda folder: shutil.disk_usage(folder).free)


def write_large_file(path):
    """No two MiB of it are alike. Returns its hash."""
    block, digest = bytearray(random_bytes(MIB, "large file")), hashlib.sha256()
    with open(path, "wb") as out:
        for number in range(SIZE // MIB):
            struct.pack_into("<Q", block, 0, number)
            out.write(block)
            digest.update(block)
    return digest.hexdigest()


def hash_of(stream):
    digest = hashlib.sha256()
    while piece := stream.read(MIB):
        digest.update(piece)
    return digest.hexdigest()


class HttpFiles(case.SystemTest):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="culvert-http-", dir=roomiest_folder()))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        (cls.folder / "files" / "up").mkdir(parents=True)
        cls.large = cls.folder / "files" / "large"
        cls.hash = write_large_file(cls.large)

    def setUp(self):
        super().setUp()
        self.port = free_port()
        site = SITE.format(folder=self.folder, port=self.port)
        command = nginx.command(self.folder, nginx.http(self.folder, site))
        self.start(command, "nginx", lambda: is_listening(self.port), folder=self.folder)

    def curl(self, *words):
        return [programs.find("curl", "curl"), "-sS", "--fail", "--noproxy", "*", *words]

    def download(self, port, name="large"):
        command = self.curl(f"http://127.0.0.1:{port}/{name}")
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as curl:
            digest = hash_of(curl.stdout)
            self.assertEqual(curl.wait(60), 0, curl.stderr.read())
        return digest

    def upload(self, port, source, name):
        subprocess.run(self.curl("-T", source, f"http://127.0.0.1:{port}/up/{name}"), check=True,
                       timeout=300, capture_output=True)
        stored = self.folder / "files" / "up" / name
        with open(stored, "rb") as file:
            digest = hash_of(file)
        stored.unlink()
        return digest

    @case.for_kinds(TCP, WEBSOCKET_STATIC)
    def test_a_gib_down_and_up(self, kind):
        port = self.tunnel(kind, f"127.0.0.1:{self.port}").client_port
        self.assertEqual(self.download(port), self.hash)
        self.assertEqual(self.upload(port, self.large, "large"), self.hash)

    @case.for_kinds(*FOUR_KINDS)
    def test_files_of_awkward_sizes(self, kind):
        port = self.tunnel(kind, f"127.0.0.1:{self.port}").client_port
        for size in (0, 1, 1349, 1350, 1351, 16384, 65535, 65536, 65537, 3 * MIB + 1):
            content = random_bytes(size, size)
            (self.folder / "files" / "odd").write_bytes(content)
            expected = hashlib.sha256(content).hexdigest()
            self.assertEqual(self.download(port, "odd"), expected, f"{size} bytes down")
            if size:
                got = self.upload(port, self.folder / "files" / "odd", "odd")
                self.assertEqual(got, expected, f"{size} bytes up")


if __name__ == "__main__":
    case.main()
