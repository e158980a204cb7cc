"""Programs that the tests drive."""

import os
import pathlib
import shutil


class MissingProgram(AssertionError):
    """A test that silently skips a missing service would pass for the wrong reason."""


def culvert():
    return _from_environment("CULVERT_BINARY")


def culvert_faults():
    return _from_environment("CULVERT_FAULTS")


def culvert_load():
    return _from_environment("CULVERT_LOAD")


def _from_environment(variable):
    path = os.environ.get(variable, "")
    if not os.access(path, os.X_OK):
        raise MissingProgram(f"{variable}={path!r} is no program: run the tests through ctest")
    return path


def find(name, package, folders=()):
    """The program's path: of PATH, the system folders and `folders`."""
    search = [os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/bin", "/usr/bin", *folders]
    path = shutil.which(name, path=os.pathsep.join(search))
    if path is None:
        raise missing(name, package)
    return path


def missing(what, package):
    return MissingProgram(
        f"{what} is missing: install the package {package}, as the Makefile at the top of the "
        f"project does for all that its tests need"
    )


def find_postgresql(name):
    """PostgreSQL's server programs stand in a folder of their version on Debian."""
    versions = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return find(name, "postgresql", [str(folder) for folder in versions])


def with_clock(offset):
    """An environment in which the time of day is off, such as "+130s", and timers are right."""
    return {**_with_libfaketime(), "FAKETIME": offset}


def with_clock_in(file):
    """The same, with the offset in a file that may change meanwhile."""
    return {**_with_libfaketime(), "FAKETIME_TIMESTAMP_FILE": str(file), "FAKETIME_NO_CACHE": "1"}


def _with_libfaketime():
    library = next(iter(pathlib.Path("/usr/lib").glob("**/faketime/libfaketimeMT.so.1")), None)
    if library is None:
        raise missing("libfaketime", "faketime")
    return {**os.environ, "LD_PRELOAD": str(library), "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
