"""The base of the test cases: what they start is stopped, and a failure shows the logs."""

import functools
import pathlib
import shutil
import sys
import tempfile
import unittest

from . import programs
from .backends import Backend, Service
from .ports import is_listening
from .process import Daemon, Process
from .tunnel import Tunnel


def for_kinds(*kinds):
    """Makes a test that takes a kind of tunnel into one test for each of the kinds."""

    def mark(method):
        method.kinds = kinds
        return method

    return mark


class SystemTest(unittest.TestCase):
    def __init_subclass__(cls):
        super().__init_subclass__()
        for name, method in list(vars(cls).items()):
            for kind in getattr(method, "kinds", ()):
                suffix = str(kind).replace(" ", "_").replace("+", "_")
                test = functools.partialmethod(method, kind)
                setattr(cls, f"{name}_over_{suffix}", test)
            if hasattr(method, "kinds"):
                delattr(cls, name)

    def shortDescription(self):
        return None  # the name says it

    def run(self, result=None):
        result = result or self.defaultTestResult()
        before = len(result.failures) + len(result.errors)
        self._logs = {}
        super().run(result)
        if len(result.failures) + len(result.errors) > before:
            for name, log in self._logs.items():
                print(f"---- {self.id()}: log of {name}", file=sys.stderr)
                print("\n".join(log.splitlines()[-40:]), file=sys.stderr)
        return result

    # ---- things that end with the test ----

    def make_folder(self, parent=None):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="culvert-", dir=parent))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        return folder

    def start(self, command, name, ready, folder=None, how_to_stop=None, **options):
        """A service. `ready()` tells whether it can be used."""
        process = Process(command, folder or self.make_folder(), name, **options)
        stop = {"how": how_to_stop} if how_to_stop else {}
        self.addCleanup(self._stop, process, **stop)
        process.wait_until_ready(ready)
        return process

    def start_daemon(self, config, name, ports, prefix=(), **options):
        """`culvert run`, once it listens on all of the ports and takes connections; without ports,
        at once. `prefix` is a command that becomes the one behind it."""
        if "libfaketime" in (options.get("env") or {}).get("LD_PRELOAD", ""):
            _let_faketime_in(config)
        command = [*prefix, programs.culvert(), "run", config]
        daemon = Daemon(command, config.parent, name, **options)
        self.addCleanup(self._stop, daemon)
        if ports:
            daemon.wait_until_ready(
                lambda: all(is_listening(port) for port in ports) and daemon.threads() > 1)
        return daemon

    def _stop(self, process, **how):
        try:
            process.stop(**how)
        finally:
            key = process.name
            while key in self._logs:
                key += "'"
            self._logs[key] = process.log()

    def backend(self, **options):
        backend = Backend(**options)
        self.addCleanup(backend.close)
        return backend

    def service(self, handler, **options):
        service = Service(handler, **options)
        self.addCleanup(service.close)
        return service

    def tunnel(self, kind, target, **options):
        return Tunnel(self, kind, target, **options)

    # ---- assertions ----

    def assert_same_bytes(self, got, sent, what="the bytes"):
        """assertEqual without printing megabytes."""
        if got == sent:
            return
        shorter = min(len(got), len(sent))
        differ = next((i for i in range(shorter) if got[i] != sent[i]), shorter)
        self.fail(f"{what}: {len(got)} bytes came, {len(sent)} were sent, they differ at {differ}")

    def assert_prefix(self, got, sent, what="the bytes"):
        self.assert_same_bytes(got, sent[: len(got)], what)

    def assert_one_log_line(self, process, pattern):
        process.wait_for_log(pattern)
        self.assertEqual(len(process.log_lines(pattern)), 1, process.log())


def _let_faketime_in(config):
    """The library removes its shared memory at the end, which no daemon may do."""
    text = config.read_text()
    if "sandbox" not in text:
        config.write_text(f"[daemon]\nsandbox = off\n{text}" if "[daemon]" not in text
                          else text.replace("[daemon]", "[daemon]\nsandbox = off", 1))


# A failed test leaves sockets open; that is not worth a line each.
main = functools.partial(unittest.main, verbosity=2, warnings="ignore")
