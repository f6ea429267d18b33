from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hookline.cli.yaml_dump import dump_yaml
from hookline.config.reader import FileFormat, read_text

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20) | st.sampled_from(
    [
        "on",
        "off",
        "yes",
        "NO",
        "null",
        "~",
        "1",
        "1.0",
        "0o7",
        "true",
        "a: b",
        "# c",
        "- d",
        "a\nb",
        "a\n\n  b\n",
        " x ",
        "",
        "'",
        "{{a}}",
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(TEXT, VALUES, max_size=5))
def test_our_reader_reads_back_what_was_written(value):
    document, problems = read_text(dump_yaml(value), "a.yaml", FileFormat.YAML)
    assert problems == ()
    assert document is not None
    assert document.value == value


def test_on_stays_plain_as_a_key_and_order_is_kept():
    assert dump_yaml({"on": "on", "a": {"On": 1}, "0": []}) == "on: 'on'\na:\n  On: 1\n'0': []\n"


def test_a_script_stays_readable():
    assert dump_yaml({"run": "a\nb"}) == "run: |-\n  a\n  b\n"
