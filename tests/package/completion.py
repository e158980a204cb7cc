"""Completion in the shells: the files can be read, and offer what the programs know."""

import os
import pathlib
import shlex
import shutil

import places
from support import case

FILES = places.source / "packaging" / "completion"
CONFIG = """\
[daemon]
threads = 1
[server.edge]
listen = 7700
  [client.redis]
listen = 6380
[client.web]   # in front of nginx
"""


class Completion(case.SystemTest):
    shell = None

    def setUp(self):
        super().setUp()
        if shutil.which(self.shell) is None:
            self.skipTest(f"there is no {self.shell} here")
        self.folder = self.make_folder()
        (self.folder / "tunnel.conf").write_text(CONFIG)

    def run_shell(self, script):
        path = os.pathsep.join([str(pathlib.Path(places.culvert).parent), os.environ["PATH"]])
        return places.output_of(self.shell, *self.bare, "-c", script, cwd=self.folder,
                                env={**os.environ, "PATH": path, "HOME": str(self.folder)})

    def assert_can_be_read(self, *files):
        for file in files:
            places.output_of(self.shell, "-n", FILES / file)


class OffersAll:
    """For shells whose completion can be asked without a terminal."""

    def test_commands(self):
        self.assertEqual(self.offers("culvert", ""), places.commands())
        self.assertEqual(self.offers("culvert", "pr"), ["probe"])
        self.assertLessEqual(set(places.LOAD_COMMANDS), set(self.offers("culvert-load", "")))

    def test_words_of_commands(self):
        self.assertEqual(self.offers("culvert", "keygen", ""), ["psk", "static"])
        self.assertEqual(self.offers("culvert", "help", ""), ["config"])
        self.assertEqual(self.offers("culvert", "version", ""), [])
        self.assertEqual(self.offers("culvert", "status", "--"), ["--json"])

    def test_files(self):
        for words in (["run"], ["check"], ["pubkey"], ["probe"], ["keygen", "psk"], ["top"],
                      ["status"], ["status", "--json"]):
            self.assertEqual(self.offers("culvert", *words, "tunn"), ["tunnel.conf"], words)

    def test_client_sections_of_the_file(self):
        self.assertEqual(self.offers("culvert", "probe", "tunnel.conf", ""), ["redis", "web"])
        self.assertEqual(self.offers("culvert", "probe", "no-such-file", ""), [])

    def test_files_of_the_load_client(self):
        for words in (["bulk", "--psk"], ["bulk", "--report"], ["report"], ["report", "--output"]):
            self.assertEqual(self.offers("culvert-load", *words, "tunn"), ["tunnel.conf"], words)

    def test_options_of_the_load_client(self):
        for command in places.LOAD_COMMANDS:
            self.assertEqual(self.offers("culvert-load", command, "--"),
                             sorted(places.load_options(command)))
        self.assertEqual(self.offers("culvert-load", "bulk", "--direction", ""),
                         ["both", "down", "up"])


class Bash(OffersAll, Completion):
    shell, bare = "bash", ("--norc",)

    def offers(self, program, *words):
        function = "_" + program.replace("-", "_")
        return sorted(self.run_shell(f"""
            source {shlex.quote(str(FILES / program))}.bash
            COMP_WORDS=({program} {" ".join(map(shlex.quote, words))})
            COMP_CWORD={len(words)}
            {function}
            printf '%s\\n' "${{COMPREPLY[@]}}"
        """).split())

    def test_can_be_read(self):
        self.assert_can_be_read("culvert.bash", "culvert-load.bash")


class Fish(OffersAll, Completion):
    shell, bare = "fish", ("--no-config",)

    def offers(self, program, *words):
        line = shlex.quote(" ".join([program, *words]))
        told = self.run_shell(f"source {shlex.quote(str(FILES / program))}.fish; complete -C {line}")
        return sorted(line.split("\t")[0] for line in told.splitlines())

    def test_can_be_read(self):
        self.assert_can_be_read("culvert.fish", "culvert-load.fish")


class Zsh(Completion):
    shell, bare = "zsh", ("-f",)

    def test_can_be_read_and_belongs_to_the_programs(self):
        self.assert_can_be_read("_culvert", "_culvert-load")
        told = self.run_shell(f"""
            fpath=({shlex.quote(str(FILES))} $fpath)
            autoload -Uz compinit && compinit -D -u
            print ${{_comps[culvert]}} ${{_comps[culvert-load]}}
        """)
        self.assertEqual(told.split(), ["_culvert", "_culvert-load"])

    def test_offers_every_command(self):
        text = (FILES / "_culvert").read_text()
        for command in places.commands():
            self.assertIn(f"\n        '{command}:", text)


del Completion  # the base has no shell to test

if __name__ == "__main__":
    case.main()
