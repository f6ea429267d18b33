"""`secrets` and `redact`: how they are read and written."""

from __future__ import annotations

from typing import Any

import pytest

from hookline.project import load_text


@pytest.mark.parametrize(
    "hook",
    [
        {"on": "tool.before", "when": {"secrets": True}, "then": {"deny": "No."}},
        {
            "on": "tool.before",
            "when": {"secrets": {"in": "tool.input.content", "allow": ["^x"]}},
            "then": {"deny": "No."},
        },
        {"on": "tool.after", "then": {"redact": "secrets"}, "on_error": "closed"},
        {"on": "tool.after", "then": {"redact": "secrets", "in": "tool.result", "allow": ["^x"]}, "on_error": "closed"},
    ],
    ids=str,
)
def test_a_hook_is_written_as_it_is_read(hook: dict[str, Any]) -> None:
    from hookline.dialects.native.dialect import _write_hook

    book = load_text({"hooks": [{"id": "x", **hook}]}.__repr__().replace("True", "true"), "hookline.yaml", "native")
    (found,) = book.hooks
    assert _write_hook(found) == {"id": "x", **hook}
