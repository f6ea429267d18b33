"""What a program prints of the text that it reads."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from hookline.shell.filters import MADE_TEXT, filtered_texts
from hookline.shell.grammar import UNKNOWN


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["rev"], "hsup tig\nx\n"),
        (["tac"], "a\nb\n"),
        (["sort"], "b\na\n"),
        (["head", "-1"], "git push\nx\n"),
        (["head", "-n", "1"], "git push\nx\n"),
        (["tail", "-n1"], "x\ngit push\n"),
        (["tail", "-n", "5"], "x\ngit push\n"),
        (["tr", "x", "p"], "git xush\n"),
        (["tr", "a-z", "b-za"], "fhs\n"),
        (["tr", "abc", "x"], "aabbccd\n"),
        (["tr", "-d", "xy"], "gxiyt\n"),
        (["tr", "-s", " "], "git   push\n"),
        (["tr", "\\n", " "], "git\npush\n"),
        (["tr", "[:upper:]", "[:lower:]"], "GIT push\n"),
        (["cut", "-d", " ", "-f2-"], "x git push\n"),
        (["cut", "-d:", "-f", "1,3"], "git:x:push\n"),
        (["cut", "-c3-5"], "xxgitxx\n"),
        (["sed", "s/x/p/"], "git xush x\n"),
        (["sed", "s/x/p/g"], "git xush x\n"),
        (["sed", "-e", "s/^x//", "-e", "s|y$|push|"], "xgit y\n"),
        (["sed", "s/x/git/;s,y,push,"], "x y\n"),
        (["sed", "s/.*/git push/"], "anything\n"),
        (["sed", "s/[xyz]/p/"], "git zush\n"),
        (["sed", "s/ush/p&/"], "git ush\n"),
        (["awk", "{print $2}"], "x git\ny push\n"),
        (["awk", "{print}"], "git push\n"),
        (["xargs"], "git\npush\n"),
    ],
)
def test_a_filter_prints_what_the_program_prints(words: list[str], text: str) -> None:
    if shutil.which(words[0]) is None:
        pytest.skip(f"{words[0]} is not installed")
    ran = subprocess.run(words, input=text, capture_output=True, text=True, check=True)
    assert filtered_texts(words, [text]) == [ran.stdout]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["base64", "-d"], "Z2l0IHB1c2gK\n"),
        (["openssl", "base64", "-d"], "Z2l0IHB1c2gK\n"),
        (["base32", "--decode"], "M5UXIIDQOVZWQCQ=\n"),
        (["xxd", "-r", "-p"], "67697420707573680a\n"),
    ],
)
def test_a_decoded_text_is_known_but_hidden_from_a_reader(words: list[str], text: str) -> None:
    assert filtered_texts(words, [text]) == ["git push\n", UNKNOWN]


@pytest.mark.parametrize("words", [["grep", "push"], ["cat"], ["uniq"], ["envsubst"]])
def test_a_part_of_the_text_may_be_printed(words: list[str]) -> None:
    assert filtered_texts(words, ["git push\n"]) == ["git push\n", UNKNOWN]


@pytest.mark.parametrize(
    "words",
    [
        ["gunzip"],
        ["perl", "-pe", "1"],
        ["sed", "s/(a*)*b/x/"],
        ["sed", "y/ab/cd/"],
        ["tr", "-c", "a", "b"],
        ["awk", "{x}"],
        ["base64"],
    ],
)
def test_what_is_not_understood_may_be_any_command(words: list[str]) -> None:
    assert filtered_texts(words, ["git push\n"]) == [MADE_TEXT]


def test_what_is_made_of_an_unknown_text_is_unknown() -> None:
    assert filtered_texts(["rev"], [UNKNOWN]) == [UNKNOWN]
    assert filtered_texts(["rev"], [MADE_TEXT]) == [MADE_TEXT]
