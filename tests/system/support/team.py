"""A server with several named clients, and a client daemon that plays all of them."""

import subprocess

from . import process, programs
from .ports import free_port
from .streams import connect_without_asking
from .tunnel import PATH


class Team:
    """`members` maps names to what stands behind their key in the list. `kind` has keys psk: a list
    of psks, or static: a list of public keys. Each member has a port for each service, and one,
    named None, that asks for the default."""

    def __init__(self, test, kind, services, members, *, server=(), daemon=(), client=(),
                 asks=None):
        self._test = test
        self.kind = kind
        self.folder = test.make_folder()
        self.server_port = free_port()
        self.ports = {(name, service): free_port()
                      for name in members for service in (None, *(asks or services))}
        keys = self._make_list(members)
        daemon_lines = ["[daemon]", "drain = 1s", *daemon]
        ws = kind.carrier == "ws"
        self.server = self._start("server", [
            *daemon_lines,
            "[server.team]",
            f"listen = 127.0.0.1:{self.server_port}",
            f"carrier = {kind.carrier}",
            *([f"path = {PATH}"] if ws else []),
            *keys,
            *(f"service = {name} {target}" for name, target in services.items()),
            *server,
        ], [self.server_port])
        url = f"{kind.carrier}://127.0.0.1:{self.server_port}{PATH if ws else ''}"
        sections = [self._client_section(name, service, port, url, client)
                    for (name, service), port in self.ports.items()]
        self.client = self._start("client", [*daemon_lines, *sum(sections, [])],
                                  list(self.ports.values()))

    def list_file(self):
        return self.folder / ("team.psk" if self.kind.keys == "psk" else "team.pub")

    def psk_of(self, name):
        return (self.folder / f"{name}.key").read_text().strip()

    def connect(self, name, service=None):
        application = connect_without_asking(self.ports[name, service])
        self._test.addCleanup(application.close)
        return application

    def _make_list(self, members):
        if self.kind.keys == "psk":
            for name, rights in members.items():
                self._keygen("psk", name)
                # As the README has it, by a shell.
                line = f'echo "{name} $(cat {name}.key) {rights}" >> team.psk'
                subprocess.run(["sh", "-c", f"umask 077; {line}"], cwd=self.folder, check=True)
            return ["psks = team.psk"]
        self._server_public = self._keygen("static", "server")
        lines = [f"{name} {self._keygen('static', name)} {rights}\n"
                 for name, rights in members.items()]
        self.list_file().write_text("".join(lines))
        return ["identity = server.key", "clients = team.pub"]

    def _keygen(self, kind, name):
        file = self.folder / f"{name}.key"
        done = subprocess.run([programs.culvert(), "keygen", kind, file], capture_output=True,
                              text=True, check=True)
        process.secrets.append(file.read_text().strip())
        return done.stdout.strip()

    def _client_section(self, name, service, port, url, more):
        key = "psk" if self.kind.keys == "psk" else "identity"
        return [
            f"[client.{name.replace('@', '-')}-{service or 'default'}]",
            f"listen = 127.0.0.1:{port}",
            f"connect = {url}",
            *([f"service = {service}"] if service else []),
            f"{key} = {name}.key",
            *([f"server-key = {self._server_public}"] if key == "identity" else []),
            *more,
        ]

    def _start(self, name, lines, ports):
        file = self.folder / f"{name}.conf"
        file.write_text("\n".join([*lines, ""]))
        return self._test.start_daemon(file, name, ports)
