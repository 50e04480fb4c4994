"""A page with the call panel and a model that no kernel stands behind, served on 127.0.0.1.

`python tests/page_harness.py` serves it until Ctrl+C, for looking at; the page tests use `serving()`.
Open /?state=during&theme=dark&width=360, where the states are those of page_states.py.
"""

import json
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import page_states

STATIC = Path(__file__).resolve().parent.parent / "handoffkit" / "widgets" / "static"
PAGE = Path(__file__).resolve().parent / "page" / "harness.html"
THEMES = Path(sys.prefix) / "share" / "jupyter" / "lab" / "themes" / "@jupyterlab"
TYPES = {".js": "text/javascript", ".mjs": "text/javascript", ".css": "text/css", ".html": "text/html"}


def parts() -> dict[str, str]:
    """Return the trait `_parts`: the source of every file but the entry."""
    return {path.name: path.read_text() for path in sorted(STATIC.glob("*.js")) if path.name != "panel.js"}


def theme(name: str) -> str:
    """Return JupyterLab's own variables for "light" or "dark", from the installed theme."""
    return (THEMES / f"theme-{name}-extension" / "index.css").read_text()


class Handler(BaseHTTPRequestHandler):
    """Answers with the page, the panel's files, the themes and the states."""

    def do_GET(self) -> None:
        found = self.find(urlsplit(self.path).path)
        kind, body = found if found else ("text/plain", b"not found")
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def find(self, path: str) -> tuple[str, bytes] | None:
        """Return (content type, body) of a path, None if there is no such thing."""
        if path == "/":
            return "text/html", PAGE.read_bytes()
        if path == "/parts.json":
            return "application/json", json.dumps(parts()).encode()
        if path == "/states.json":
            return "application/json", json.dumps(page_states.states()).encode()
        if path in {"/theme/light.css", "/theme/dark.css"}:
            return "text/css", theme(path[7:-4]).encode()
        for prefix, folder in (("/static/", STATIC), ("/page/", PAGE.parent)):
            file = folder / path.removeprefix(prefix)
            if path.startswith(prefix) and file.parent == folder and file.is_file():
                return TYPES.get(file.suffix, "application/octet-stream"), file.read_bytes()
        return None

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: a test's output is the test's."""


@contextmanager
def serving(port: int = 0) -> Generator[str]:
    """Serve the page while the block runs, and return its address."""
    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    thread = threading.Thread(target=server.serve_forever, name="page harness", daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


if __name__ == "__main__":
    with serving(8901) as address:
        print(f"{address}/?state=during&theme=light&width=980")
        threading.Event().wait()
