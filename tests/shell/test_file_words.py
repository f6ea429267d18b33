"""tests/project/test_referenced_files.py has the commands; here is how words are found."""

import shlex

import pytest

from hookline.shell.file_words import FileWord, find_code_words, find_file_words


def _words(command: str) -> set[str]:
    return {word.text for word in find_file_words(command) if not word.is_searched}


@pytest.mark.parametrize(
    ("command", "counted", "other"),
    [
        ("sh x > y", "x", "y"),
        ("cat a | sh b", "b", "missing"),
        ("python3 a.py -o b", "a.py", "c"),
        ("curl -d @a -o b", "@a", "b"),
        ("grep a b; ./c", "./c", "b"),
        ("X=a; ./b", "./b", "a"),
        ("awk 'x' data", "x", "data"),
        ("mksh -c 'cat a; ./b'", "./b", "a"),
    ],
)
def test_words_that_run_count_and_words_that_are_written_or_read_do_not(command: str, counted: str, other: str) -> None:
    assert counted in _words(command)
    assert other not in _words(command)


def test_words_behind_many_others_count() -> None:
    modules = ", ".join(f"a{number} as b{number}" for number in range(100))
    assert "evil.py" in _words(f"python3 -c 'import {modules}, evil'")
    assert f"{'a' * 200}.py" in _words(f"python3 -c 'import {'a' * 200}'")
    assert f"./{'a/' * 200}x.js" in _words(f"node -e 'require(\"./{'a/' * 200}x\")'")
    nested = "./evil"
    for _ in range(12):
        nested = f"sh -c {shlex.quote(nested)}"
        assert "./evil" in _words(nested)


def test_a_directory_that_is_run_is_searched() -> None:
    assert FileWord("x", is_searched=True) in set(find_file_words("git -c core.hooksPath=x commit"))


@pytest.mark.parametrize(
    "text",
    ["", ">", ">>", "<", "|", "|||", "(((", ")))", "`", "`a`b`", "$(", "a <(", "a >& ", "<<", "'", '"', "\\", "X="],
)
def test_any_text_can_be_read(text: str) -> None:
    list(find_file_words(text))
    list(find_code_words(text))
