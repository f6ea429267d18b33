"""A patch is one call for each file. An invalid patch hides no path."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from hookline.hosts.agents.payload import split_patch


def _patch(*lines: str) -> str:
    return "\n".join(("*** Begin Patch", *lines, "*** End Patch"))


def _paths(text: str) -> list[str]:
    return [input["path"] for _, input in split_patch(text) if "path" in input]


def test_added_file_is_written_with_its_content() -> None:
    ((kind, input),) = split_patch(_patch("*** Add File: a.txt", "+one", "+", "++two"))
    assert (kind, input["path"], input["content"]) == ("write", "a.txt", "one\n\n+two\n")


def test_updated_file_is_edited_from_old_to_new() -> None:
    ((kind, input),) = split_patch(
        _patch("*** Update File: a.py", "@@ def f():", " keep", "-old", "+new", "*** End of File")
    )
    assert (kind, input["path"]) == ("edit", "a.py")
    assert (input["old_string"], input["new_string"]) == ("keep\nold", "keep\nnew")


def test_moved_file_is_edited_at_both_places() -> None:
    assert _paths(_patch("*** Update File: a.py", "*** Move to: b.py", "@@", "-x", "+y")) == ["a.py", "b.py"]


def test_deleted_file_is_edited() -> None:
    ((kind, input),) = split_patch(_patch("*** Delete File: a.py"))
    assert (kind, input["path"]) == ("edit", "a.py")


@pytest.mark.parametrize(
    "text",
    [
        "<<'EOF'\n" + _patch("*** Delete File: a.py") + "\nEOF\n",
        "<<EOF\n" + _patch("*** Delete File: a.py") + "\nEOF",
        "\n\n  " + _patch("*** Delete File: a.py") + "  \n",
        _patch("*** Delete File: a.py").replace("\n", "\r\n"),
        _patch("  *** Delete File: a.py  "),
        _patch("*** Environment ID: remote", "*** Delete File: a.py"),
    ],
    ids=["quoted here-document", "here-document", "around", "carriage returns", "indented header", "environment"],
)
def test_the_agents_own_parser_is_not_more_lenient(text: str) -> None:
    assert [input for _, input in split_patch(text)] == [
        {"path": "a.py", "patch": "*** Delete File: a.py", "old_string": "", "new_string": ""}
    ]


def test_a_header_within_a_hunk_is_its_text() -> None:
    ((_, input),) = split_patch(_patch("*** Update File: a.py", "@@", " *** Delete File: b.py", "+*** Add File: c.py"))
    assert input["path"] == "a.py"
    assert "*** Add File: c.py" in input["new_string"]


@pytest.mark.parametrize(
    "text",
    [
        "*** Update File: .env\n+A=1",
        _patch("*** Update File: .env", "what is this"),
        _patch("*** Add File: .env", "no plus"),
        _patch("*** Move to: .env"),
        _patch("*** Update File: x", "@@", "+a", "*** Move to: .env"),
        "bash -c apply_patch <<X\n" + _patch("*** Update File: .env") + "\nX",
    ],
)
def test_an_invalid_patch_is_one_edit_of_it_all_and_of_each_path(text: str) -> None:
    found = split_patch(text)
    assert found[0][1] == {"patch": text, "new_string": text}
    assert ".env" in _paths(text)
    assert {str(kind) for kind, _ in found} == {"edit"}


@pytest.mark.parametrize("text", ["", "hello", _patch(), "*** Begin Patch\n*** End Patch", _patch("*** Add File: ")])
def test_never_no_call(text: str) -> None:
    assert split_patch(text) == [("edit", {"patch": text, "new_string": text})]


_LINES = some.sampled_from(
    [
        "*** Begin Patch",
        "*** End Patch",
        "*** Add File: a",
        "*** Update File: b",
        "*** Move to: c",
        "*** Delete File: d",
        "@@",
        "+x",
        "-y",
        " z",
        "",
        "*** End of File",
        "junk",
    ]
)


@given(some.lists(_LINES, max_size=12))
def test_every_header_is_an_edit(lines: list[str]) -> None:
    named = {line[-1] for line in lines if ": " in line}
    assert named <= set(_paths("\n".join(lines)))


@pytest.mark.parametrize("text", ["<<E\n" + "\n" * 300_000, "*** Add File: x" + " " * 300_000 + "y", "*** " * 100_000])
def test_no_text_is_slow(text: str) -> None:
    assert split_patch(text)
