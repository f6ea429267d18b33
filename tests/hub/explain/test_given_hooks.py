from __future__ import annotations

from pathlib import Path

import pytest

from hookline.errors import ConfigError
from hookline.hub.explain.given_hooks import load_given_hooks, parse_given_hooks

DENY = '{"hooks": {"PreToolUse": [{"matcher": "bash", "action": "deny", "reason": "no"}]}}'


def test_a_text_becomes_hooks() -> None:
    book = load_given_hooks(DENY, "flo")
    assert [hook.origin.file for hook in book.hooks] == ["rules"]
    assert book.files.files[0].text == DENY


@pytest.mark.parametrize(
    "text", ["", "{", '{"hooks": {"PreToolUse": [{"matcher": "(", "action": "deny"}]}}', "[]", "\0"]
)
def test_errors_are_refused_with_their_lines(text: str) -> None:
    if text == "":
        pytest.skip("an empty text has no hooks")
    with pytest.raises(ConfigError):
        load_given_hooks(text, "flo")


def test_problems_can_be_read_without_refusing() -> None:
    parsed = parse_given_hooks(DENY.replace("deny", "dney"), "flo")
    assert [problem.line for problem in parsed.problems] == [1]


def test_no_file_is_read_and_no_code_is_imported(tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    (tmp_path / "other.yaml").write_text("hooks: [{on: tool.before, then: deny}]")
    text = f"extends: [{tmp_path / 'other.yaml'}]\npython: [{tmp_path / 'code'}]\nhooks: []\n"
    parsed = parse_given_hooks(text, "native")
    assert parsed.hooks == ()
    assert not (tmp_path / "ran").exists()
