"""Text that comes in pieces, within the width of a terminal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from hookline.cli.chat.render import WordWrapper

pytestmark = pytest.mark.slow


def flowed(*pieces: str, width: int = 10) -> str:
    flow = WordWrapper()
    return "".join([*(flow.feed(piece, width) for piece in pieces), flow.flush(width)])


@pytest.mark.parametrize(
    ("pieces", "shown"),
    [
        (("one two three four",), "one two\nthree four"),
        (("one tw", "o thr", "ee four"), "one two\nthree four"),
        (("one\n\n- two", "\n  three"), "one\n\n- two\n  three"),
        (("exactly10c", " next"), "exactly10c\nnext"),
        (("see https://example.com/long ok",), "see\nhttps://example.com/long ok"),
        (("漢字漢字漢字漢",), "漢字漢字漢\n字漢"),
        (("a  ", "\nb"), "a\nb"),
        (("",), ""),
    ],
)
def test_words_stay_whole(pieces: tuple[str, ...], shown: str) -> None:
    assert flowed(*pieces) == shown


def test_a_word_is_held_until_it_is_whole_and_a_line_is_not() -> None:
    flow = WordWrapper()
    assert flow.feed("one tw", 10) == "one"
    assert flow.feed("o\nx", 10) == " two\n"
    assert flow.flush(10) == "x"
    assert flow.feed("漢", 10) == "漢"


@given(st.lists(st.text(alphabet="ab漢 \n", max_size=12), max_size=8), st.integers(4, 20))
def test_however_it_is_cut_it_reads_the_same_and_fits(pieces: list[str], width: int) -> None:
    shown = flowed(*pieces, width=width)
    whole = "".join(pieces)
    assert shown == flowed(whole, width=width)
    assert shown.split() == whole.split() or "漢" in whole
    assert "".join(shown.split()) == "".join(whole.split())
    longest = max(map(cell_len, whole.replace("漢", " ").split()), default=0)
    assert all(cell_len(line.lstrip()) <= max(width, longest) for line in shown.split("\n"))
