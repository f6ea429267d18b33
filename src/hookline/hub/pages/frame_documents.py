"""The documents of the three frames of a browser agent's page, each with a policy of its own.

They have no secrets, so nobody signs in to get them. The console's build writes their scripts.
"""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from hookline.hub.access.hub_addresses import HubAddresses
from hookline.hub.access.response_headers import frame_headers
from hookline.hub.config.hub_config import FRAMES
from hookline.hub.pages.page_tools import origin_of

SCRIPT_DIRECTORY: Final = Path(__file__).parents[1] / "console_files"
MAX_ORIGINS: Final = 50
_DOCUMENT: Final = (
    '<!doctype html><html lang="en"><head><title>{frame}</title></head><body><script>{script}</script></body></html>'
)


def frame_routes(addresses: HubAddresses, directory: Path = SCRIPT_DIRECTORY) -> list[Route]:
    async def send_document(request: Request) -> Response:
        frame = request.path_params["frame"]
        script = _read_script(directory, frame) if frame in FRAMES else None
        if script is None:
            return PlainTextResponse("There is no such frame.\n", 404)
        network = _read_network(request) if frame == "net" else []
        if network is None:
            return PlainTextResponse("These are not origins.\n", 400)
        document = _DOCUMENT.format(frame=frame, script=script)
        return HTMLResponse(document, headers=dict(frame_headers(frame, addresses, _hash(script), network)))

    return [Route("/sandbox/{frame}", send_document)]


def _read_script(directory: Path, frame: str) -> str | None:
    """None if the console is not built."""
    try:
        script = (directory / f"frame_{frame}.js").read_text("utf-8")
    except OSError:
        return None
    return re.sub(r"<(?=/script|!--)", r"\\x3C", script, flags=re.IGNORECASE)  # within texts; they mean the same


def _hash(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def _read_network(request: Request) -> list[str] | None:
    """The origins that the console asks for; None if one is not an origin, which could mean anything in a policy."""
    given = request.query_params.getlist("origin")
    origins = [origin_of(each) for each in given]
    if len(given) > MAX_ORIGINS or any(found != each for found, each in zip(origins, given, strict=True)):
        return None
    return given
