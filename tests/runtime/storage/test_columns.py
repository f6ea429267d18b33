from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.errors import HooklineError
from hookline.runtime.storage.columns import copy_json, encode_json, escape_text, unescape_text

pytestmark = pytest.mark.slow


ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | ANY_TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(ANY_TEXT, inner),
    max_leaves=10,
)


@given(ANY_TEXT)
def test_any_text_can_be_stored_and_read(text: str) -> None:
    stored = escape_text(text)
    assert "\0" not in stored
    stored.encode()
    assert unescape_text(stored) == text


@given(ANY_TEXT, ANY_TEXT)
def test_different_texts_are_stored_differently(one: str, other: str) -> None:
    assert (escape_text(one) == escape_text(other)) == (one == other)


@given(JSON)
def test_any_json_can_be_stored_and_read(value: Any) -> None:
    assert copy_json(value) == value
    assert copy_json(unescape_text(escape_text(encode_json(value)))) == encode_json(value)


def twice_within_itself() -> list[Any]:
    value: list[Any] = []
    value += [value, value]
    return value


def doubled(times: int) -> Any:
    value: Any = "x"
    for _ in range(times):
        value = [value, value]
    return value


@pytest.mark.parametrize(
    "value",
    [twice_within_itself(), doubled(60), ["x" * 1_000_000] * 1_000, [[0] * 10_000] * 10_000],
    ids=["twice within itself", "doubled", "long", "wide"],
)
def test_small_values_that_would_be_written_without_end_are_refused(value: Any) -> None:
    with pytest.raises(HooklineError, match="too large"):
        encode_json(value)
