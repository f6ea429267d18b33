"""How an error is described; whole connections are in test_server_tools.py."""

from __future__ import annotations

from hookline.runtime.mcp.connection import error_reason


def test_a_reason_is_the_first_error_in_one_line() -> None:
    inner = BaseExceptionGroup("inner", [OSError("refused\n  by the host"), ValueError("later")])
    assert error_reason(BaseExceptionGroup("outer", [inner])) == "refused by the host"


def test_an_error_without_text_is_named_by_its_type() -> None:
    assert error_reason(TimeoutError()) == "TimeoutError"


def test_a_reason_is_short_and_printable() -> None:
    text = error_reason(OSError("\x1b[1m" + "x" * 100_000))
    assert "\x1b" not in text
    assert len(text) < 10_000
