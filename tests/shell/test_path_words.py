"""The words of a shell text that may name files."""

from __future__ import annotations

from pathlib import Path

import pytest

from hookline.shell.path_words import find_path_words
from hookline.shell.run_commands import read_commands


def words(text: str) -> set[str | None]:
    return {word for _, word in find_path_words(read_commands(text), "/w", lambda _: True)}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("cat a ./b", {"a", "./b"}),
        ("grep -r -n /x/ src", {"src"}),
        ("grep 5 /x", {"/x"}),
        ("grep -c x a", {"a"}),
        ("grep -A 3 /x/ a", {"3", "a"}),
        ("rg --files /x", {"/x"}),
        ("awk 1 a", {"a"}),
        ("tar -xCd", {"Cd", "d"}),
        ("grep -e /x/ src", {"src"}),
        ("grep -f list src", {"list", "src"}),
        ("sed -ne /x/p a", {"e", "a"}),
        ("tar -C/x --file=b of=c", {"/x", "b", "c", "of=c"}),
        ("curl -d @f -F g=@h https://x/y", {"f", "h", "g=@h"}),
        ("git commit -m /x a", {"commit", "a"}),
        ("make 2>/dev/null >out <in", {"out", "in"}),
        ("[ -n /x ] && test -f y", {"y"}),
        ("sudo cat /x", {"/x"}),
        ("sh -c 'cat x'", {"x"}),
        ("cat $x", {None}),
        ("$x", {None}),
        ("echo /x; kill $y", set()),
        ("cat .*", {None, ".*"}),
        ("docker run -v ~:/x i", {"run", "~:/x", "~", "i"}),
        (
            "docker run --mount type=bind,src=/y,dst=/x i",
            {"run", "type=bind,src=/y,dst=/x", "bind,src=/y,dst=/x", "/y"},
        ),
        ("cat /etc/os-release /usr/include/a.h", set()),
        ("cp /etc/os-release a", {"/etc/os-release", "a"}),
        ("cat /usr/include/../x", {"/usr/include/../x"}),
        ("cat < /dev/tcp/h/1", set()),
        ("touch $OLDPWD/a", {"//a", None}),
        ("touch ~-/a", {"//a"}),
        ("cd b && touch ~-/a", {"b", "/w/a"}),
        ("sed 'w /x' a", {"/x", "a"}),
        ("sed 'r /x' a", {"/x", "a"}),
        ("vim -c 'w /x' a", {"w /x", "/x", "a"}),
        ("sqlite3 a '.output /x'", {"a", ".output /x", "/x"}),
        ("psql -c \"copy t to '/x'\"", {"copy t to '/x'", "/x"}),
        ("python3 -c \"open('/x')\"", {"/x"}),
        ("/usr/bin/ls a", {"a"}),
        ("../x a", {"../x", "a"}),
        ("~/.cargo/bin/../x", {"~/.cargo/bin/../x"}),
        ("gcc -I/usr/include/x -I/y a", {"/y", "a"}),
        ("tar xPf a", {"a", "/"}),
        ("sudo -i ls a", {"~", "ls", "a"}),
        ("sudo grep -i x a", {"a"}),
        ("GIT_DIR=/x git log", {"/x", "log"}),
        ("cat $(mktemp)/../x", {"/tmp/x/../x"}),
        ("cat $(dirname $PWD)/x", {"./../x", "."}),
        ("cat $(git rev-parse --show-toplevel)/a", {"./a", "/a", "rev-parse"}),
    ],
)
def test_arguments(text: str, found: set[str | None]) -> None:
    assert words(text) == found


def test_a_word_is_relative_to_the_directory_of_its_command() -> None:
    text = read_commands("cat a; cd b && cat c; (cd d; cat e); cat f")
    found = set(find_path_words(text, "/w", lambda path: True))
    assert {("/w", "a"), ("/w/b", "c"), ("/w/b/d", "e"), ("/w/b", "f"), ("/w/b/d", "f")} <= found
    assert ("/w", "c") not in found


def test_going_back_ends_where_the_line_was() -> None:
    found = set(find_path_words(read_commands("cd b && cd - && cat c"), "/w", lambda path: True))
    assert ("/w", "c") in found
    assert all(word != "~" for _, word in found)


def test_a_symbolic_link_leads_to_a_file_beside_itself() -> None:
    found = set(find_path_words(read_commands("ln -s ../x a/b"), "/w", lambda path: True))
    assert found == {("/w", "a/b"), ("/w/a", "../x")}


def test_what_git_prints_in_a_repository_is_below_it(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    text = read_commands("cd $(git rev-parse --show-toplevel)/etc")
    assert {word for _, word in find_path_words(text, str(tmp_path / "a"), lambda path: True)} == {"./etc", "rev-parse"}
