import os
import socket
from pathlib import Path

import pytest

from hookline.config.problem import Problem
from hookline.config.reader import MAX_FILE_BYTES, FileFormat, read_file, read_text


def only_problem(path: Path) -> Problem:
    document, problems = read_file(path)
    assert document is None
    assert len(problems) == 1
    assert problems[0].file == str(path)
    return problems[0]


def test_a_file_is_read_and_shown_by_the_name_it_is_given(tmp_path: Path) -> None:
    file = tmp_path / "hub.json"
    file.write_text('{"a": 1}')
    document, problems = read_file(file, shown_as="~/hub.json")
    assert problems == ()
    assert document is not None
    assert (document.file, document.value, document.text) == ("~/hub.json", {"a": 1}, '{"a": 1}')


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("a.json", '{"on": 1, // c\n}', {"on": 1}),
        ("a.JSONC", "[1,]", [1]),
        ("a.json5", "/* */ {}", {}),
        ("a.yaml", "on: 1", {"on": 1}),
        ("a.yml", "{on: 1}", {"on": 1}),
        ("a.md", "---\non: 1\n---\n# Title\non: 2\n", {"on": 1}),
        ("settings", '\n {"on": 1}', {"on": 1}),
        ("settings", "[1, // c\n]", [1]),
        (".flo", "on: 1", {"on": 1}),
    ],
)
def test_the_ending_or_else_the_first_character_tells_the_kind(name: str, text: str, value: object) -> None:
    document, problems = read_text(text, name)
    assert problems == ()
    assert document is not None
    assert document.value == value


def test_a_given_kind_wins_over_the_ending() -> None:
    document, _ = read_text("on: 1", "a.json", FileFormat.YAML)
    assert document is not None


@pytest.mark.parametrize("name", ["a.json", "a.yaml", "a.md", "a"])
@pytest.mark.parametrize("text", ["", "\ufeff", " \n\r\n", b"", b"\xef\xbb\xbf"])
def test_an_empty_file_is_an_empty_mapping(name: str, text: str | bytes) -> None:
    document, problems = read_text(text, name)
    assert problems == ()
    assert document is not None
    assert document.value == {}
    assert document.line(("hooks",)) >= 1


@pytest.mark.parametrize(
    ("name", "text"), [("a.json", "null"), ("a.json", "// c"), ("a.yaml", "# c\n"), ("a.yaml", "---\n~")]
)
def test_nothing_but_null_or_comments_is_an_empty_mapping(name: str, text: str) -> None:
    document, _ = read_text(text, name)
    assert document is not None
    assert document.value == {}


@pytest.mark.parametrize("name", ["a.json", "a.yaml", "a.md"])
def test_bytes_that_are_not_utf8_are_named_with_offset_and_line(name: str) -> None:
    document, (problem,) = read_text(b"---\r\n# \xc3\xa9\n\xff\n", name)
    assert document is None
    assert (problem.code, problem.line) == ("not-utf8", 3)
    assert "Byte 10 (0xFF)" in problem.what


@pytest.mark.parametrize("char", ["\x00", "\x07", "\x1b", "\x7f", "\x85", "\x9b", "\ud800", "\uffff"])
@pytest.mark.parametrize(
    ("name", "text"), [("a.json", '{\n"a": "%s"}'), ("a.yaml", "\na: '%s'"), ("a.md", "---\n%s\n---")]
)
def test_control_characters_are_refused_on_their_line(name: str, text: str, char: str) -> None:
    document, (problem,) = read_text(text % char, name)
    assert document is None
    assert (problem.code, problem.line) == ("control-character", 2)
    assert f"U+{ord(char):04X}" in problem.what


def test_ten_megabytes_are_enough(tmp_path: Path) -> None:
    assert read_text(b'"' + b"x" * (MAX_FILE_BYTES - 2) + b'"', "a.json")[0] is not None
    for text in ("x" * (MAX_FILE_BYTES + 1), "é" * (MAX_FILE_BYTES // 2 + 1), b"x" * (MAX_FILE_BYTES + 1)):
        document, (problem,) = read_text(text, "a.json")
        assert document is None
        assert problem.code == "too-large"
    large = tmp_path / "a.yaml"
    with open(large, "wb") as file:
        file.truncate(50 * MAX_FILE_BYTES)
    assert only_problem(large).code == "too-large"


def test_what_is_no_regular_file_is_a_problem_and_never_waited_for(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo.yaml"
    os.mkfifo(fifo)
    link = tmp_path / "link.yaml"
    link.symlink_to(fifo)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "s.yaml"))
        for special in (fifo, link, tmp_path / "s.yaml", Path("/dev/zero"), tmp_path):
            assert only_problem(special).code == "not-a-file"


def test_a_missing_file_and_a_broken_link_are_problems(tmp_path: Path) -> None:
    assert only_problem(tmp_path / "absent.yaml").code == "no-file"
    link = tmp_path / "link.yaml"
    link.symlink_to(tmp_path / "absent")
    problem = only_problem(link)
    assert problem.code == "no-file"
    assert "link" in problem.what


def test_paths_that_cannot_be_opened_are_problems(tmp_path: Path) -> None:
    loop = tmp_path / "loop.yaml"
    loop.symlink_to(loop)
    inside_a_file = tmp_path / "file"
    inside_a_file.write_text("")
    for path in (loop, tmp_path / ("x" * 5000), inside_a_file / "a.yaml", tmp_path / "nul\0.yaml"):
        assert only_problem(path).code == "cannot-read"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_a_problem(tmp_path: Path) -> None:
    secret = tmp_path / "a.yaml"
    secret.write_text("a: 1")
    secret.chmod(0)
    assert only_problem(secret).code == "no-permission"


def test_front_matter_counts_lines_from_the_start_of_the_file() -> None:
    document, problems = read_text("---\r\nname: x\r\nhooks:\r\n  Stop: [a]\r\n---  \r\ntext", "SKILL.md")
    assert problems == ()
    assert document is not None
    assert document.value == {"name": "x", "hooks": {"Stop": ["a"]}}
    assert (document.line(("hooks",)), document.key_line(("hooks",))) == (4, 3)


def test_a_problem_in_front_matter_has_the_files_line() -> None:
    _, problems = read_text("---\na: 1\na: 2\nb: [\n---\n", "SKILL.md")
    assert [(problem.code, problem.line) for problem in problems] == [("duplicate-key", 3), ("syntax", 5)]
    assert "line 2" in problems[0].what


@pytest.mark.parametrize(
    "text", ["# Title\n---\na: 1\n---\n", " ---\na: 1\n---\n", "----\na: 1\n", "---\n---\n", "---\n...\n"]
)
def test_markdown_without_front_matter_is_an_empty_mapping(text: str) -> None:
    document, problems = read_text(text, "a.md")
    assert problems == ()
    assert document is not None
    assert document.value == {}


def test_the_text_below_front_matter_is_not_ours_to_judge() -> None:
    document, _ = read_text("---\na: 1\n---\n\x0c{{ [ \x1b", "a.md")
    assert document is not None


def test_front_matter_must_end() -> None:
    document, (problem,) = read_text("---\na: 1\n--- x\n", "a.md")
    assert document is None
    assert (problem.code, problem.line) == ("front-matter", 1)


@pytest.mark.parametrize("name", ["a.json", "a.yaml"])
def test_problems_without_end_are_cut_at_a_hundred(name: str) -> None:
    text = "{" + '"a": 1,\n' * 5000 + "}"
    document, problems = read_text(text, name)
    assert document is None
    assert len(problems) == 101
    assert problems[-1].code == "too-many-problems"
