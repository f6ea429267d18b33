from __future__ import annotations

from pathlib import Path

import pytest

from hookline.project import load_text
from hookline.prove.judge import Judge
from hookline.prove.properties import parse_property


def judge(hooks: str, text: str = "tool: bash", **options: bool):
    book = load_text(f"hooks:\n{hooks}", "hookline.yaml", "native")
    return Judge(book, parse_property(text, **options), Path("/project"))


BASH = {"tool": {"name": "Bash", "input": {"command": "ls"}}}


def test_the_engine_decides():
    hooks = "  - {id: a, on: tool.before, when: {tool: bash, input: {command: ls}}, then: {deny: no}}\n"
    judgement = judge(hooks).judge(BASH)
    assert judgement.meets_property
    assert judgement.is_stopped
    assert [hook.id for hook in judgement.stopped_by] == ["a"]
    assert not judge(hooks).judge({"tool": {"name": "Read", "input": {}}}).meets_property


def test_an_ask_stops_only_if_it_is_enough():
    hooks = "  - {id: a, on: tool.before, then: {ask: sure?}}\n"
    assert not judge(hooks).judge(BASH).is_stopped
    assert judge(hooks, ask_is_enough=True).judge(BASH).is_stopped


def test_nothing_is_run(tmp_path, capfd):
    hooks = (
        f"  - {{id: p, on: tool.before, then: {{run: 'touch {tmp_path}/ran; exit 2'}}, on_error: closed}}\n"
        "  - {id: l, on: tool.before, then: [{log: seen}, {deny: no}]}\n"
    )
    judgement = judge(hooks).judge(BASH)
    assert [hook.id for hook in judgement.unknown] == ["p"]
    assert [hook.id for hook in judgement.stopped_by] == ["l"]
    assert not list(tmp_path.iterdir())
    assert "seen" not in "".join(capfd.readouterr())


@pytest.mark.parametrize("limit", ["max_fires: 1", "cooldown: 1h"])
def test_a_hook_with_a_limit_may_have_fired_before(limit):
    judgement = judge(f"  - {{id: a, on: tool.before, then: {{deny: no}}, {limit}}}\n").judge(BASH)
    assert not judgement.is_stopped
    assert [hook.id for hook in judgement.unknown] == ["a"]


def test_a_hook_that_only_tells_does_not_matter():
    judgement = judge("  - {id: a, on: tool.before, then: {log: hello}}\n").judge(BASH)
    assert judgement.unknown == ()
