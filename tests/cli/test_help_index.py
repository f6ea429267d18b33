"""Which places of the documentation explain a name."""

from __future__ import annotations

from hookline.cli.help_index import HelpEntry, HelpIndex
from hookline.dialects.native.keys import Key, key_table

PAGE = """# Fruit

## apples, pears

They grow on trees.

### Colours

| name | taste |
| --- | --- |
| `red`, `green` | sour |
| `yellow` | like `honey` |

```text
## no heading
| `code` | in a block |
```

## How to plant a tree

Dig.
"""
PACK = "hooks:\n  - id: no-stones\n    on: tool.before\n\n  - id: no-wax\n    on: tool.after\n"
INSIDE = key_table(Key("ripe", schema={}, help="whether it may be eaten", default="`true`"))
KEYS = {"fruit": key_table(Key("harvest", schema={}, help="when", mapping=INSIDE))}
INDEX = HelpIndex({"fruit": PAGE}, {"orchard": PACK}, KEYS)


def only(name: str) -> HelpEntry:
    [found] = INDEX.explain(name)
    return found


def test_a_section_is_found_by_each_name_in_its_heading() -> None:
    assert only("pears") == only("Apples")
    assert only("apples").markdown.startswith("## apples, pears\n")
    assert "sour" in only("apples").markdown
    assert "Dig." not in only("apples").markdown


def test_a_row_is_found_by_its_names_and_then_by_other_cells() -> None:
    assert only("green").heading == "Colours"
    assert only("green").markdown == "`red`, `green`\n\n- taste: sour"
    assert only("honey").markdown.startswith("`yellow`")


def test_code_blocks_have_no_names() -> None:
    assert INDEX.explain("code") == []
    assert INDEX.explain("no heading") == []


def test_a_word_of_one_heading_is_enough() -> None:
    assert only("plant").heading == "How to plant a tree"


def test_the_hooks_of_packs_are_shown_as_written() -> None:
    assert "  - id: no-stones\n    on: tool.before\n```" in only("no-stones").markdown
    assert "hookline:orchard" in only("no-wax").markdown


def test_a_key_that_no_table_lists_is_explained() -> None:
    assert only("ripe") == HelpEntry(
        "fruit", "harvest", "ripe\n\n- default: `true`\n- meaning: whether it may be eaten"
    )


def test_a_word_without_a_place_has_the_pages_that_use_it() -> None:
    assert INDEX.explain("grow") == []
    assert INDEX.places("grow") == ["fruit"]
    assert INDEX.places("tree") == ["fruit: How to plant a tree"]
    assert INDEX.places("stone") == []
