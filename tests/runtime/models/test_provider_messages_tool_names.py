from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.runtime.models.provider_messages import ToolNameMap

pytestmark = pytest.mark.slow


def test_dots_are_spelt_as_two_lines_and_read_back() -> None:
    spelling = ToolNameMap(["bash", "mcp.git.status"])
    assert (spelling.to_model("bash"), spelling.to_model("mcp.git.status")) == ("bash", "mcp__git__status")
    assert (spelling.from_model("mcp__git__status"), spelling.from_model("made_up")) == ("mcp.git.status", "made_up")


def test_a_name_that_another_would_take_stays_its_own() -> None:
    spelling = ToolNameMap(["a.b", "a__b"])
    assert spelling.to_model("a__b") == "a__b"
    assert spelling.from_model(spelling.to_model("a.b")) == "a.b"


@given(st.lists(st.text(alphabet=st.sampled_from("ab._-/é\ud800 "), max_size=70), max_size=8))
def test_every_name_is_taken_by_every_provider_and_comes_back(names: list[str]) -> None:
    spelling = ToolNameMap(names)
    for name in names:
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", spelling.to_model(name))
        assert spelling.from_model(spelling.to_model(name)) == name
