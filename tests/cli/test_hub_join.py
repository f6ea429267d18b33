"""Joining a hub elsewhere, and leaving it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from hookline.hosts.hub.hub_file import AskAt, read_joined_hub
from hub.hub_process import serve_hub

pytestmark = pytest.mark.slow


@pytest.fixture
def running_hub(tmp_path: Path) -> Iterator[tuple[str, str]]:
    """Its URL and a key for a machine, in a thread of its own."""
    found: list[tuple[str, str]] = []
    up, stop = threading.Event(), threading.Event()

    async def serve() -> None:
        (tmp_path / "hub").mkdir()
        async with serve_hub(tmp_path / "hub") as (hub, _):
            key, _ = await hub.access.add_key("a machine")
            found.append((hub.config.url, key))
            up.set()
            await asyncio.to_thread(stop.wait)

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    assert up.wait(30)
    yield found[0]
    stop.set()
    thread.join()


def test_a_machine_joins_sends_and_leaves(hookline, project, running_hub):
    url, key = running_hub
    joined = hookline("hub", "join", url, "--key", key, "--ask", "hub")
    assert (joined.exit_code, "Joined" in joined.stdout) == (0, True)
    state = project.parent / "home" / ".local" / "state" / "hookline"
    known = read_joined_hub(state)
    assert known is not None
    assert (known.url, known.ask, known.reports) == (url, AskAt.HUB, True)
    sent = hookline("hub", "push")
    assert (sent.exit_code, "Sent" in sent.stdout) == (0, True)
    assert hookline("hub", "leave").exit_code == 0
    assert read_joined_hub(state) is None
    assert hookline("hub", "leave").exit_code == 1
    assert hookline("hub", "push").exit_code == 1


def test_without_a_key_and_a_terminal_it_says_where_the_key_goes(hookline, project, running_hub):
    refused = hookline("hub", "join", running_hub[0])
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert refused.stderr == (
        "hookline: a key is needed, and stdin is not a terminal. Set HOOKLINE_HUB_KEY or pass --key; "
        "`hookline hub keys add NAME` on the hub's machine prints a key.\n"
    )


def test_a_wrong_key_or_url_is_refused(hookline, project, running_hub):
    url, _ = running_hub
    refused = hookline("hub", "join", url, "--key", "wrong")
    assert (refused.exit_code, "does not accept this key" in refused.stderr) == (1, True)
    assert hookline("hub", "join", "http://127.0.0.1:9", "--key", "k").exit_code == 1
    assert "https" in hookline("hub", "join", "http://far.example", "--key", "k").stderr


def test_rules_of_the_hub_are_listed_and_go_with_it(hookline, project, running_hub):
    url, key = running_hub
    assert "Its rules are taken" in hookline("hub", "join", url, "--key", key, "--take-rules").stdout
    state = project.parent / "home" / ".local" / "state" / "hookline"
    rules = state / "hub_rules" / "hub.json"
    rules.write_text('{"hooks": {"PreToolUse": [{"id": "no-rm", "matcher": "^bash$", "action": "deny"}]}}')
    assert "no-rm" in hookline("list").stdout
    assert "hub rules" in hookline("list").stdout
    assert hookline("hub", "leave").exit_code == 0
    assert not rules.exists()
    assert "no-rm" not in hookline("list").stdout
