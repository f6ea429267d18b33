from __future__ import annotations

import time

import pytest

from hookline.runtime.tools.fetch import html_to_text


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<h1>One</h1><p>Two&nbsp;&amp;<br>three</p>", "One\nTwo &\nthree"),
        ("<SCRIPT>evil()</SCRIPT>a<style>b{}</style>c", "a c"),
        ("a<!-- <p>b</p> -->c", "ac"),
        ("1 < 2 <b>yes</b>", "1 < 2 yes"),
        ("<!doctype html><p>x", "x"),
        ("<script>never ends", ""),
        ("<p unclosed", ""),
        ("", ""),
    ],
)
def test_words_without_marks(page: str, text: str) -> None:
    assert html_to_text(page) == text


@pytest.mark.parametrize("piece", ["<", "<!--", "<script", "<a ", "</", "&#", "<p>", "<script></script "])
@pytest.mark.timing
def test_a_broken_page_is_no_slower(piece: str) -> None:
    began = time.monotonic()
    html_to_text(piece * (1_000_000 // len(piece)))
    assert time.monotonic() - began < 10
