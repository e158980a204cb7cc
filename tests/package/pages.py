"""The manual pages say what the programs know, and are well formed."""

import functools
import os
import re
import shutil
import subprocess

import places
from support import case

PAGES = ("culvert.1", "culvert-load.1", "culvert.conf.5")


@functools.cache
def rendered(page):
    """A page as a terminal shows it, a line a paragraph."""
    width = {**os.environ, "MANWIDTH": "10000", "LC_ALL": "C.UTF-8", "MANPAGER": "cat"}
    text = places.output_of("man", "-l", places.build / "packaging" / "man" / f"{page}.gz", env=width)
    return re.sub(r"\x1b\[[0-9;]*m|.\x08", "", text).replace("\N{HYPHEN}", "-").replace("−", "-")


class Pages(case.SystemTest):
    def setUp(self):
        super().setUp()
        if shutil.which("man") is None:
            self.skipTest("there is no man here: the package man-db has it")

    def test_culvert_conf_has_every_key_in_its_section(self):
        page = rendered("culvert.conf.5")
        sections = dict(zip(("daemon", "server", "client"),
                            re.split(r"^(?:DAEMON|SERVERS|CLIENTS|KEYS)$", page, flags=re.M)[1:]))
        self.assertGreater(len(places.keys()), 30)
        for section, key in places.keys():
            with self.subTest(section=section, key=key):
                self.assertRegex(sections[section], rf"(?m)^ +{re.escape(key)} = \S")

    def test_culvert_conf_tells_what_a_key_is_for(self):
        self.assertRegex(rendered("culvert.conf.5"),
                         r"(?m)^ +drain = TIME, 0s-1h \(=30s\)\n +how long SIGTERM waits")

    def test_culvert_has_every_command(self):
        self.assertIn("run", places.commands())
        for command in places.commands():
            with self.subTest(command):
                self.assertRegex(rendered("culvert.1"), rf"(?m)^ +culvert {command}\b")  # synopsis
                self.assertRegex(rendered("culvert.1"), rf"(?m)^ +{command}\b")

    def test_culvert_load_has_every_command_and_option(self):
        page = rendered("culvert-load.1")
        for command in places.LOAD_COMMANDS:
            self.assertRegex(page, rf"(?m)^ +{command}\b")
            for option in places.load_options(command):
                with self.subTest(command=command, option=option):
                    self.assertRegex(page, rf"(?m)^ +{option}\b(?!-)")

    def test_mandoc_has_no_complaint(self):
        if shutil.which("mandoc") is None:
            self.skipTest("there is no mandoc here")
        for page in PAGES:
            with self.subTest(page):
                text = subprocess.run(["gzip", "-dc", places.build / "packaging" / "man" / f"{page}.gz"],
                                      stdout=subprocess.PIPE, check=True, timeout=30).stdout
                lint = subprocess.run(["mandoc", "-Tlint", "-Wwarning"], input=text,
                                      stdout=subprocess.PIPE, timeout=30)
                self.assertEqual(lint.stdout.decode(), "")


if __name__ == "__main__":
    case.main()
