"""Where a daemon's keys lie: its live memory, and a core that is forced from it."""

import base64
import os
import subprocess
import unittest

from support import case, derivation, memory, programs
from support.streams import connect, random_bytes, read_exactly
from support.tunnel import TCP, TCP_STATIC, Kind, make_keys

root_looks = unittest.skipUnless(
    os.geteuid() == 0, "only root may look into a daemon that is not dumpable")


class Keys(case.SystemTest):
    """The bytes of keys, looked for in all of the daemon's memory. The control is what lies beside
    each start state and is no secret: it has to be found."""

    KINDS = (TCP, TCP_STATIC, Kind("ws", "static+psk"))

    def secrets_of(self, keys, kind):
        """What must be nowhere, and by end what only in locked memory."""
        psk = bytes.fromhex((keys.folder / "edge.psk").read_text())
        public = bytes.fromhex(keys.server_public)
        nowhere, locked = {}, {"server": {}, "client": {}}
        if "psk" in kind.keys:
            nowhere |= self.forms("psk", psk) | {"psk": psk}
        if "static" in kind.keys:
            start = derivation.start_state(
                psk if "psk" in kind.keys else bytes(32), public, "static")
            self.control = derivation.start_hash(public, "static")
            for end in locked:
                private = bytes.fromhex((keys.folder / f"{end}.key").read_text())
                nowhere |= self.forms(f"key of the {end}", private)
                locked[end][f"key of the {end}"] = private
        else:
            start = derivation.start_state(psk)
            self.control = derivation.start_hash()
        for end in locked:
            locked[end]["start state"] = start
        return nowhere, locked

    @staticmethod
    def forms(name, key):
        return {
            f"{name} as hex": key.hex().encode(),
            f"{name} as base64": base64.b64encode(key).rstrip(b"="),
        }

    def assert_kept(self, pid, nowhere, locked, moment):
        found = memory.where(pid, {"control": self.control, **nowhere, **locked})
        self.assertTrue(found["control"], "the search finds nothing at all")
        for name in nowhere:
            self.assertEqual([str(place) for place in found[name]], [], f"{moment}: {name}")
        for name in locked:
            self.assertTrue(found[name], f"{moment}: {name} is not there")
            outside = [str(place) for place in found[name] if not place.guarded]
            self.assertEqual(outside, [], f"{moment}: {name} outside locked memory")

    @root_looks
    @case.for_kinds(*KINDS)
    def test_are_nowhere_but_in_locked_memory(self, kind):
        keys = make_keys()
        nowhere, locked = self.secrets_of(keys, kind)
        backend = self.backend()
        tunnel = self.tunnel(kind, backend.target, server_keys=keys, client_keys=keys,
                             daemon=["threads = 2"], client=["pool = 1"])

        def look(moment):
            for end in ("server", "client"):
                self.assert_kept(getattr(tunnel, end).pid, nowhere, locked[end], f"{end}, {moment}")

        look("after the start")
        pairs = [tunnel.open(backend) for _ in range(8)]
        data = random_bytes(300_000, "keys")
        for application, service in pairs:
            application.sendall(data)
            self.assert_same_bytes(read_exactly(service, len(data)), data)
        look("in the middle of sessions")
        for application, service in pairs:
            application.close()
            service.close()
        for end in ("server", "client"):
            getattr(tunnel, end).wait_for_log(r"service it: ended", 30)
        look("after sessions")

    @root_looks
    def test_in_the_middle_of_a_handshake(self):
        """A server that says nothing holds the client up in it; a half message holds the server."""
        keys = make_keys()
        nowhere, locked = self.secrets_of(keys, TCP)
        backend = self.backend()
        tunnel = self.tunnel(TCP, backend.target, server_keys=keys, client_keys=keys)
        silent = self.backend()
        tunnel.replace_client(lambda text: text.replace(
            f":{tunnel.server_port}", f":{silent.port}"))
        with tunnel.connect() as _:
            held = silent.accept()
            self.addCleanup(held.close)
            flight = read_exactly(held, 96)
            with connect(tunnel.server_port) as stranger:
                stranger.sendall(flight[:95])
                for end in ("server", "client"):
                    self.assert_kept(getattr(tunnel, end).pid, nowhere, locked[end], end)

    @root_looks
    @case.for_kinds(TCP, TCP_STATIC)
    def test_are_not_in_a_core_that_a_debugger_makes(self, kind):
        keys = make_keys()
        nowhere, locked = self.secrets_of(keys, kind)
        backend = self.backend()
        tunnel = self.tunnel(kind, backend.target, server_keys=keys, client_keys=keys)
        application, service = tunnel.open(backend)
        application.sendall(b"hello")
        self.assertEqual(read_exactly(service, 5), b"hello")
        for end in ("server", "client"):
            core = self.core_of(getattr(tunnel, end))
            self.assertTrue(self.control in core, "the core holds nothing at all")
            for name, secret in (nowhere | locked[end]).items():
                self.assertFalse(secret in core, f"{end}: {name}")

    def core_of(self, daemon):
        gcore = programs.find("gcore", "gdb")
        folder = self.make_folder()
        done = subprocess.run([gcore, "-o", folder / "core", str(daemon.pid)], text=True,
                              capture_output=True, timeout=120, check=False)
        if "Operation not permitted" in done.stderr:
            self.skipTest("this machine lets nobody trace: " + done.stderr.strip())
        return (folder / f"core.{daemon.pid}").read_bytes()


if __name__ == "__main__":
    case.main()
