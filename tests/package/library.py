"""The installed ciphers, as a program of somebody else uses them."""

import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import places
from support import case

EXAMPLE = places.source / "tests" / "package" / "example"
OTHERS = re.compile(r'^#include [<"]((?!culvert/)[a-z0-9_/]+\.hpp)[>"]', re.M)


class Library(case.SystemTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.prefix = pathlib.Path(tempfile.mkdtemp(prefix="culvert-prefix-"))
        cls.addClassCleanup(shutil.rmtree, cls.prefix, ignore_errors=True)
        environment = {k: v for k, v in os.environ.items() if k != "DESTDIR"}
        places.output_of("cmake", "--install", places.build, "--prefix", cls.prefix, env=environment)

    def configure(self, source, folder):
        return subprocess.run(
            ["cmake", "-S", source, "-B", folder, f"-DCMAKE_PREFIX_PATH={self.prefix}",
             f"-DCMAKE_CXX_COMPILER={os.environ['CULVERT_CXX']}", "-DCMAKE_CXX_FLAGS=-Wall -Wextra"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)

    def test_the_example_builds_and_computes(self):
        folder = self.make_folder()
        configured = self.configure(EXAMPLE, folder)
        self.assertEqual(configured.returncode, 0, configured.stdout)
        built = places.output_of("cmake", "--build", folder, stderr=subprocess.STDOUT)
        self.assertNotIn("warning:", built)
        text = "a message of somebody else"
        self.assertEqual(places.output_of(folder / "example", text).splitlines(),
                         [hashlib.sha3_256(text.encode()).hexdigest(),
                          "same in pieces", "opened", "changed: refused"])

    def test_another_minor_version_is_refused(self):
        folder = self.make_folder()
        shutil.copytree(EXAMPLE, folder / "source")
        script = folder / "source" / "CMakeLists.txt"
        script.write_text(script.read_text().replace("culvert 0.1 ", "culvert 0.0 "))
        configured = self.configure(folder / "source", folder / "build")
        self.assertNotEqual(configured.returncode, 0)
        self.assertIn("compatible with requested", configured.stdout)

    def test_headers_stand_alone_and_name_only_installed_ones(self):
        include = self.prefix / "include"
        headers = sorted(p.relative_to(include) for p in include.rglob("*.hpp"))
        self.assertEqual({h.parts[:2] for h in headers}, {("culvert", "crypto")})
        wanted = {p.name for p in (places.source / "crypto").glob("*.hpp")}
        self.assertLessEqual(wanted, {h.name for h in headers})
        folder = self.make_folder()
        for number, header in enumerate(headers):
            self.assertEqual(OTHERS.findall((include / header).read_text()), [])
            (folder / f"{number}.cpp").write_text(f"#include <{header}>\n#include <{header}>\n")
        places.output_of(os.environ["CULVERT_CXX"], "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra",
                         "-Wconversion", "-Werror", f"-I{include}", *folder.glob("*.cpp"))

    def test_our_own_flags_and_folders_stay_here(self):
        files = sorted(self.prefix.glob("**/culvert*.cmake"))
        self.assertGreaterEqual(len(files), 4)
        for file in files:
            for ours in (str(places.source), str(places.build), "culvert_flags", "-Werror", "relro"):
                self.assertNotIn(ours, file.read_text(), file.name)


if __name__ == "__main__":
    case.main()
