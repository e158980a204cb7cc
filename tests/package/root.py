"""A Debian system of its own in a folder, with nothing in it but what every Debian has."""

import hashlib
import os
import pathlib
import platform
import re
import shutil
import stat
import subprocess
import tempfile
import unittest
import urllib.error
import urllib.request

import places

# Made once and kept with the builds.
_KEPT = places.source / "build" / "package-root"
# What changes with any package that comes and goes, and belongs to none.
_PASSING = re.compile(r"/(proc|sys|dev|run|tmp|var/(cache|log|lib/(apt|dpkg)))(/|$)|"
                      r"/etc/(passwd-|group-|shadow-|gshadow-|ld\.so\.cache)$")


class Root:
    def __init__(self, test):
        mirrors = _mirrors()
        base = _base(mirrors)
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="run-", dir=_KEPT))
        test.addCleanup(shutil.rmtree, self.path)
        places.output_of("tar", "--extract", "--preserve-permissions", "--numeric-owner",
                         "--file", base, "--directory", self.path)

    def run(self, *command, network=True, status=0):
        """What a command prints that sees this root as its system. Without the network it has a
        loopback of its own."""
        alone = ["unshare", "--mount", "--pid", "--fork", "--kill-child"]
        script = 'mount -t proc proc "$0/proc"; exec chroot "$0" "$@"'
        if not network:
            alone.append("--net")
            script = "ip link set lo up; " + script
        done = subprocess.run([*alone, "sh", "-ec", script, self.path, *command],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=600, env=_environment())
        if done.returncode != status:
            raise AssertionError(f"{command} ends with {done.returncode}:\n{done.stdout}")
        return done.stdout

    def apt(self, *words):
        return self.run("apt-get", "--quiet", "--yes", "--no-install-recommends", *words)

    def add(self, file, folder):
        """A copy of a file in a folder of the root; its path there."""
        shutil.copy(file, self.path / folder.lstrip("/"))
        return f"{folder}/{file.name}"

    def snapshot(self):
        """{path: what it is} of everything that stays; contents too where it is configuration."""
        found = {}
        for folder, folders, files in os.walk(self.path):
            inside = "/" + os.path.relpath(folder, self.path).removeprefix(".").lstrip("/")
            folders[:] = [f for f in folders if not _PASSING.match(os.path.join(inside, f))]
            for name in folders + files:
                path = os.path.join(inside, name)
                if not _PASSING.match(path):
                    found[path] = _describe(os.path.join(folder, name), path.startswith("/etc/"))
        return found


def _describe(path, with_contents):
    about = os.lstat(path)
    text = f"{stat.filemode(about.st_mode)} {about.st_uid}:{about.st_gid}"
    if stat.S_ISLNK(about.st_mode):
        return f"{text} -> {os.readlink(path)}"
    if with_contents and stat.S_ISREG(about.st_mode):
        text += " " + hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()
    return text


def _environment():
    passed_on = {name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")}
    return {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8",
            "DEBIAN_FRONTEND": "noninteractive", **passed_on}


def skip_unless_possible():
    if os.geteuid() != 0:
        raise unittest.SkipTest("only root can make another root")
    for program, package in (("debootstrap", "debootstrap"), ("unshare", "util-linux"),
                             ("ip", "iproute2"), ("apt-get", "apt")):
        if shutil.which(program) is None:
            raise unittest.SkipTest(f"there is no {program} here: the package {package} has it")
    alone = subprocess.run(["unshare", "--mount", "--pid", "--net", "--fork", "true"],
                           stderr=subprocess.PIPE, text=True, timeout=30)
    if alone.returncode != 0:
        raise unittest.SkipTest(f"no namespaces can be made here: {alone.stderr.strip()}")


def _mirrors():
    """[(address, suite)] from which this machine takes packages of its own release, the release
    itself first."""
    system = platform.freedesktop_os_release()
    if system.get("ID") != "debian":
        raise unittest.SkipTest("this is not Debian: the root is made from the machine's own sources")
    release = system["VERSION_CODENAME"]
    told = places.output_of("apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)",
                            "Created-By: Packages")
    known = {tuple(line.split()[:2]) for line in told.splitlines() if line.split()[2:] == ["main"]}
    found = sorted((uri, suite) for uri, suite in known
                   if suite == release or suite.startswith(f"{release}-"))
    found.sort(key=lambda mirror: mirror[1] != release)
    if not found or found[0][1] != release:
        raise unittest.SkipTest(f"apt knows no source of {release}")
    _reach(f"{found[0][0]}dists/{release}/Release")
    return found


def _reach(address):
    try:
        with urllib.request.urlopen(address, timeout=30):
            pass
    except (urllib.error.URLError, OSError) as error:
        raise unittest.SkipTest(f"the machine's source of packages can't be reached: {error}") from None


def _base(mirrors):
    """The archive of a fresh system; made when it is not there."""
    release = mirrors[0][1]
    archive = _KEPT / f"{release}.tar"
    if archive.exists():
        return archive
    _KEPT.mkdir(parents=True, exist_ok=True)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="base-", dir=_KEPT))
    folder.chmod(0o755)  # everybody's /
    try:
        places.output_of("debootstrap", "--variant=minbase", "--include=man-db", release, folder,
                         mirrors[0][0], stderr=subprocess.STDOUT)
        _settle(folder, mirrors)
        partial = archive.with_suffix(".partial")
        places.output_of("tar", "--create", "--numeric-owner", "--file", partial, "--directory", folder,
                         ".")
        partial.rename(archive)
    finally:
        shutil.rmtree(folder)
    return archive


def _settle(folder, mirrors):
    """The same sources and settings of apt as on this machine; no service is started. The installer
    of Debian, not debootstrap, writes the name of the loopback."""
    (folder / "etc/hosts").write_text("127.0.0.1 localhost\n")
    sources = [f"deb {uri} {suite} main\n" for uri, suite in mirrors]
    (folder / "etc/apt/sources.list").write_text("".join(sources))
    settings = places.output_of("apt-config", "dump", "Acquire")
    (folder / "etc/apt/apt.conf.d/90machine").write_text(settings)
    policy = folder / "usr/sbin/policy-rc.d"
    policy.write_text("#!/bin/sh\nexit 101\n")
    policy.chmod(0o755)
    places.output_of("chroot", folder, "apt-get", "--quiet", "update", env=_environment())
