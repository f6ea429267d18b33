"""Log lines and notices."""

from __future__ import annotations

import asyncio
import logging

import pytest

from hookline.hooks.actions.notify import LEVELS, Log, Notify
from hookline.hooks.event import Event
from hookline.hooks.host import CurrentHook, Notice, current_hook
from hookline.hooks.outcome import SILENT, Outcome
from hookline.hooks.placeholders import PlaceholderResolver
from hookline.hooks.protocols import Action
from hookline.hooks.templates import Template, parse_template
from hookline.testing import ScriptedHost

EVENT = Event("tool.before", {"tool": {"name": "bash"}})


def template(text: str) -> Template:
    return parse_template(text, PlaceholderResolver())


def run_as(hook: str, action: Action) -> tuple[Outcome, ScriptedHost]:
    host = ScriptedHost()

    async def run() -> Outcome:
        current_hook.set(CurrentHook(hook))
        return await action.run(EVENT, host)

    return asyncio.run(run()), host


@pytest.mark.parametrize("level", LEVELS)
def test_a_log_line_has_its_level_and_hook(level: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "hookline"):
        assert run_as("audit", Log(template("ran {{tool.name}}"), level))[0] == SILENT
    assert [(record.levelno, record.getMessage()) for record in caplog.records] == [(LEVELS[level], "[audit] ran bash")]


def test_a_notice_reaches_the_host_with_its_hook() -> None:
    outcome, host = run_as("audit", Notify(template("ran {{tool.name}}"), template("Title"), "warning", "tag"))
    assert outcome == SILENT
    assert host.published == [Notice("notification", "ran bash", "Title", "warning", "tag", "audit")]
