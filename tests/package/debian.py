"""The Debian packages, as `make package` has made them."""

import os
import re
import shutil
import subprocess
import unittest

import places
from support import case

NAMES = ("culvert", "libculvert-crypto-dev")


def packages():
    """The .deb of each name, of this version."""
    found = {name: sorted(places.package_build.glob(f"{name}_*.deb")) for name in NAMES}
    if not all(found.values()):
        raise unittest.SkipTest("no packages are here: make package makes them")
    return {name: max(files, key=lambda file: file.stat().st_mtime) for name, files in found.items()}


def setUpModule():
    if shutil.which("dpkg-deb") is None:
        raise unittest.SkipTest("there is no dpkg-deb here: packages are made and tested on Debian")
    packages()


def field(package, name):
    return places.output_of("dpkg-deb", "--field", package, name).strip()


def files_of(package):
    """{path: mode and owner} of what a package installs."""
    rows = (line.split(maxsplit=5) for line in
            places.output_of("dpkg-deb", "--contents", package).splitlines())
    return {row[5].removeprefix("."): (row[0], row[1]) for row in rows}


class Packages(case.SystemTest):
    def test_lintian_has_no_complaint(self):
        if shutil.which("lintian") is None:
            self.skipTest("there is no lintian here")
        root = ["--allow-root"] if os.geteuid() == 0 else []
        told = subprocess.run(["lintian", *root, "--pedantic", "--fail-on", "error,warning,pedantic",
                               *packages().values()],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
        self.assertEqual((told.returncode, told.stdout.strip()), (0, ""))

    def test_what_it_needs(self):
        needs = field(packages()["culvert"], "Depends")
        for library in ("libc6", "libssl3", "libstdc++6", "adduser"):
            self.assertRegex(needs, rf"(^|, ){re.escape(library)}( |,|$)")

    def test_what_is_in_it(self):
        files = files_of(packages()["culvert"])
        for path in ("/usr/bin/culvert", "/usr/bin/culvert-load", "/etc/culvert/culvert.conf",
                     "/usr/share/man/man1/culvert.1.gz", "/usr/share/man/man1/culvert-load.1.gz",
                     "/usr/share/man/man5/culvert.conf.5.gz",
                     "/usr/share/bash-completion/completions/culvert",
                     "/usr/share/zsh/vendor-completions/_culvert",
                     "/usr/share/fish/vendor_completions.d/culvert.fish",
                     "/usr/share/doc/culvert/examples/culvert.conf",
                     "/usr/share/doc/culvert/copyright"):
            self.assertIn(path, files)
        self.assertEqual({owner for _, owner in files.values()}, {"root/root"})
        writable = [path for path, (mode, _) in files.items() if mode[5] == "w" or mode[8] == "w"]
        self.assertEqual(writable, [])

    def test_units_start_the_installed_program(self):
        folder = self.make_folder()
        places.output_of("dpkg-deb", "--extract", packages()["culvert"], folder)
        sources = (places.source / "config" / "samples" / "systemd").glob("*.service")
        for name in (source.name for source in sources):
            unit = (folder / "usr/lib/systemd/system" / name).read_text()
            self.assertEqual(re.findall(r"^ExecStart=(\S+)", unit, re.M), ["/usr/bin/culvert"])
            self.assertTrue(unit.startswith("[Unit]\n"), unit[:80])

    def test_what_an_administrator_changes_is_a_conffile(self):
        told = places.output_of("dpkg-deb", "--info", packages()["culvert"], "conffiles").split()
        in_etc = [path for path in files_of(packages()["culvert"])
                  if path.startswith("/etc/") and not path.endswith("/")]
        self.assertEqual(sorted(told), sorted(in_etc))

    def test_no_file_is_in_both(self):
        both = [set(path for path in files_of(package) if not path.endswith("/"))
                for package in packages().values()]
        self.assertEqual(both[0] & both[1], set())

    def test_the_programs_name_no_folder_of_this_machine(self):
        folder = self.make_folder()
        for package in packages().values():
            places.output_of("dpkg-deb", "--extract", package, folder)
        for file in filter(lambda path: path.is_file(), folder.rglob("*")):
            self.assertNotIn(bytes(places.source), file.read_bytes(), file)


class Packing(case.SystemTest):
    def pack(self, umask=0o022, zone="UTC"):
        """The packages, packed again at a given moment."""
        folder = self.make_folder()
        environment = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000", "TZ": zone}
        places.output_of("cpack", "--config", places.package_build / "CPackConfig.cmake", "-B", folder,
                         cwd=folder, umask=umask, env=environment, stderr=subprocess.DEVNULL)
        return {name: next(folder.glob(f"{name}_*.deb")) for name in NAMES}

    def test_the_same_build_gives_the_same_bytes(self):
        first, second = self.pack(), self.pack(zone="Asia/Tokyo")
        for name in NAMES:
            self.assertTrue(first[name].read_bytes() == second[name].read_bytes(), f"{name} differs")

    def test_folders_are_for_everybody_whoever_packs(self):
        for package in self.pack(umask=0o077).values():
            modes = {mode for path, (mode, _) in files_of(package).items() if path.endswith("/")}
            self.assertEqual(modes, {"drwxr-xr-x"})


if __name__ == "__main__":
    case.main()
