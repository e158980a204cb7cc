"""Where the sources, the build and the programs of the tests of this folder are."""

import os
import pathlib
import re
import subprocess

source = pathlib.Path(os.environ["CULVERT_SOURCE"])
build = pathlib.Path(os.environ["CULVERT_BUILD"])
culvert = os.environ["CULVERT_BINARY"]
culvert_load = os.environ["CULVERT_LOAD_BINARY"]
# Other builds, which `make package-test` has made.
package_build = source / "build" / "package"
static_build = source / "build" / "static"

LOAD_COMMANDS = ("serve", "bulk", "latency", "churn", "idle", "report")


def output_of(*command, **options):
    """What a program prints; an exception when it fails."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True,
                          check=True, timeout=300, **options)
    return done.stdout


def commands():
    """The commands that `culvert help` names."""
    return sorted(set(re.findall(r"^ +culvert ([a-z]+)", output_of(culvert, "help"), re.M)))


def keys():
    """(section, key) of every key that `culvert help config` names."""
    section, found = None, []
    for line in output_of(culvert, "help", "config").splitlines():
        if heading := re.match(r"\[([a-z]+)", line):
            section = heading[1]
        elif key := re.match(r"  ([a-z][a-z-]*) = ", line):
            found.append((section, key[1]))
    return found


def load_options(command):
    """The options that `culvert-load COMMAND --help` names."""
    return re.findall(r"^ +(--[a-z-]+)", output_of(culvert_load, command, "--help"), re.M)
