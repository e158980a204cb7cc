"""The admin listener of a daemon, as curl, a browser or Prometheus would ask it."""

import http.client
import json
import re
import socket
import subprocess

from . import programs

_SAMPLE = re.compile(r"(?P<name>[a-z_:]+)(?:\{(?P<labels>.*)\})? (?P<value>\S+)")
_LABEL = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"')


class _OverUnix(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class Admin:
    """Asks at `place`: a port of the loopback, or the path of a unix socket."""

    def __init__(self, place, seconds=20):
        self.place, self.seconds = place, seconds

    def connection(self):
        if isinstance(self.place, int):
            return http.client.HTTPConnection("127.0.0.1", self.place, timeout=self.seconds)
        return _OverUnix(str(self.place), self.seconds)

    def ask(self, path, method="GET", headers=()):
        """The response, read to its end: `.status`, `.headers`, `.body`."""
        connection = self.connection()
        try:
            connection.request(method, path, headers=dict(headers))
            response = connection.getresponse()
            response.body = response.read()
            return response
        finally:
            connection.close()

    def get(self, path):
        response = self.ask(path)
        if response.status != 200:
            raise AssertionError(f"{path}: {response.status} {response.body!r}")
        return response.body

    def status(self):
        return json.loads(self.get("/status.json"))

    def server(self, name="edge"):
        return next(one for one in self.status()["servers"] if one["name"] == name)

    def client(self, name="app"):
        return next(one for one in self.status()["clients"] if one["name"] == name)

    def metrics(self):
        return Metrics(self.get("/metrics").decode())


class Metrics:
    """The samples of a Prometheus text."""

    def __init__(self, text):
        self.text = text
        self.samples = {}
        for line in text.splitlines():
            if line.startswith("#"):
                continue
            found = _SAMPLE.fullmatch(line)
            if not found:
                raise AssertionError(f"no sample: {line!r}")
            key = (found["name"], frozenset(_LABEL.findall(found["labels"] or "")))
            if key in self.samples:
                raise AssertionError(f"twice: {line!r}")
            self.samples[key] = float(found["value"])

    def value(self, name, **labels):
        """None where there is no such series."""
        return self.samples.get((name, frozenset(labels.items())))

    def check(self):
        """What promtool has to say against the text."""
        promtool = programs.find("promtool", "prometheus")
        done = subprocess.run([promtool, "check", "metrics"], input=self.text, text=True,
                              capture_output=True, timeout=60, check=False)
        return done.stdout + done.stderr if done.returncode or done.stderr else ""
