from __future__ import annotations

import tomllib

from hypothesis import given
from hypothesis import strategies as st

from hookline.config.toml_writer import write_tables

TEXTS = st.text(st.characters(exclude_categories=("Cs",)))
VALUES = TEXTS | st.booleans() | st.integers(-(2**62), 2**62) | st.floats(allow_nan=False, allow_infinity=False)
TABLES = st.lists(st.dictionaries(st.from_regex(r"\A[a-z]{1,8}\Z"), VALUES, min_size=1), min_size=1)


def test_each_table_has_its_keys_below_the_name() -> None:
    text = write_tables("hooks", [{"event": "Stop", "timeout": 5}, {"event": 'a "b" 😀\x7f\\'}])
    assert text == '[[hooks]]\nevent = "Stop"\ntimeout = 5\n[[hooks]]\nevent = "a \\"b\\" 😀\\u007f\\\\"'


@given(TABLES)
def test_what_is_written_is_read_again(tables: list[dict[str, object]]) -> None:
    assert tomllib.loads(write_tables("hooks", tables)) == {"hooks": tables}
