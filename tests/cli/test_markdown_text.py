"""Markdown as text: paragraphs, lists, tables and code."""

from __future__ import annotations

import pytest

from hookline.cli.markdown_text import plain_text, render_page


def test_a_page_with_everything() -> None:
    page = """# The `title`

<!-- generated: x -->
One [link](other.md) and **strong** and *soft* words, in a paragraph that is so long
that it does not fit.

- an item that is
  continued
- `code`

| key | meaning | example |
| --- | --- | --- |
| `a` | one \\| two | `a: 1` |
| `long-name-of-a-key-that-needs-a-line` | its meaning | |

```yaml native
hooks: []
```
"""
    expected = """THE TITLE

One link and strong and soft words, in a
paragraph that is so long that it does
not fit.

- an item that is continued
- code

a                             one | two
                              example:
                              a: 1
long-name-of-a-key-that-needs-a-line
                              its
                              meaning

    hooks: []
"""
    assert render_page(page, 40) == expected


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("[a](b.md)", "a"),
        ("[a](https://example.com)", "a (https://example.com)"),
        ("![a picture](x.svg)", "[picture: a picture]"),
        ("[`[x]`](b.md)", "[x]"),
        ("2 * 3 * 4", "2 * 3 * 4"),
        ("`a.py`<br>`b.py`", "a.py, b.py"),
        ("`tool: 'mcp.*'` and `a*`", "tool: 'mcp.*' and a*"),
    ],
)
def test_a_text_without_its_marks(markdown: str, expected: str) -> None:
    assert plain_text(markdown) == expected


def test_headings_are_bold_in_a_terminal() -> None:
    assert render_page("## Here", styled=True) == "\x1b[1mHere\x1b[0m\n"
