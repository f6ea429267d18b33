"""What a pack stops stays stopped behind any number of harmless things: no reader gives up without saying so."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest
import yaml

from hookline.engine import match_budget
from hookline.hooks.outcome import Verdict
from packs.pack_trials import decide, load_pack

_PADDING: Final = re.compile("‹(.*?)›", re.DOTALL)
_COUNTS: Final = (1, 40, 450, 2_500)  # behind the limits of the readers
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
