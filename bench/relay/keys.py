"""Throw-away keys and certificates, made for each run in its folder."""

import os
import subprocess

SUBJECTS = {"server": "server.bench", "client": "client.bench"}


def quiet(folder, *command):
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)


def make_certificates(folder):
    """A P-256 authority, and a P-256 certificate by it for each end: NAME.pem has certificate and
    key."""
    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    quiet(folder, "openssl", "req", "-x509", *curve, "-subj", "/CN=authority.bench", "-days", "2",
          "-keyout", "ca.key", "-out", "ca.pem")
    for end, host in SUBJECTS.items():
        quiet(folder, "openssl", "req", *curve, "-subj", f"/CN={host}", "-keyout", f"{end}.key",
              "-addext", f"subjectAltName=DNS:{host}", "-out", f"{end}.request")
        quiet(folder, "openssl", "x509", "-req", "-in", f"{end}.request", "-CA", "ca.pem", "-CAkey",
              "ca.key", "-CAcreateserial", "-days", "2", "-copy_extensions", "copy", "-out",
              f"{end}.crt")
        pem = folder / f"{end}.pem"
        pem.write_text((folder / f"{end}.crt").read_text() + (folder / f"{end}.key").read_text())
        pem.chmod(0o600)


def make_ssh_keys(folder):
    for name in ("ssh-host", "ssh-user"):
        quiet(folder, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", name)


def make_spiped_key(folder):
    path = folder / "spiped.key"
    path.write_bytes(os.urandom(32))
    path.chmod(0o600)


def make_culvert_keys(folder, culvert):
    quiet(folder, culvert, "keygen", "psk", "bench.psk")
    public = {}
    for end in ("server", "client"):
        quiet(folder, culvert, "keygen", "static", f"{end}-identity")
        public[end] = subprocess.run([culvert, "pubkey", f"{end}-identity"], cwd=folder, check=True,
                                     stdout=subprocess.PIPE, text=True).stdout.strip()
    (folder / "clients.pub").write_text(f"bench {public['client']}\n")
    (folder / "server.pub").write_text(public["server"])


def make_all(folder, culvert):
    make_certificates(folder)
    make_ssh_keys(folder)
    make_spiped_key(folder)
    make_culvert_keys(folder, culvert)
