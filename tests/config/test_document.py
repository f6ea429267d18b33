import pytest

from hookline.config.document import MISSING, Document
from hookline.config.reader import read_text

YAML = """\
# a comment
version: 1
hooks:
  - id: one
    when:
      tool: bash
  - id: two
    tags: [a,
      b]
"""
JSON = """\
// a comment
{
  "version":
    1,
  "hooks": [
    {"id": "one"}, {
      "id": "two"}
  ]
}
"""


def read_document(text: str, file: str) -> Document:
    read, problems = read_text(text, file)
    assert problems == ()
    assert read is not None
    return read


@pytest.mark.parametrize(
    ("path", "line", "key_line"),
    [
        ((), 2, 2),
        (("version",), 2, 2),
        (("hooks",), 4, 3),
        (("hooks", 0), 4, 4),
        (("hooks", 0, "when"), 6, 5),
        (("hooks", 0, "when", "tool"), 6, 6),
        (("hooks", 1, "tags", 1), 9, 9),
        (("hooks", 1, "absent", "deeper"), 7, 7),
        (("hooks", 2), 4, 3),
        (("hooks", -1), 4, 3),
        (("version", "x"), 2, 2),
        (("hooks", "x"), 4, 3),
    ],
)
def test_lines_of_yaml(path: tuple[str | int, ...], line: int, key_line: int) -> None:
    read = read_document(YAML, "a.yaml")
    assert (read.line(path), read.key_line(path)) == (line, key_line)


@pytest.mark.parametrize(
    ("path", "line", "key_line"),
    [
        ((), 2, 2),
        (("version",), 4, 3),
        (("hooks",), 5, 5),
        (("hooks", 0), 6, 6),
        (("hooks", 1), 6, 6),
        (("hooks", 1, "id"), 7, 7),
        (("hooks", 1, "absent"), 6, 6),
        ((0,), 2, 2),
    ],
)
def test_lines_of_json(path: tuple[str | int, ...], line: int, key_line: int) -> None:
    read = read_document(JSON, "a.json")
    assert (read.line(path), read.key_line(path)) == (line, key_line)


@pytest.mark.parametrize("line_end", ["\r\n", "\r", "\n"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
@pytest.mark.parametrize(("text", "file", "expected"), [(YAML, "a.yaml", 7), (JSON, "a.json", 6)])
def test_line_ends_of_every_kind_count_once(text: str, file: str, expected: int, bom: str, line_end: str) -> None:
    read = read_document(bom + text.replace("\n", line_end), file)
    assert read.line(("hooks", 1)) == expected


def test_characters_outside_ascii_do_not_shift_lines() -> None:
    text = "a: é😀\n" * 1
    read = read_document(text + "b: 'ÿ\n\n  ÿ'\nc: 1\n", "a.yaml")
    assert [read.line((key,)) for key in "abc"] == [1, 2, 5]


def test_an_alias_stands_where_it_is_written_and_its_parts_where_they_are() -> None:
    read = read_document("a: &x\n  k: 1\nb:\n  - *x\n", "a.yaml")
    assert read.line(("b", 0)) == 4
    assert read.line(("b", 0, "k")) == 2


def test_at_gives_the_value_or_missing() -> None:
    read = read_document(YAML, "a.yaml")
    assert read.value_at(("hooks", 1, "tags", 0)) == "a"
    assert read.value_at(()) is read.value
    assert read.value_at(("hooks", 5)) is MISSING
    assert read.value_at(("version", "x")) is MISSING
    assert read.value_at(("hooks", 0, "when", 0)) is MISSING


def test_null_is_not_missing() -> None:
    assert read_document("a:\n", "a.yaml").value_at(("a",)) is None


def test_a_document_made_by_hand_is_all_on_line_one() -> None:
    made = Document("session", "", {"hooks": [{"id": "a"}]})
    assert made.line(("hooks", 0, "id")) == made.key_line(("hooks",)) == 1


def test_ten_thousand_lines_are_told_at_once() -> None:
    read = read_document("hooks:\n" + "".join(f"  - id: h{i}\n    on: x\n" for i in range(10_000)), "a.yaml")
    assert [read.line(("hooks", i)) for i in range(10_000)] == list(range(2, 20_002, 2))
