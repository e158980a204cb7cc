"""The status page with a daemon behind it that does what a test wants to see."""

import http.server
import json
import pathlib
import threading

PAGE = pathlib.Path(__file__).parents[3] / "proxy" / "observe" / "page"
_TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8",
          ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}
_POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
           "connect-src 'self'")
_EDGES = (.001, .01, .1, 1)


class MadeUpDaemon:
    """Every answer is a second after the one before, by the clock that it tells; `each_second` is
    added to what counts up. Anything in `status` may be changed."""

    def __init__(self, users=(), each_second=0):
        self.each_second = each_second
        self.answers = 0
        self.broken = False
        self.status = _status(users)
        daemon = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                daemon._answer(self)

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self._server.server_port}/"

    def close(self):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def start_anew(self):
        """As if the process were another one: it has counted nothing yet."""
        self.status = {**_status([user["name"] for user in self.status["users"]]),
                       "pid": self.status["pid"] + 1}

    def _answer(self, request):
        path = request.path.lstrip("/") or "index.html"
        file = PAGE / path
        if path == "status.json":
            self._advance()
            self._reply(request, 500 if self.broken else 200, "application/json",
                        json.dumps(self.status).encode())
        elif file.suffix in _TYPES and file.is_file():
            self._reply(request, 200, _TYPES[file.suffix], file.read_bytes())
        else:
            self._reply(request, 404, "text/plain", b"not found\n")

    def _reply(self, request, status, kind, body):
        request.send_response(status)
        for name, value in (("Content-Type", kind), ("Content-Length", str(len(body))),
                            ("Content-Security-Policy", _POLICY)):
            request.send_header(name, value)
        request.end_headers()
        request.wfile.write(body)

    def _advance(self):
        self.answers += 1
        status, more = self.status, self.each_second
        status["now"] += 1
        status["uptime_s"] += 1
        server = status["servers"][0]
        for one in (server, *server["services"], *status["users"]):
            one["bytes_to_clients"] += more
            one["bytes_from_clients"] += more // 2


def _status(users):
    handshake = {"count": 0, "sum_s": 0, "buckets": [{"le_s": edge, "count": 0} for edge in _EDGES]}
    moved = {"sessions": 0, "sessions_total": 0, "bytes_from_clients": 0, "bytes_to_clients": 0}
    return {
        "schema": 1, "version": "0.1.0", "protocol": "culvert/1", "pid": 4242,
        "started": 1_780_000_000.25, "now": 1_780_000_001.0, "uptime_s": 1.0, "ready": True,
        "draining": False, "threads": 2, "kernels": [{"primitive": "aead", "kernel": "portable"}],
        "process": {"open_fds": 20, "max_fds": 1024, "resident_bytes": 10 << 20,
                    "virtual_bytes": 1 << 30, "cpu_s": 0.5},
        "replay_cache_entries": 0,
        "servers": [{
            **moved, "name": "edge", "section": "server.edge", "listen": "127.0.0.1:7700",
            "carrier": "tcp", "waiting": 0, "connections_total": 0, "strangers": 0,
            "strangers_evicted_total": 0, "handshakes_failed_total": 0, "handshakes_failed": [],
            "accept_errors_total": 0, "handshake": handshake,
            "services": [{**moved, "name": "redis", "targets": ["127.0.0.1:6379"]}],
        }],
        "clients": [],
        "users": [{**moved, "server": "edge", "name": name} for name in users],
        "ends": [], "handshake": handshake, "recent": [],
    }
