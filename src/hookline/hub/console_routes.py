"""Serves the console: its files under names that never change their content, and its page at every other address."""

from __future__ import annotations

import mimetypes
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from hookline.hub.access.response_headers import API
from hookline.lazy_dataclasses import dataclass

CONSOLE_DIRECTORY: Final = Path(__file__).parent / "console_files"
"""Where `make console` puts what it builds."""

_PAGE: Final = "index.html"
_FILE_HEADERS: Final = {
    "cache-control": "public, max-age=31536000, immutable",  # a name has a hash of the content
    "content-security-policy": API["content-security-policy"],  # the page's policy is longer than some files
}
_PAGE_HEADERS: Final = {"cache-control": "no-cache"}
_NOT_BUILT: Final = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>hookline hub</title>
<h1>hookline hub</h1>
<p>The hub runs, but its console is not built. Run <code>make console</code> in the checkout, then reload this page.</p>
<p>The API is at <a href="/api/openapi.json">/api/openapi.json</a>.</p>
</html>
"""


@dataclass(frozen=True, slots=True)
class _File:
    content: bytes
    gzipped: bytes | None
    kind: str


class ConsoleFiles:
    """The built files, in memory: a request can reach nothing else. A new build is noticed."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._built: int | None = None
        self._files: dict[str, _File] = {}

    def find(self, name: str) -> _File | None:
        self._read_new_build()
        return self._files.get(name)

    def _read_new_build(self) -> None:
        try:
            built = (self._directory / _PAGE).stat().st_mtime_ns
        except OSError:
            built = None
        if built != self._built:
            self._files = {} if built is None else _read_files(self._directory)
            self._built = built


def _read_files(directory: Path) -> dict[str, _File]:
    contents = {path.name: path.read_bytes() for path in directory.iterdir() if path.is_file()}
    return {
        name: _File(content, contents.get(f"{name}.gz"), mimetypes.guess_type(name)[0] or "application/octet-stream")
        for name, content in contents.items()
        if not name.endswith(".gz")
    }


def console_routes(directory: Path | None = None) -> list[Route]:
    files = ConsoleFiles(directory or CONSOLE_DIRECTORY)

    async def send_file(request: Request) -> Response:
        found = files.find(request.path_params["name"])
        if found is None:
            return PlainTextResponse("There is no such file.\n", 404)
        return _send(request, found, _FILE_HEADERS)

    async def send_page(request: Request) -> Response:
        found = files.find(_PAGE)
        if found is None:
            return HTMLResponse(_NOT_BUILT, 200 if request.url.path == "/" else 404)
        return _send(request, found, _PAGE_HEADERS)

    return [Route("/static/{name}", send_file), Route("/{path:path}", send_page)]


def _send(request: Request, file: _File, headers: dict[str, str]) -> Response:
    headers = {**headers, "vary": "accept-encoding"}
    accepted = request.headers.get("accept-encoding", "").replace(",", " ").split()
    if file.gzipped is not None and "gzip" in accepted:
        return Response(file.gzipped, media_type=file.kind, headers={**headers, "content-encoding": "gzip"})
    return Response(file.content, media_type=file.kind, headers=headers)
