"""What a pack stops stays stopped behind any number of harmless things: no reader gives up without saying so."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from hookline.engine import match_budget
from hookline.hooks.outcome import Verdict
from hookline.project.loader import load_text
from packs.pack_trials import decide, load_pack, trials

_PADDING: Final = re.compile("‹(.*?)›", re.DOTALL)
_SLOW_COUNTS: Final = (450, 2_500)  # behind the limits of the readers
_COUNTS: Final = (1, 40, *(pytest.param(count, marks=pytest.mark.slow) for count in _SLOW_COUNTS))
_ROWS: Final = yaml.safe_load(Path(__file__).with_name("padded_commands.yaml").read_text(encoding="utf-8"))


def _pad(template: str, count: int) -> str:
    def repeat(found: re.Match[str]) -> str:
        return "".join(found[1].replace("#", str(number)) for number in range(count))

    padded = _PADDING.sub(repeat, template)
    assert padded != template
    return padded


@pytest.mark.parametrize("count", _COUNTS)
@pytest.mark.parametrize(("pack", "template"), [(pack, row) for pack, rows in _ROWS.items() for row in rows])
def test_padding_lets_nothing_pass(pack: str, template: str, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match_budget, "WALL_SECONDS", 60.0)  # a hook that runs out of time stops whatever it is
    decision = decide(load_pack(pack), _pad(template, count))
    assert decision.verdict >= Verdict.ASK
    assert decision.failures == ()


_LONG: Final = "true; " * 9_000  # too long to be read
_PLAIN_RULES: Final = [
    ({"runs": "rm"}, f"{_LONG}rm x"),
    ({"runs": {"program": "git", "subcommand": "push"}}, f"{_LONG}git push"),
    ({"runs": "git", "not": {"runs": {"program": "git", "flags": ["no-verify"]}}}, f"{_LONG}git push"),
    ({"pipes": {"from": "curl", "to": "sh"}}, f"{_LONG}curl x | sh"),
    ({"input": {"command": "push"}}, f"{_LONG}git push"),
    ({"kind": "shell", "outside": {"directory": "workspace", "unparsed": "ignored"}}, f"{_LONG}cat /etc/passwd"),
    ({"kind": "shell", "inside": {"directory": "/etc", "unparsed": "ignored"}}, f"{_LONG}cat /etc/passwd"),
    ({"outside": "workspace"}, {"tool": "mcp__x__write_it", "input": {"a_" * 200 + "file_path": "/etc/passwd"}}),
    ({"outside": "workspace"}, {"tool": "mcp__x__write_file", "input": {"where": f"/etc/{'./' * 3_000}passwd"}}),
    ({"tool": f"mcp.{'_'.join('abcdefghijkl')}.write"}, {"tool": f"mcp_{'_'.join('abcdefghijkl')}_write", "input": {}}),
]


@pytest.mark.parametrize(("when", "call"), _PLAIN_RULES, ids=[str(when) for when, _ in _PLAIN_RULES])
def test_a_plain_rule_reads_behind_padding(when: Any, call: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match_budget, "WALL_SECONDS", 60.0)
    rule = {"id": "guard", "on": "tool.before", "when": when, "then": {"deny": "no"}}
    decision = decide(load_text(yaml.safe_dump({"version": 1, "hooks": [rule]}), "hookline.yaml"), call)
    assert decision.verdict is Verdict.DENY
    assert decision.failures == ()


def test_an_allow_does_not_hold_for_what_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match_budget, "WALL_SECONDS", 60.0)
    rules = [
        {"id": "allowed", "on": "tool.before", "when": when, "then": {"allow": True}}
        for when in ({"runs": "true"}, {"kind": "shell", "inside": {"directory": "workspace", "unparsed": "ignored"}})
    ]
    decision = decide(load_text(yaml.safe_dump({"version": 1, "hooks": rules}), "hookline.yaml"), f"{_LONG}rm x")
    assert decision.verdict is Verdict.SILENT


_BLANKS: Final = re.compile(r"(?<=\S) +(?=\S)")
_KNOWN: Final = frozenset(('perl -e \'open(my $f, "<", "/etc/passwd"); print <$f>\'',))
"""What passes today with many blanks between its words."""


@pytest.mark.parametrize("pack", ["recommended", "secrets", "production", "workspace"])
def test_blanks_let_nothing_pass(pack: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match_budget, "WALL_SECONDS", 60.0)
    calls = {call for trial in trials(pack) for call in trial.stops if isinstance(call, str)}
    padded = {call: _BLANKS.sub(" " * 310, call, count=8) for call in calls}
    book = load_pack(pack)
    assert {call for call in calls if decide(book, padded[call]).verdict < Verdict.ASK} == calls & _KNOWN
