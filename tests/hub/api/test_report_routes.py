from __future__ import annotations

import gzip
import json
from pathlib import Path

import httpx2
import pytest

from hookline.hooks.hook_files import HookFiles
from hookline.hub.access.roles import Role
from hookline.hub.api.report_routes import MAX_LINES
from hub.hub_sandbox import Client, Writer, async_test, open_client


async def report(client: Client, data: bytes, **headers: str) -> httpx2.Response:
    return await client.post("/report", content=data, headers={"content-type": "application/x-ndjson", **headers})


@async_test
async def test_a_machine_reports_its_records_and_the_texts_of_its_hooks(tmp_path: Path) -> None:
    files = HookFiles()
    async with open_client(tmp_path, Role.REPORTER) as client:
        writer = Writer()
        lines = b"\n".join([writer.start("box"), writer.call("ls", hooks=files.hash), b""])
        done = await report(client, gzip.compress(lines), **{"content-encoding": "gzip"})
        assert done.json() == {"taken": 2, "refused": 0, "missing": [files.hash]}
        book = json.dumps({"hooks": files.hash, "text": files.data.decode()}, separators=(",", ":")).encode()
        done = await report(client, lines + book + b"\n")
        assert done.json() == {"taken": 2, "refused": 0, "missing": []}
        assert await client.hub.books.find_hashes([files.hash]) == {files.hash}
        assert await client.hub.decisions.size() == 2


@pytest.mark.parametrize(
    ("data", "encoding", "status"),
    [
        (b"nonsense", "", 200),
        (b"nonsense", "gzip", 400),
        (gzip.compress(b"x" * 1000)[:-9], "gzip", 400),
        (gzip.compress(b"\0" * (100 << 20)), "gzip", 413),
        (b"x\n" * (MAX_LINES + 1), "", 413),
        (b"x", "br", 415),
        (b'{"hooks":"', "", 200),
        (b'{"hooks":"' + b"[" * 100_000, "", 200),
        (b"", "", 200),
    ],
    ids=range(9),
)
@async_test
async def test_whatever_is_sent_is_answered(data: bytes, encoding: str, status: int, tmp_path: Path) -> None:
    async with open_client(tmp_path, Role.REPORTER) as client:
        assert (
            await report(client, data, **({"content-encoding": encoding} if encoding else {}))
        ).status_code == status
        assert await client.hub.decisions.size() == 0
