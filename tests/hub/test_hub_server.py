from __future__ import annotations

import asyncio
import json
import socket
import stat
from contextlib import AsyncExitStack
from pathlib import Path

import httpx2
import pytest

from hookline.errors import HooklineError
from hookline.hosts.hub.hub_file import AskAt, JoinedHub, hub_file_path, write_hub_file
from hookline.hosts.hub.running_hubs import find_hub, local_hubs
from hookline.hub.access.roles import Role
from hookline.hub.config.hub_config import HubConfig, TlsFiles
from hookline.hub.hub_server import listen, run_hub
from hookline.lazy_dataclasses import replace
from hub.hub_process import serve_hub
from hub.hub_sandbox import async_test, eventually, new_database


@async_test
async def test_hosts_of_the_user_find_the_hub_and_a_key_that_only_reports(tmp_path: Path) -> None:
    async with serve_hub(tmp_path) as (hub, link), httpx2.AsyncClient() as http:
        (file,) = (tmp_path / "hubs").iterdir()
        about = json.loads(file.read_text())
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert about["url"] == hub.config.url
        headers = {"authorization": f"Bearer {about['key']}"}
        reported = await http.post(
            f"{about['url']}/api/v1/report", headers={**headers, "content-type": "application/x-ndjson"}
        )
        assert reported.status_code == 200
        assert (await http.get(f"{about['url']}/api/v1/decisions", headers=headers)).status_code == 403
        entered = await http.post(f"{about['url']}/api/v1/enter", json={"code": link.partition("#enter=")[2]})
        assert entered.json()["role"] == "owner"
    first = about["key"]
    async with serve_hub(tmp_path) as (hub, _):
        assert (await hub.access.identify(first)).role is Role.REPORTER  # hosts that wait for an answer go on
        assert len(await hub.access.table.users()) == 1


@async_test
async def test_a_second_hub_on_the_database_leaves_the_hosts_of_the_first_their_key(tmp_path: Path) -> None:
    shared = {"store": new_database(tmp_path), "name": "team"}
    places = [tmp_path / name for name in ("one", "two")]
    for place in places:
        place.mkdir()
    async with serve_hub(places[0], **shared) as (hub, _):
        async with serve_hub(places[1], **shared):
            pass
        keys = [each.key for place in places for each in local_hubs(place)]
        assert [(await hub.access.identify(key)).role for key in keys] == [Role.REPORTER, Role.REPORTER]


@async_test
async def test_a_hub_that_this_machine_joined_stays_the_one_to_ask(tmp_path: Path) -> None:
    joined = JoinedHub("https://hub.example.org", "key", "office", AskAt.HUB, reports=True, takes_rules=True)
    write_hub_file(tmp_path, joined)
    async with serve_hub(tmp_path) as (_, link):
        assert "#enter=" in link
        assert find_hub(tmp_path) == joined
    hub_file_path(tmp_path).unlink()
    async with serve_hub(tmp_path) as (hub, _):
        found = find_hub(tmp_path)
        assert found is not None
        assert (found.url, found.reports) == (hub.config.url, False)


@async_test
async def test_hosts_ask_a_hub_that_runs_whichever_started_or_ended_last(tmp_path: Path) -> None:
    places = [tmp_path / name for name in ("one", "two")]
    for place in places:
        place.mkdir()
    stores = [new_database(place) for place in places]
    async with AsyncExitStack() as first_stack:
        first, _ = await first_stack.enter_async_context(serve_hub(tmp_path, store=stores[0]))
        async with serve_hub(tmp_path, store=stores[1]):
            assert _asked(tmp_path) == (first.config.url, True)
        assert _asked(tmp_path) == (first.config.url, True)
        async with serve_hub(tmp_path, store=stores[1]) as (second, _):
            await first_stack.aclose()
            assert _asked(tmp_path) == (second.config.url, True)
    assert _asked(tmp_path) == (second.config.url, False)
    assert len(local_hubs(tmp_path)) == 2  # the key of each database is kept


def _asked(state: Path) -> tuple[str, bool] | None:
    hub = find_hub(state)
    return None if hub is None else (hub.url, hub.runs)


@async_test
async def test_where_hosts_ask_is_as_the_settings_say(tmp_path: Path) -> None:
    async with serve_hub(tmp_path, approvals_ask="hub"):
        found = find_hub(tmp_path)
        assert found is not None
        assert found.ask is AskAt.HUB


@async_test
async def test_a_port_in_use_and_an_open_door_are_refused(tmp_path: Path) -> None:
    async with serve_hub(tmp_path) as (hub, _):
        with pytest.raises(HooklineError, match="cannot listen on 127"):
            await run_hub(hub.config, lambda hub, link: pytest.fail("it started"))
        with pytest.raises(HooklineError, match="can be reached by others"):
            await run_hub(replace(hub.config, host="0.0.0.0"), lambda hub, link: pytest.fail("it started"))


@async_test
async def test_tls_files_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    cert.write_text("no certificate")
    config = HubConfig(
        state=tmp_path, port=0, tls=TlsFiles(cert, key), config_file=tmp_path / "hub.json", lines={"tls": 4}
    )
    with pytest.raises(HooklineError, match=r"hub\.json:4  tls: there is no file .*key\.pem"):
        await run_hub(config, lambda hub, link: pytest.fail("it started"))
    key.write_text("no key")
    with pytest.raises(HooklineError, match=r"hub\.json:4  tls: .* cannot be used"):
        await run_hub(config, lambda hub, link: pytest.fail("it started"))


@async_test
async def test_small_answers_are_sent_at_once() -> None:
    """Nagle's algorithm would hold an answer back until the other side has acknowledged the one before."""
    no_delay: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def accepted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        no_delay.set_result(writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    listener = listen("127.0.0.1", 0)
    async with await asyncio.start_server(accepted, sock=listener):
        _, writer = await asyncio.open_connection(*listener.getsockname())
        assert await no_delay
        writer.close()


@async_test
async def test_a_host_that_waits_for_an_answer_does_not_hold_up_the_end(tmp_path: Path) -> None:
    async with httpx2.AsyncClient(timeout=30) as http:
        async with serve_hub(tmp_path) as (hub, _):
            headers = {"authorization": f"Bearer {local_hubs(tmp_path)[0].key}"}
            question = {"host": "codex", "tool": "shell", "input": {}, "seconds": 60}
            approvals = f"{hub.config.url}/api/v1/approvals"
            asked = (await http.post(approvals, json=question, headers=headers)).json()
            waiting = asyncio.ensure_future(http.get(f"{approvals}/{asked['id']}?wait=25", headers=headers))
            await eventually(lambda: hub.approvals._changed._waiters)  # type: ignore[attr-defined]
        assert (await waiting).json()["state"] == "waiting"
