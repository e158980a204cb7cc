"""PostgreSQL through the tunnel: pgbench keeps its books, and COPY brings the same rows."""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

from support import case, programs
from support.ports import free_port, is_listening
from support.process import Process
from support.tunnel import FOUR_KINDS

USER = "culvert"


def as_a_user():
    """PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return []
    setpriv = programs.find("setpriv", "util-linux")
    return [setpriv, "--reuid=postgres", "--regid=postgres", "--clear-groups"]


class PostgreSql(case.SystemTest):
    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="culvert-postgresql-"))
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres", "postgres")
        data = folder / "data"
        initdb = [programs.find_postgresql("initdb"), "-D", data, "-U", USER, "-A", "trust",
                  "--no-sync", "--locale=C", "-E", "UTF8"]
        subprocess.run([*as_a_user(), *initdb], check=True, capture_output=True, cwd=folder)
        cls.port = free_port()
        server = [programs.find_postgresql("postgres"), "-D", data, "-p", cls.port, "-c",
                  "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "fsync=off"]
        process = Process([*as_a_user(), *server], folder, "postgresql")
        cls.addClassCleanup(process.stop, how=signal.SIGINT)
        process.wait_until_ready(lambda: is_listening(cls.port))
        process.wait_for_log("ready to accept connections", 30)

    def run_client(self, name, port, *words):
        command = [programs.find(name, "postgresql"), "-h", "127.0.0.1", "-p", str(port)]
        done = subprocess.run([*command, "-U", USER, *words], capture_output=True, text=True,
                              timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def query(self, port, sql, database="postgres"):
        return self.run_client("psql", port, "-X", "-A", "-t", "-d", database, "-c", sql)

    @case.for_kinds(*FOUR_KINDS)
    def test_pgbench(self, kind):
        port = self.tunnel(kind, f"127.0.0.1:{self.port}").client_port
        database = str(kind).replace(" ", "_")
        self.query(self.port, f"CREATE DATABASE {database}")
        self.run_client("pgbench", port, "-i", "-q", "-s", "2", database)
        for mode in ("simple", "prepared"):
            told = self.run_client("pgbench", port, "-n", "-c", "8", "-j", "2", "-t", "100", "-M",
                                   mode, database)
            self.assertIn("number of transactions actually processed: 800/800", told)

        sums = self.query(
            self.port,
            "SELECT (SELECT sum(abalance) FROM pgbench_accounts), (SELECT sum(bbalance) FROM "
            "pgbench_branches), (SELECT sum(tbalance) FROM pgbench_tellers), (SELECT sum(delta) "
            "FROM pgbench_history), (SELECT count(*) FROM pgbench_history)",
            database,
        ).strip().split("|")
        self.assertEqual(sums[4], "1600")
        self.assertEqual(len(set(sums[:4])), 1, f"the books do not balance: {sums}")

    @case.for_kinds(*FOUR_KINDS)
    def test_copy(self, kind):
        port = self.tunnel(kind, f"127.0.0.1:{self.port}").client_port
        sql = "COPY (SELECT i, md5(i::text) FROM generate_series(1, 300000) i) TO STDOUT"
        self.assert_same_bytes(self.query(port, sql), self.query(self.port, sql), "the rows")


if __name__ == "__main__":
    case.main()
