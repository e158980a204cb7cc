"""The static build: which libraries it still wants, and that names are resolved without them."""

import os
import re
import socket
import unittest

import places
from support import case, programs
from support.backends import echo
from support.streams import CLEAN, read_until_end
from support.tunnel import TCP, WEBSOCKET_STATIC

# glibc, which loads its own modules to resolve names, and what the kernel brings along.
INTENDED = re.compile(r"linux-vdso\.so\.1|libc\.so\.6|libm\.so\.6|ld-linux-[a-z0-9_-]+\.so\.[0-9]+")


def setUpModule():
    if not (places.static_build / "culvert").exists():
        raise unittest.SkipTest("no static build is here: make package-test makes one")
    os.environ["CULVERT_BINARY"] = str(places.static_build / "culvert")


class StaticPrograms(case.SystemTest):
    def test_no_library_but_glibc(self):
        for program in ("culvert", "culvert-load"):
            told = places.output_of("ldd", places.static_build / program)
            for line in told.splitlines():
                library = os.path.basename(line.split()[0])
                self.assertRegex(library, rf"^({INTENDED.pattern})$")
            self.assertIn("libc.so.6", told)

    @case.for_kinds(TCP, WEBSOCKET_STATIC)
    def test_bytes_go_through_a_tunnel_to_a_name(self, kind):
        service = self.service(echo)
        tunnel = self.tunnel(kind, service.target.replace("127.0.0.1", "localhost"))
        tunnel.replace_client(lambda text: text.replace("://127.0.0.1:", "://localhost:"))
        sent = os.urandom(100_000)
        application = tunnel.connect()
        application.sendall(sent)
        application.shutdown(socket.SHUT_WR)
        got = read_until_end(application)
        self.assertEqual(got.end, CLEAN)
        self.assert_same_bytes(got.data, sent)

    def test_it_is_the_static_program_that_runs(self):
        self.assertEqual(programs.culvert(), str(places.static_build / "culvert"))


if __name__ == "__main__":
    case.main()
