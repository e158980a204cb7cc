"""The guides of config/guides: everything in them is done on machines of its own, as it stands there."""

import pathlib
import re
import subprocess

from support import case, guide, machine, programs
from support.waiting import together

SOURCE = pathlib.Path(__file__).resolve().parents[2]
GUIDES = SOURCE / "config" / "guides"
ADDRESSES = {"edge": "192.0.2.10", "app": "192.0.2.20", "alice": "192.0.2.20", "bob": "192.0.2.30",
             "lb": "192.0.2.40", "edge1": "192.0.2.11", "edge2": "192.0.2.12"}


def install(host):
    """culvert, as its Debian package leaves it. Other packages are here already, and apt, which reaches
    no archive, shall not know of newer ones."""
    host.must("rm -rf /var/lib/apt/lists/*")
    for name, path in (("culvert", programs.culvert()), ("culvert-load", programs.culvert_load())):
        host.copy(path, f"/usr/bin/{name}")
    host.write("/etc/culvert/culvert.conf", (SOURCE / "packaging/debian/culvert.conf").read_text())
    for folder in (SOURCE / "config/samples/systemd").iterdir():
        text = re.sub(r"/usr/local/bin/culvert\b", "/usr/bin/culvert", folder.read_text())
        host.write(f"/lib/systemd/system/{folder.name}", text)
    host.write("/tmp/postinst", (SOURCE / "packaging/debian/postinst").read_text(), 0o755)
    host.must("/tmp/postinst configure; systemctl daemon-reload")


def let_in(server, client):
    """root of one host may log in at the other, who is known there."""
    client.must("test -e .ssh/id_ed25519 || ssh-keygen -q -t ed25519 -N '' -f .ssh/id_ed25519")
    key = client.must("cat .ssh/id_ed25519.pub").strip()
    server.must(f"mkdir -p -m 700 .ssh; echo '{key}' >>.ssh/authorized_keys")
    server.must("ssh-keygen -A >/dev/null; systemctl start systemd-user-sessions ssh")
    known = server.must("cat /etc/ssh/ssh_host_ed25519_key.pub")
    client.write("/root/.ssh/known_hosts", f"{server.name}.example {known}")


class Guides(case.SystemTest):
    def carry_out(self, name, hosts, acquainted=()):
        """A guide, on those hosts; each pair of `acquainted` may log in from the one to the other."""
        file = GUIDES / f"{name}.md"
        steps = guide.read(file, hosts.split())
        machines = machine.Site(self, {host: ADDRESSES[host] for host in hosts.split()}).machines
        together({host: lambda it=it: install(it) for host, it in machines.items()})
        for client, server in acquainted:
            let_in(machines[server], machines[client])
        guide.carry_out(file.relative_to(SOURCE), steps, machines)

    def test_redis(self):
        self.carry_out("redis", "edge app", [("app", "edge")])

    def test_postgresql(self):
        self.carry_out("postgresql", "edge alice bob", [("alice", "edge"), ("bob", "edge")])

    def test_nginx(self):
        self.carry_out("nginx", "edge app", [("app", "edge")])

    def test_systemd(self):
        self.carry_out("systemd", "edge")

    def test_moving(self):
        self.carry_out("moving", "edge app", [("app", "edge")])

    def test_keys(self):
        self.carry_out("keys", "edge app", [("app", "edge"), ("edge", "app")])

    def test_scaling(self):
        self.carry_out("scaling", "lb edge1 edge2 app", [("app", "edge1"), ("edge2", "edge1")])


class Reading(case.SystemTest):
    """The runner itself: what it takes, and that it leaves nothing out."""

    def read(self, text, hosts=("edge",)):
        file = self.make_folder() / "guide.md"
        file.write_text(text)
        return guide.read(file, hosts)

    def test_no_command_is_left_out(self):
        for text, why in (
                ("**edge**:\n```sh\nls\n```\n", "no host ''"),
                ("**edge**:\n```sh app\nls\n```\n", "no host 'app'"),
                ("On another:\n```sh edge\nls\n```\n", "does not say **edge**"),
                ("**edge**:\n```ini edge:/etc/x\na\n```\n", "does not say `/etc/x`"),
                ("**edge**:\n```ini edge\na\n```\n", "can't be understood"),
                ("**edge**:\n```sh edge quickly\nls\n```\n", "can't be understood"),
                ("**edge**:\n```sh edge\nls\n", "does not end"),
                ("**edge**:\n\n    ls\n", "not in a block"),
                ("```text\na\n```\n", "without the commands"),
                ("Just words.\n", "nothing to run")):
            with self.assertRaisesRegex(guide.GuideError, re.escape(why)):
                self.read(text)

    def test_commands_in_the_text_are_run_too(self):
        """What a sentence tells to type stands in a block as well."""
        for file in sorted(GUIDES.glob("*.md")):
            prose = re.sub(r"^```.*?^```$", "", file.read_text(), flags=re.S | re.M)
            run = "\n".join(re.findall(r"^```sh.*?^```$", file.read_text(), re.S | re.M))
            for command in re.findall(r"`((?:culvert|systemctl|journalctl|haproxy) [^`]+)`", prose):
                self.assertTrue(command in run, f"{file.name}: {command} is not run")

    def test_outputs_are_compared(self):
        self.assertTrue(guide.matches("a … c\n", "a b\nb c\n"))
        self.assertFalse(guide.matches("a … c\n", "a b\n"))
        self.assertFalse(guide.matches("a\n", "a\nb\n"))

    def test_every_guide_is_run_and_listed(self):
        names = sorted(file.stem for file in GUIDES.glob("*.md"))
        run = sorted(re.findall(r'self\.carry_out\("(\w+)"', pathlib.Path(__file__).read_text()))
        self.assertEqual(run, names)
        told = (SOURCE / "README.md").read_text()
        for name in names:
            self.assertTrue(f"(config/guides/{name}.md)" in told, f"README does not list {name}")


if __name__ == "__main__":
    machine.boot_or_skip()
    case.main()
