"""The package in a clean root: installed, used, installed again, purged."""

import places
import root
from debian import packages
from support import case


def setUpModule():
    packages()
    root.skip_unless_possible()


class CleanRoot(case.SystemTest):
    def test_from_installation_to_purge(self):
        system = root.Root(self)
        package = system.add(packages()["culvert"], "/tmp")
        before = system.snapshot()
        self.assertNotIn("/usr/bin/culvert", before)

        system.apt("install", package)
        self.check_user_and_folder(system)
        self.check_pages(system)
        self.use(system)
        self.enable(system)
        changed = self.configuration(system)
        self.assertIn("[client.load]", changed)

        system.apt("install", "--reinstall", package)
        self.assertEqual(self.configuration(system), changed)
        self.check_user_and_folder(system)

        system.apt("remove", "culvert")
        self.assertEqual(self.configuration(system), changed)
        self.assertTrue((system.path / "etc/culvert/edge.psk").exists())

        system.apt("purge", "--auto-remove", "culvert")
        self.assert_same_system(before, system.snapshot())

    def enable(self, system):
        """What `systemctl enable` does, as there is no systemd in the root."""
        unit = "/usr/lib/systemd/system/culvert.service"
        if not (system.path / unit.lstrip("/")).exists():
            return  # none is packed yet
        wants = system.path / "etc/systemd/system/multi-user.target.wants"
        wants.mkdir(parents=True, exist_ok=True)
        (wants / "culvert.service").symlink_to(unit)

    def configuration(self, system):
        return (system.path / "etc/culvert/culvert.conf").read_text()

    def check_user_and_folder(self, system):
        entry = system.run("getent", "passwd", "culvert").strip().split(":")
        self.assertEqual(entry[5:], ["/nonexistent", "/usr/sbin/nologin"])
        self.assertLess(int(entry[2]), 1000)
        self.assertEqual(system.run("stat", "-c", "%U:%G %a", "/etc/culvert"), "root:culvert 750\n")

    def check_pages(self, system):
        for section, name in (("1", "culvert"), ("1", "culvert-load"), ("5", "culvert.conf")):
            self.assertEqual(system.run("man", "-w", section, name).strip(),
                             f"/usr/share/man/man{section}/{name}.{section}.gz")

    def use(self, system):
        script = system.add(places.source / "tests/package/clean_root.sh", "/tmp")
        told = system.run("sh", script, network=False)
        self.assertIn("all bytes came", told.splitlines())

    def assert_same_system(self, before, after):
        left = sorted(after.keys() - before.keys())
        gone = sorted(before.keys() - after.keys())
        changed = {path: (before[path], after[path]) for path in before.keys() & after.keys()
                   if before[path] != after[path]}
        self.assertEqual((left, gone, changed), ([], [], {}))


if __name__ == "__main__":
    case.main()
