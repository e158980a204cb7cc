"""A real browser, without a window: headless Chromium, driven by the DevTools protocol over pipes."""

import base64
import fcntl
import itertools
import json
import os
import queue
import shutil
import subprocess
import tempfile
import threading

from . import programs
from .waiting import until

# No network but this machine, nothing of the user's, nothing in the background.
_SWITCHES = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
    "--disable-extensions", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--hide-scrollbars", "--mute-audio", "--remote-debugging-pipe",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)
PATIENCE_SECONDS = 60

DESKTOP, PHONE = (1280, 800), (390, 844)


class Browser:
    """Starts within PATIENCE_SECONDS; closed, it takes its processes and its folder with it."""

    def __init__(self):
        self._profile = tempfile.mkdtemp(prefix="culvert-browser-")
        commands, self._commands = os.pipe()
        self._answers, answers = os.pipe()
        commands, answers = _out_of_the_way(commands), _out_of_the_way(answers)
        # The browser reads from descriptor 3 and writes to 4; only bash knows numbers beyond 9.
        self._process = subprocess.Popen(
            ["/bin/bash", "-c", f'exec "$@" 3<&{commands} 4>&{answers}', "bash",
             programs.find("chromium", "chromium"), *_SWITCHES, f"--user-data-dir={self._profile}",
             "about:blank"],
            pass_fds=(commands, answers), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True,
            env={**os.environ, "HOME": self._profile})
        os.close(commands)
        os.close(answers)
        self._numbers = itertools.count(1)
        self._writing = threading.Lock()
        self._waiting = {}
        self._pages = {}
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def close(self):
        try:
            if self._process.poll() is None:
                self.call("Browser.close", seconds=10)
            self._process.wait(10)
        except (AssertionError, OSError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        self._reader.join(10)
        os.close(self._commands)
        os.close(self._answers)
        shutil.rmtree(self._profile, ignore_errors=True)

    def call(self, method, session=None, seconds=PATIENCE_SECONDS, **parameters):
        """A command of the protocol, and its result."""
        number = next(self._numbers)
        answer = self._waiting[number] = queue.SimpleQueue()
        message = {"id": number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        with self._writing:
            _write_all(self._commands, json.dumps(message).encode() + b"\0")
        try:
            told = answer.get(timeout=seconds)
        except queue.Empty:
            raise AssertionError(f"the browser does not answer {method} in {seconds} s") from None
        if told is None:
            raise AssertionError(f"the browser ended during {method}")
        if "error" in told:
            raise AssertionError(f"{method}: {told['error']}")
        return told["result"]

    def page(self, url, size=DESKTOP, dark=False):
        """A new tab that has loaded the URL."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = self._pages[session] = Page(self, session, target)
        page.prepare(size, dark)
        page.go(url)
        return page

    def _read(self):
        buffered = b""
        while piece := os.read(self._answers, 1 << 16):
            *messages, buffered = (buffered + piece).split(b"\0")
            for message in messages:
                self._take(json.loads(message))
        for answer in self._waiting.values():
            answer.put(None)

    def _take(self, message):
        if "id" in message:
            self._waiting.pop(message["id"]).put(message)
        elif page := self._pages.get(message.get("sessionId")):
            page.take(message["method"], message["params"])


def _out_of_the_way(descriptor):
    """The same with a number above those that the browser wants."""
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(descriptor)
    return moved


def _write_all(descriptor, data):
    while data:
        data = data[os.write(descriptor, data):]


class Page:
    """A tab, and what it complained about."""

    def __init__(self, browser, session, target):
        self._browser, self._session, self._target = browser, session, target
        self.complaints = []
        self.requested = []
        self._loaded = 0

    def call(self, method, **parameters):
        return self._browser.call(method, self._session, **parameters)

    def prepare(self, size, dark):
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.resize(size)
        self.paint(dark)

    def resize(self, size):
        width, height = size
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=width < 600)

    def paint(self, dark):
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def go(self, url):
        self.call("Page.bringToFront")  # a hidden page does not ask
        before = self._loaded
        self.call("Page.navigate", url=url)
        until(lambda: self._loaded > before, PATIENCE_SECONDS, f"{url} is loaded")

    def close(self):
        self._browser.call("Target.closeTarget", targetId=self._target)

    def take(self, event, about):
        if event == "Page.loadEventFired":
            self._loaded += 1
        elif event == "Runtime.exceptionThrown":
            details = about["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description", details["text"]))
        elif event == "Runtime.consoleAPICalled" and about["type"] in ("error", "warning", "assert"):
            self.complaints.append(str([one.get("value") for one in about["args"]]))
        elif event == "Log.entryAdded" and about["entry"]["level"] in ("error", "warning"):
            self.complaints.append(f"{about['entry']['text']} ({about['entry'].get('url')})")
        elif event == "Network.requestWillBeSent":
            self.requested.append(about["request"]["url"])

    def evaluate(self, script):
        """The value of an expression in JavaScript; promises are waited for."""
        told = self.call("Runtime.evaluate", expression=script, returnByValue=True,
                         awaitPromise=True)
        if "exceptionDetails" in told:
            raise AssertionError(f"{script}: {told['exceptionDetails']}")
        return told["result"].get("value")

    def wait_for(self, script, what, seconds=PATIENCE_SECONDS):
        return until(lambda: self.evaluate(script), seconds, what)

    def text(self, selector):
        return self.evaluate(f"document.querySelector({json.dumps(selector)}).textContent")

    def rows(self, selector):
        """The texts of the cells of a table's body, row by row."""
        return self.evaluate(
            f"[...document.querySelectorAll({json.dumps(selector + ' tbody tr')})]"
            ".map(row => [...row.cells].map(cell => cell.textContent))")

    def overflow(self):
        """By how many pixels the page is wider than the window."""
        return self.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth")

    def hide(self, hidden):
        """As when another tab comes to the front."""
        self.evaluate(f"Object.defineProperty(document, 'hidden', {{value: {json.dumps(hidden)}, "
                      "configurable: true}); document.dispatchEvent(new Event('visibilitychange'))")

    def screenshot(self, file, whole=True):
        """PNG; of the whole page, or of what the window shows."""
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=whole,
                         **({"clip": self._all()} if whole else {}))
        file.write_bytes(base64.b64decode(shot["data"]))

    def _all(self):
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        return {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
