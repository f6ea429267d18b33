"""Two hubs on one PostgreSQL, with Redis between them: what happens at one is seen and answered at the other."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import temporary_postgres
import temporary_redis
from agent_pages import Api, BrowserAgent, call
from browser_hub import DESKTOP, WAIT, HubProcess, Watched, find_violations
from playwright.sync_api import Browser, Page, expect
from test_approvals import CodexCall, ask, calls, card, open_approvals  # noqa: F401  `calls` is a fixture


class TwoHubs(NamedTuple):
    first: HubProcess
    second: HubProcess
    redis: temporary_redis.TemporaryRedis


def start_hub(home: Path, agents: Path, *options: str) -> HubProcess:
    home.mkdir()
    hub = HubProcess(home, *options)
    settings = home / "config/hookline/hub.yaml"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(f"agents_path: {agents}\n", encoding="utf-8")
    hub.start()
    return hub


@pytest.fixture(scope="module")
def hubs() -> Iterator[TwoHubs]:
    programs = temporary_postgres.programs()
    if programs is None:
        pytest.skip("there is no PostgreSQL")
    if not temporary_redis.is_installed():
        pytest.skip(temporary_redis.NO_REDIS)
    directory = Path(tempfile.mkdtemp(prefix="hlb"))
    started: list[HubProcess] = []
    try:
        with (
            temporary_postgres.running(programs, directory) as socket,
            temporary_redis.running_redis(directory) as redis,
        ):
            options = ("--store", f"postgresql://tests@/postgres?host={socket}", "--redis", redis.url)
            for name in ("one", "two"):
                started.append(start_hub(directory / name, directory / "agents", *options))
            yield TwoHubs(started[0], started[1], redis)
            for hub in started:
                hub.stop()
                hub.stop_engine()
        assert not any(hub.bugs for hub in started)
    finally:
        for hub in started:
            hub.stop()
        shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture(scope="module")
def signed_in(browser: Browser, hubs: TwoHubs) -> dict[str, Any]:
    """At the second hub."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(hubs.second.link)
    page.get_by_role("heading", name="Decisions").wait_for(timeout=WAIT)
    state = dict(context.storage_state())
    context.close()
    return state


@pytest.fixture
def page(browser: Browser, signed_in: dict[str, Any], watched: Watched) -> Iterator[Page]:
    context = browser.new_context(storage_state=signed_in, viewport=DESKTOP)  # type: ignore[arg-type]
    context.set_default_timeout(WAIT)
    watched.attach(context)
    yield context.new_page()
    context.close()


def test_a_question_of_one_hub_is_answered_at_the_other(page: Page, hubs: TwoHubs, calls: list[CodexCall]) -> None:  # noqa: F811
    open_approvals(page, hubs.second)
    asked = ask(hubs.first, calls, "git push origin elsewhere")
    waiting = card(page, "git push origin elsewhere")
    waiting.get_by_label("Reason").fill("Not from there.", timeout=WAIT)
    assert find_violations(page) == []
    waiting.get_by_role("button", name="Deny").click()
    assert "Not from there." in asked.answer()


def test_decisions_of_one_hub_are_live_at_the_other_and_again_when_redis_is_back(page: Page, hubs: TwoHubs) -> None:
    page.goto(hubs.second.url)
    expect(page.get_by_text("Live", exact=True).first).to_be_attached(timeout=WAIT)
    hubs.first.run_commands("rm -rf before")
    expect(page.locator(".row").filter(has_text="rm -rf before")).to_be_visible(timeout=WAIT)
    hubs.redis.kill()
    hubs.first.run_commands("rm -rf meanwhile")
    hubs.redis.start()
    expect(page.locator(".row").filter(has_text="rm -rf meanwhile")).to_be_visible(timeout=WAIT)
    hubs.first.run_commands("rm -rf after")
    expect(page.locator(".row").filter(has_text="rm -rf after")).to_be_visible(timeout=WAIT)


def test_a_page_at_one_hub_drives_a_session_of_the_other(page: Page, hubs: TwoHubs, signed_in: dict[str, Any]) -> None:
    """Its tools and the scripts of its rules run in the page; the rules were saved where the page is."""
    there = Api(hubs.second, signed_in)
    here = Api(hubs.first, signed_in)
    agent = BrowserAgent(
        here,
        "Painter",
        [
            call("dom", action="append", html="<p id=drawn>drawn</p>"),
            call("write_file", path="a.env", content="KEY=1"),
            {"say": "done"},
        ],
    )
    page.goto(f"{hubs.second.url}/agents/{agent.id}/sessions/{agent.session}")
    frame = agent.frame(page)
    agent.api = there
    script = "if (toolInput.path.endsWith('.env')) return {decision: 'deny', reason: 'Seen: ' + document.title};"
    agent.add_rules({"id": "no-env", "matcher": "^write_file$", "action": "script", "script": script})
    page.wait_for_timeout(1500)  # the first hub looks for changed rules every second, if Redis does not tell it
    agent.say()
    expect(frame.locator("#drawn")).to_have_text("drawn", timeout=WAIT)
    assert "Seen: " in " ".join(agent.results())
    expect(page.get_by_role("log", name="Chat")).to_contain_text("done", timeout=WAIT)
    assert find_violations(page) == []
