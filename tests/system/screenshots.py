"""Makes the pictures that README shows, of real daemons and real runs: `make screenshots`.

    CULVERT_BINARY=... CULVERT_LOAD=... tests/system/screenshots.py
"""

import os
import pathlib
import subprocess
import time

from support import case, programs
from support.browser import PHONE, Browser
from support.ports import free_port, is_listening
from support.tunnel import make_keys

RESULTS = pathlib.Path(__file__).parents[2] / "bench" / "results"
WINDOW = (1180, 860)
REPORT_WINDOW = (1180, 905)
SECONDS = int(os.environ.get("SCREENSHOT_SECONDS", "150"))
CLIENTS = ("laptop", "build-server", "tablet", "office-gateway", "backup-host", "phone")


class Screenshots(case.SystemTest):
    def setUp(self):
        super().setUp()
        self.folder = self.make_folder()
        self.browser = Browser()
        self.addCleanup(self.browser.close)
        self.backend_port = free_port()
        self.start([programs.culvert_load(), "serve", f"127.0.0.1:{self.backend_port}"], "backend",
                   lambda: is_listening(self.backend_port))

    def background(self, *words):
        """A load that runs beside the others until it is over, or the test."""
        process = subprocess.Popen([programs.culvert_load(), *map(str, words), "--quiet"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)

    def load(self, *words):
        done = subprocess.run([programs.culvert_load(), *map(str, words), "--quiet", "--json"],
                              stdout=subprocess.PIPE, check=True, timeout=60)
        return done.stdout

    def picture(self, page, name, size, dark=False):
        page.resize(size)
        page.paint(dark)
        page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done, 300)))")
        file = RESULTS / f"{name}.png"
        page.screenshot(file, whole=False)
        self.assertLess(file.stat().st_size, 150_000)
        self.assertEqual(page.complaints, [])

    # ---- the status page ----

    def named_clients(self):
        """A key for each client, the server's list, and the lines of their sections."""
        lines = []
        listed = []
        self.ports = {name: free_port() for name in CLIENTS}
        keys = make_keys()
        for name, port in self.ports.items():
            done = subprocess.run([programs.culvert(), "keygen", "static", self.folder / f"{name}.key"],
                                  stdout=subprocess.PIPE, check=True, text=True)
            listed.append(f"{name} {done.stdout}")
            service = "web" if name in ("tablet", "phone") else "redis"
            lines += [f"[client.{name}]", f"listen = 127.0.0.1:{port}",
                      f"connect = tcp://127.0.0.1:{self.server_port}", f"service = {service}",
                      f"identity = {name}.key", f"server-key = {keys.server_public}", ""]
        (self.folder / "clients.pub").write_text("".join(listed))
        return keys, lines

    def start_both_ends(self):
        self.server_port, self.admin_port = free_port(), free_port()
        keys, lines = self.named_clients()
        server = self.folder / "server.conf"
        server.write_text("\n".join([
            "[daemon]", f"admin = 127.0.0.1:{self.admin_port}", "threads = 2", "drain = 1s",
            "[server.edge]", f"listen = 127.0.0.1:{self.server_port}",
            f"identity = {keys.folder}/server.key", "clients = clients.pub",
            f"service = redis 127.0.0.1:{self.backend_port}",
            f"service = web 127.0.0.1:{self.backend_port}", f"service = down 127.0.0.1:{free_port()}",
            ""]))
        client = self.folder / "client.conf"
        down = free_port()
        client.write_text("\n".join([
            "[daemon]", "drain = 1s", *lines, "[client.down]", f"listen = 127.0.0.1:{down}",
            f"connect = tcp://127.0.0.1:{self.server_port}", "service = down",
            "identity = laptop.key", f"server-key = {keys.server_public}", ""]))
        self.start_daemon(server, "server", [self.server_port, self.admin_port])
        self.start_daemon(client, "client", [*self.ports.values(), down])
        return down

    def test_status_page(self):
        down = self.start_both_ends()
        page = self.browser.page(f"http://127.0.0.1:{self.admin_port}/", WINDOW)
        lasts = f"{SECONDS + 60}s"
        for i, port in enumerate(self.ports.values()):
            self.background("latency", "--to", f"127.0.0.1:{port}", "--connections", 3 + 5 * i,
                            "--rate", 40 * (i + 1), "--size", "4K", "--reply-size", "16K",
                            "--duration", lasts)
        self.background("idle", "--to", f"127.0.0.1:{self.ports['laptop']}", "--connections", 25,
                        "--duration", lasts)
        for second in range(SECONDS):
            began = time.monotonic()
            if second % 20 == 7:
                subprocess.run([programs.culvert_load(), "churn", "--to", f"127.0.0.1:{down}",
                                "--connections", "2", "--duration", "100ms", "--quiet"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False,
                               timeout=30)
            if second % 50 in range(10, 20):
                subprocess.run([programs.culvert_load(), "bulk", "--to",
                                f"127.0.0.1:{self.ports['backup-host']}", "--bytes",
                                f"{4 + second % 7}M", "--quiet"], stdout=subprocess.DEVNULL,
                               check=False, timeout=30)
            self.load("churn", "--to", f"127.0.0.1:{self.ports['tablet']}", "--duration", "20ms",
                      "--connections", 1 + second % 3)
            time.sleep(max(0.0, began + 1 - time.monotonic()))
        self.picture(page, "status-light", WINDOW)
        self.picture(page, "status-dark", WINDOW, dark=True)
        self.picture(page, "status-phone", PHONE)
        self.picture(page, "status-phone-dark", PHONE, dark=True)

    # ---- the report ----

    def test_load_report(self):
        results = []
        for connections in (4, 64):
            file = self.folder / f"{connections}-connections.json"
            file.write_bytes(self.load("latency", "--to", f"127.0.0.1:{self.backend_port}", "--size",
                                       "1K", "--connections", connections, "--duration", "8s"))
            results.append(file)
        subprocess.run([programs.culvert_load(), "report", *results, "--output",
                        self.folder / "both.html"], check=True, timeout=30)
        page = self.browser.page(f"file://{self.folder}/both.html", REPORT_WINDOW)
        self.picture(page, "load-report", REPORT_WINDOW)
        self.picture(page, "load-report-dark", REPORT_WINDOW, dark=True)


if __name__ == "__main__":
    case.main()
