"""Takes the records of other machines."""

from __future__ import annotations

import json
import re
import zlib
from typing import Any, Final

from fastapi import Request

from hookline.errors import HooklineError
from hookline.hub.access.roles import Role
from hookline.hub.api.role_router import ApiError, CallerOfRequest, HubOfRequest, RoleRouter
from hookline.hub.intake.host_watch import MAX_NAMED

router = RoleRouter("report")

MAX_LINES: Final = 2000
_MAX_TEXT: Final = 48 << 20  # bytes, after decompression
_BOOK_START: Final = b'{"hooks":"'
_HOSTS_START: Final = b'{"running":'
_WRITER: Final = re.compile(r"[0-9a-f]{16}")

_BODY: Final = {
    "requestBody": {
        "required": True,
        "content": {"application/x-ndjson": {"schema": {"type": "string"}}},
    }
}


@router.post("/report", Role.REPORTER, openapi_extra=_BODY)
async def report(request: Request, hub: HubOfRequest, caller: CallerOfRequest) -> dict[str, Any]:
    """Lines of a host's record as they were written, and texts of hooks as `{"hooks": <sha256>, "text": <text>}`.

    `{"running": [<process>, …], "ended": [<process>, …]}` says which of the processes run, and which have ended. One that is
    named as running counts as ended after 90 seconds, unless it is named again.

    The body may be compressed (`Content-Encoding: gzip`). Lines that are here already count as taken. `missing` are the
    hashes of hooks whose texts are not here: send them with the next report.
    """
    data = await request.body()
    encoding = request.headers.get("content-encoding", "")
    if encoding == "gzip":
        data = _decompress(data)
    elif encoding not in ("", "identity"):
        raise ApiError(415, "the content encoding must be gzip")
    lines = [line for line in data.split(b"\n") if line]
    if len(lines) > MAX_LINES:
        raise ApiError(413, f"more than {MAX_LINES} lines")
    books = dict(book for line in lines if line.startswith(_BOOK_START) and (book := _read_book(line)) is not None)
    records = [line for line in lines if not line.startswith((_BOOK_START, _HOSTS_START))]
    try:
        done = await hub.intake.take(records, caller.credential, books)
    except HooklineError as error:
        hub.report_outage.report(error)
        raise
    if done.taken:  # a report without records says nothing about a full disk
        hub.report_outage.report_success()
    for line in lines:
        if line.startswith(_HOSTS_START):
            await hub.host_watch.note(*_read_hosts(line), caller.credential)
    return {"taken": done.taken, "refused": done.refused, "missing": list(done.missing_books)}


def _read_book(line: bytes) -> tuple[str, bytes] | None:
    try:
        value = json.loads(line)
        return str(value["hooks"]), str(value["text"]).encode()
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _read_hosts(line: bytes) -> tuple[list[str], list[str]]:
    """The processes that run, and those that have ended. Raises ApiError."""
    try:
        value = json.loads(line)
        named = [value["running"], value["ended"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        named = []
    if not named or any(not _is_list_of_writers(each) for each in named):
        raise ApiError(422, "running and ended must be lists of processes")
    return named[0], named[1]


def _is_list_of_writers(value: object) -> bool:
    return (
        isinstance(value, list)
        and len(value) <= MAX_NAMED
        and all(isinstance(each, str) and _WRITER.fullmatch(each) for each in value)
    )


def _decompress(data: bytes) -> bytes:
    decompressor = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    try:
        text = decompressor.decompress(data, _MAX_TEXT)
    except zlib.error:
        raise ApiError(400, "the body is not gzip") from None
    if decompressor.unconsumed_tail:
        raise ApiError(413, "the body is too large")
    if not decompressor.eof:
        raise ApiError(400, "the body is not complete")
    return text
