from __future__ import annotations

import pytest

from hookline.cli.extended_file import add_extends, new_file_text, pack_references
from hookline.errors import HooklineError

PACKS = ["hookline:recommended"]
LINE = "extends: [hookline:recommended]\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", LINE),
        ("# mine\n", "# mine\n" + LINE),
        ("# mine", "# mine\n" + LINE),
        ("version: 1", "version: 1\n" + LINE),
        ("# mine\nversion: 1  # the first\nhooks: []\n", "# mine\nversion: 1  # the first\n" + LINE + "hooks: []\n"),
        ("---\n# mine\nhooks:\n  - {id: a}\n", "---\n# mine\n" + LINE + "hooks:\n  - {id: a}\n"),
    ],
)
def test_one_line_is_added_and_the_rest_stays(before, after):
    assert add_extends(before, PACKS, "hookline.yaml") == after


@pytest.mark.parametrize(
    "text",
    [
        new_file_text(PACKS),
        "extends: hookline:recommended\n",
        "extends: [hookline:audit, hookline:recommended: {shared_branches: x}]\n",
    ],
)
def test_a_file_that_extends_them_already_stays(text):
    assert add_extends(text, PACKS, "hookline.yaml") == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("extends: [hookline:audit]\n", "already has `extends`"),
        ("{version: 1, hooks: []}\n", "cannot be added"),
        ("  hooks: []\n", "cannot be added"),
        ("hooks: [\n", "not valid YAML"),
        ("- a\n", "not a mapping"),
        ("a: |\n  x\n---\nb: 1\n", "not valid YAML"),
    ],
)
def test_what_cannot_be_merged_is_refused(text, message):
    with pytest.raises(HooklineError, match=message):
        add_extends(text, PACKS, "hookline.yaml")


def test_an_unknown_pack_is_refused_with_a_guess():
    assert pack_references(["audit", "hookline:audit"]) == ["hookline:audit"]
    with pytest.raises(HooklineError, match="Did you mean recommended"):
        pack_references(["recomended"])
