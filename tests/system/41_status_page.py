"""The status page in a real browser: what it shows, and what it does when there is nothing to show."""

import functools
import re
import subprocess
import unittest

from support import case, programs
from support.admin import Admin
from support.backends import echo
from support.browser import DESKTOP, PHONE, Browser
from support.made_up_daemon import MadeUpDaemon
from support.ports import free_port, is_listening
from support.streams import random_bytes
from support.tunnel import TCP_STATIC
from support.waiting import until

MIB = 1 << 20
LONG = "a-name-that-nobody-would-choose-" * 5
HOSTILE = "<img src=x onerror=alert(1)>&amp;\"'</td>"


@functools.cache
def browser():
    """One for all tests; starting it takes seconds."""
    started = Browser()
    unittest.addModuleCleanup(started.close)
    return started


class PageTest(case.SystemTest):
    def open(self, url, **options):
        page = browser().page(url, **options)
        self.addCleanup(page.close)
        page.wait_for("document.querySelector('#servers tbody').rows.length > 0",
                      "the page shows services")
        return page

    def assert_content(self, page, origin):
        """No complaint of the browser, and nothing was asked of anybody else."""
        self.assertEqual(page.complaints, [])
        self.assertTrue(all(url.startswith(origin) for url in page.requested), page.requested)

    def assert_readable(self, page, folder, name):
        """Nothing sticks out at the side, on any screen; leaves pictures."""
        papers = set()
        for size, dark in ((DESKTOP, False), (DESKTOP, True), (PHONE, False), (PHONE, True)):
            page.resize(size)
            page.paint(dark)
            with self.subTest(name, size=size, dark=dark):
                self.assertEqual(page.overflow(), 0)
                papers.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
                picture = folder / f"{name}-{size[0]}-{'dark' if dark else 'light'}.png"
                page.screenshot(picture)
                self.assertGreater(picture.stat().st_size, 10_000)
        self.assertEqual(len(papers), 2, papers)


class WithADaemon(PageTest):
    def setUp(self):
        super().setUp()
        self.port = free_port()
        self.there = self.service(echo)
        self.tunnel_ = self.tunnel(TCP_STATIC, self.there.target,
                                   server=[f"service = down 127.0.0.1:{free_port()}"],
                                   daemon_of={"server": [f"admin = 127.0.0.1:{self.port}"]})
        self.admin = Admin(self.port)
        self.url = f"http://127.0.0.1:{self.port}/"

    def exchange(self, size):
        sent = random_bytes(size, 41)
        with self.tunnel_.connect() as application:
            application.sendall(sent)
            got = b""
            while len(got) < size:
                got += application.recv(1 << 16)
        self.assert_same_bytes(got, sent)

    def test_it_shows_what_went_through(self):
        page = self.open(self.url)
        held = [self.tunnel_.connect() for _ in range(3)]
        for application in held:
            application.sendall(b"x")
            self.assertEqual(application.recv(1), b"x")
        self.exchange(2 * MIB)
        page.wait_for("document.querySelector('#users tbody')?.rows[0]?.cells[1].textContent === '3'",
                      "three sessions of the client")
        server, service, *_ = page.rows("#servers")
        told = self.admin.server()
        self.assertEqual(server[0], "server.edge")
        self.assertEqual(service[0], "it")
        self.assertIn("default", service[1])
        self.assertEqual(server[2], "3")
        self.assertEqual(server[5], str(told["sessions_total"]))
        self.assertEqual(server[6:], ["2.0 MiB", "2.0 MiB"])
        self.assertEqual(page.rows("#users")[0][0], "alice")
        page.wait_for("document.querySelector('#recent tbody').rows.length === 1",
                      "the session that ended is shown")
        self.assertIn("alice", page.rows("#recent")[0][1])
        self.assertEqual(page.rows("#recent")[0][2], "clean")
        # The charts: the peak of the throughput is drawn, and how long handshakes took is told.
        page.wait_for("document.querySelectorAll('#throughput path.line').length === 2", "two lines")
        page.wait_for("/ms|µs|[0-9] s/.test(document.querySelector('#handshakes .key').textContent)",
                      "the time of handshakes")
        self.assertEqual(page.text("#state"), "ready")
        self.assertRegex(page.text("#about"), rf"process {self.tunnel_.server.pid}\b")
        self.assert_content(page, self.url)
        self.assert_readable(page, self.tunnel_.folder, "load")

    def test_a_run_of_the_load_client(self):
        port = free_port()
        self.start([programs.culvert_load(), "serve", f"127.0.0.1:{port}"], "backend",
                   lambda: is_listening(port))
        load = self.tunnel(TCP_STATIC, f"127.0.0.1:{port}",
                           daemon_of={"server": [f"admin = unix:{self.tunnel_.folder}/a.sock"],
                                      "client": [f"admin = 127.0.0.1:{(other := free_port())}"]})
        page = browser().page(f"http://127.0.0.1:{other}/")
        self.addCleanup(page.close)
        page.wait_for("document.querySelector('#clients tbody').rows.length === 1", "a client section")
        subprocess.run([programs.culvert_load(), "bulk", "--to", f"127.0.0.1:{load.client_port}",
                        "--bytes", "64M", "--quiet"], check=True, timeout=60,
                       stdout=subprocess.DEVNULL)
        page.wait_for("document.querySelector('#clients tbody').rows[0].cells[7].textContent"
                      " === '64.0 MiB'", "all bytes are counted")
        section = page.rows("#clients")[0]
        self.assertEqual(section[0], "client.app")
        self.assertIn(f"tcp://127.0.0.1:{load.server_port}", section[1])
        self.assertTrue(page.evaluate("document.querySelector('#servers').hidden"))
        self.assertEqual(page.complaints, [])

    def test_errors_by_reason(self):
        page = self.open(self.url)
        self.assertEqual(page.rows("#reasons"), [])
        self.assertEqual(page.text("#reasons .note"), "none so far")
        self.tunnel_.replace_client(lambda text: text.replace("service = it", "service = down"))
        self.tunnel_.outcome(b"x")
        page.wait_for("document.querySelector('#reasons tbody').rows.length > 0", "an error is shown")
        reason, recent, ever, section = page.rows("#reasons")[0]
        self.assertEqual((reason, recent, ever, section), ("backend unreachable", "1", "1", "server.edge"))
        page.wait_for("document.querySelector('#recent tbody tr.failed') !== null", "the session")
        self.assertIn("refused", page.evaluate(
            "document.querySelector('#recent tr.failed .end').title"))
        page.wait_for("document.querySelector('#errors path.line') !== null", "the chart of errors")
        self.assert_content(page, self.url)
        self.assert_readable(page, self.tunnel_.folder, "errors")

    def test_a_daemon_that_goes_and_comes_again(self):
        self.exchange(MIB)
        page = self.open(self.url)
        self.tunnel_.server.stop()
        page.wait_for("!document.querySelector('#trouble').hidden", "the page says that it is gone")
        self.assertRegex(page.text("#trouble"), r"No answer from the daemon since \d\d:\d\d:\d\d")
        self.assertEqual(page.text("#state"), "no answer")
        self.assertEqual(page.rows("#servers")[0][5], "1")  # what was known stays
        self.assert_readable(page, self.tunnel_.folder, "gone")
        self.tunnel_.start_server()
        page.wait_for("document.querySelector('#trouble').hidden", "the page has it again")
        self.assertEqual(page.text("#state"), "ready")
        self.assertEqual(page.rows("#servers")[0][5], "0")
        page.wait_for("document.querySelector('#servers tbody').rows[0].cells[3].textContent"
                      " === '0 B/s'", "rates of the new process")


class WithoutOne(PageTest):
    """Where the figures are made up."""

    def daemon(self, **options):
        daemon = MadeUpDaemon(**options)
        self.addCleanup(daemon.close)
        return daemon

    def cell(self, page, row, column):
        return page.evaluate(f"document.querySelector('#servers tbody').rows[{row}].cells[{column}]"
                             ".textContent")

    def test_rates_are_exact_and_survive_a_restart(self):
        daemon = self.daemon(each_second=MIB)
        page = self.open(daemon.url)
        rate = "document.querySelector('#servers tbody').rows[0].cells[4].textContent"
        page.wait_for(f"{rate} === '1.0 MiB/s'", "the rate")
        self.assertEqual(self.cell(page, 0, 3), "512 KiB/s")
        page.wait_for("document.querySelectorAll('#throughput path.line').length === 2", "lines")
        daemon.start_anew()
        page.wait_for(f"{rate} === '–'", "no rate across the restart")
        page.wait_for(f"{rate} === '1.0 MiB/s'", "the rate of the new process")
        page.wait_for("document.querySelectorAll('#throughput path.line').length === 4",
                      "lines with a gap")
        self.assertNotRegex(page.evaluate("document.body.innerHTML"), "NaN|Infinity|undefined|null")
        self.assert_content(page, daemon.url)

    def test_a_crowd_with_long_and_hostile_names(self):
        daemon = self.daemon(users=[LONG, HOSTILE, *(f"laptop-{i}" for i in range(300))],
                             each_second=4096)
        status = daemon.status
        status["servers"][0]["services"][0] |= {"name": HOSTILE, "targets": [LONG, HOSTILE]}
        status["servers"][0] |= {"section": f"server.{LONG}", "listen": f"unix:/{LONG}"}
        status["ends"] = [{"section": LONG, "reason": HOSTILE, "failed": True, "count": 5}]
        status["recent"] = [{"time": 1_780_000_000.0, "section": LONG, "peer": HOSTILE, "client": LONG,
                             "service": HOSTILE, "carrier": "tcp", "bytes_to_tunnel": 1,
                             "bytes_from_tunnel": 2, "duration_s": 0.0004, "reason": HOSTILE,
                             "detail": HOSTILE, "failed": True}] * 50
        page = self.open(daemon.url)
        page.wait_for("document.querySelector('#users tbody').rows.length === 200", "the clients")
        self.assertEqual(page.text("#users .note"), "and 102 more, in status.json")
        self.assertIn(HOSTILE, [row[0] for row in page.rows("#users")])
        self.assertEqual(page.rows("#reasons")[0][0], HOSTILE)
        self.assertEqual(page.evaluate("document.querySelectorAll('main img, main b:not(.key b)').length"), 0)
        self.assert_content(page, daemon.url)
        self.assert_readable(page, self.make_folder(), "crowd")

    def test_nobody_there(self):
        daemon = self.daemon()
        page = self.open(daemon.url)
        page.wait_for("document.querySelector('#tiles').textContent.includes('0 B/s')", "tiles")
        self.assertEqual(page.text("#recent .note"), "none so far")
        self.assertTrue(page.evaluate("document.querySelector('#users').hidden"))
        self.assert_readable(page, self.make_folder(), "nobody")

    def test_states_and_answers_that_are_none(self):
        daemon = self.daemon()
        page = self.open(daemon.url)
        state = "document.querySelector('#state').textContent"
        daemon.status |= {"draining": True, "ready": False}
        page.wait_for(f"{state} === 'draining'", "draining")
        daemon.broken = True
        page.wait_for(f"{state} === 'no answer'", "an error of the listener")
        self.assertIn("it answers 500", page.text("#trouble"))
        daemon.broken = False
        daemon.status["schema"] = 2
        page.wait_for("document.querySelector('#trouble').textContent.includes('schema 2')", "the schema")
        daemon.status |= {"schema": 1, "draining": False, "ready": True}
        page.wait_for(f"{state} === 'ready'", "ready again")
        self.assertTrue(page.evaluate("document.querySelector('#trouble').hidden"))

    def test_a_page_that_nobody_sees_does_not_ask(self):
        daemon = self.daemon()
        page = self.open(daemon.url)
        page.hide(True)
        seen = daemon.answers
        page.evaluate("new Promise(done => setTimeout(done, 3500))")
        self.assertLessEqual(daemon.answers, seen + 1)  # one may have been under way
        seen = daemon.answers
        page.hide(False)
        until(lambda: daemon.answers > seen + 1, 30, "it asks again")

    def test_it_can_be_used_without_eyes(self):
        page = self.open(self.daemon(users=["alice"], each_second=MIB).url)
        page.wait_for("document.querySelector('#throughput svg').getAttribute('aria-label')"
                      ".includes('into the tunnel 1.0 MiB/s')", "a label that says the value")
        self.assertEqual(page.evaluate(
            "[...document.querySelectorAll('tbody tr')].filter(row => row.cells[0].scope !== 'row').length"), 0)
        self.assertEqual(page.evaluate(
            "[...document.querySelectorAll('thead th')].filter(head => head.scope !== 'col').length"), 0)
        self.assertEqual(page.evaluate("document.documentElement.lang"), "en")
        for dark in (False, True):
            page.paint(dark)
            for selector in ("body", ".faint", "#state", "thead th", "figcaption .unit", "a"):
                with self.subTest(selector, dark=dark):
                    self.assertGreaterEqual(contrast(page, selector), 4.5)

    def test_the_pointer_shows_what_was(self):
        page = self.open(self.daemon(each_second=MIB).url)
        page.wait_for("document.querySelectorAll('#throughput path.line').length === 2", "lines")
        page.evaluate("document.querySelector('#throughput svg').dispatchEvent("
                      "new PointerEvent('pointermove', {clientX: 700, clientY: 300}))")
        self.assertIsNotNone(page.evaluate("document.querySelector('#throughput .cursor')"))


def contrast(page, selector):
    """By WCAG, of an element's text to the paper that is behind it."""
    ink, paper = page.evaluate(f"""(() => {{
        let at = document.querySelector('{selector}');
        const ink = getComputedStyle(at).color;
        while (at && getComputedStyle(at).backgroundColor === 'rgba(0, 0, 0, 0)') at = at.parentElement;
        return [ink, getComputedStyle(at ?? document.body).backgroundColor];
    }})()""")
    light, dark = sorted((luminance(ink), luminance(paper)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour):
    def linear(part):
        part = int(part) / 255
        return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4

    red, green, blue = map(linear, re.findall(r"\d+", colour)[:3])
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


del PageTest  # the base has no tests

if __name__ == "__main__":
    case.main()
