from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from hookline.runtime.models.spelling import Spelling


def test_dots_are_spelt_as_two_lines_and_read_back() -> None:
    spelling = Spelling(["bash", "mcp.git.status"])
    assert (spelling.told("bash"), spelling.told("mcp.git.status")) == ("bash", "mcp__git__status")
    assert (spelling.meant("mcp__git__status"), spelling.meant("made_up")) == ("mcp.git.status", "made_up")


def test_a_name_that_another_would_take_stays_its_own() -> None:
    spelling = Spelling(["a.b", "a__b"])
    assert spelling.told("a__b") == "a__b"
    assert spelling.meant(spelling.told("a.b")) == "a.b"


@settings(max_examples=200)
@given(st.lists(st.text(alphabet=st.sampled_from("ab._-/é\ud800 "), max_size=70), max_size=8))
def test_every_name_is_taken_by_every_provider_and_comes_back(names: list[str]) -> None:
    spelling = Spelling(names)
    for name in names:
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", spelling.told(name))
        assert spelling.meant(spelling.told(name)) == name
