"""What the operands of a command are, which of them match, and where they lie."""

from __future__ import annotations

from pathlib import Path

import pytest

from hookline import Event
from hookline.patterns.pattern import pattern
from hookline.project.loader import load_text
from hookline.shell.operands import likely_operand, operands_of, stays_inside
from hookline.shell.run_commands import read_commands

NAMES = ("build", "dist", "node_modules")
BOOK = load_text(
    """
    hooks:
      - id: no-delete
        on: tool.before
        when: {runs: {program: rm, flags: [r], outside: [build, dist, node_modules]}}
        then: {deny: no}
      - id: no-777
        on: tool.before
        when: {runs: {program: chmod, argument: '^0?777$|^[oa]\\+.*w'}}
        then: {deny: no}
    """,
    "hookline.yaml",
)


def denied(command: str) -> bool:
    facts = {"cwd": "/work", "tool": {"name": "bash", "input": {"command": command}}}
    return BOOK.decide_now(Event("tool.before", facts)).denied


def test_options_are_no_operands_and_everything_after_two_dashes_is() -> None:
    (command,) = read_commands("rm -rf a --force -- -b c").commands
    assert operands_of(command) == ["a", "-b", "c"]


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf build",
        "rm -rf ./build/ dist",
        "rm -rf build/*",
        "rm -r packages/web/dist",
        "cd packages/web && rm -rf dist",
        "rm -rf /work/build",
        "rm -rf -- build",
        "rm -rf src/../build",
        'rm -rf "$PWD/build"',
        "rm -rf ${PWD}/build $(pwd)/dist",
        'd=$PWD; cd src && rm -rf "$d/build"',
        'cd "$(git rev-parse --show-toplevel)" && rm -rf build',
        "rm -rf $(git rev-parse --show-toplevel)/build",
        "rm one-file",
    ],
)
def test_a_delete_inside_such_directories_does_not_count(command: str) -> None:
    assert not denied(command)


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf src",
        "rm -rf build src",
        "rm -rf build*",
        "rm -rf build/..",
        "rm -rf build/../src",
        "rm -rf build/*/../../src",
        "rm -rf build/.*",
        "rm -rf build/$x",
        "rm -rf $x/build",
        "rm -rf $(pwd)",
        "rm -rf $(pwd)/../build",
        "rm -rf $(cd x; pwd)/build",
        "rm -rf ${PWD}build",
        "PWD=/x; rm -rf $PWD/build",
        "cd /x; rm -rf $PWD/build",
        "pwd() { echo /; }; rm -rf $(pwd)/build",
        "GIT_WORK_TREE=/ && rm -rf $(git rev-parse --show-toplevel)/build",
        "rm -rf $(GIT_WORK_TREE=/ git rev-parse --show-toplevel)/build",
        "rm -rf $(git -C / rev-parse --show-toplevel)/build",
        "rm -rf ~/build",
        "rm -rf /build",
        "rm -rf /work/../build",
        "cd / && rm -rf build",
        "cd .. && rm -rf build",
        "cd $x; rm -rf build",
        "pushd ~; rm -rf build",
        "cd; rm -rf build",
        "rm -rf .",
        "find . -name node_modules | xargs rm -rf",
    ],
)
def test_a_delete_that_may_reach_anything_else_counts(command: str) -> None:
    assert denied(command)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("chmod 777 x", True),
        ("chmod -R 0777 .", True),
        ("sudo chmod o+w x", True),
        ("chmod 755 777x", False),
        ("chmod $mode x", False),  # nothing says that it is this mode
        ("$x 777 y", False),
        ("echo 777", False),
    ],
)
def test_an_argument_must_match(command: str, expected: bool) -> None:
    assert denied(command) is expected


def test_what_is_written_is_read_back() -> None:
    from hookline.dialects.native import DIALECT

    hooks = [hook for layer in BOOK.layers for hook in layer.hooks]
    written = DIALECT.write(hooks).value["hooks"]
    assert written[0]["when"]["runs"]["outside"] == list(NAMES)
    assert written[1]["when"]["runs"]["argument"].startswith("^0?777$")


@pytest.mark.parametrize("name", ["a/b", ".", ".."])
def test_only_names_of_directories_can_be_left_out(name: str) -> None:
    text = (
        f"hooks: [{{id: x, on: tool.before, when: {{runs: {{program: rm, outside: ['{name}']}}}}, then: {{deny: no}}}}]"
    )
    (problem,) = [each for each in load_text(text, "hookline.yaml").problems if each.code == "bad-directory"]
    assert "is not the name of a directory" in problem.what


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("rm -rf *.egg-info", False),
        ("rm -rf app.egg-info", False),
        ("rm -rf app.egg-info/../src", True),
        ("rm -rf *.egg", True),
        ("rm -rf /tmp/x", False),
        ("rm -rf /tmp/x-*", False),
        ("rm -rf /tmp/*", True),
        ("rm -rf /tmp", True),
        ("rm -rf /tmp/x/", True),  # it may be a link
        ("rm -rf /tmp/x/y", False),
        ("rm -rf /tmp/x/*", False),
        ("rm -rf /tmp/*/y", True),
        ("rm -rf /tmp/x/../../etc/y", True),
        ("rm -rf /tmp/../etc", True),
    ],
)
def test_endings_and_children_of_a_directory(command: str, expected: bool) -> None:
    book = load_text(
        """
        hooks:
          - id: no-delete
            on: tool.before
            when: {runs: {program: rm, flags: [r], outside: ["*.egg-info", /tmp/*]}}
            then: {deny: no}
        """,
        "hookline.yaml",
    )
    tool = {"name": "bash", "input": {"command": command}}
    assert (
        book.decide_now(Event("tool.before", {"cwd": "/work", "workspace": "/work", "tool": tool})).denied is expected
    )
    inside = book.decide_now(Event("tool.before", {"cwd": "/tmp/work", "workspace": "/tmp/work", "tool": tool}))
    assert inside.denied or "egg-info" in command  # a workspace in /tmp is not free to delete


def test_a_link_below_such_a_directory_leads_out_of_it(tmp_path: Path) -> None:
    (tmp_path / "free").mkdir()
    (tmp_path / "free" / "link").symlink_to(tmp_path)
    names = [f"{tmp_path}/free/*"]
    for end, expected in (("link", True), ("x/y", True), ("link/y", False), ("x/../link/y", False)):
        commands = read_commands(f"rm -r {tmp_path}/free/{end}").commands
        assert stays_inside(commands[0], commands, names, "/work") is expected


@pytest.mark.parametrize("name", ["a/b", "/tmp", "/*", "*", "a*b", "..", "/a/*/b"])
def test_other_names_of_directories_are_refused(name: str) -> None:
    text = f"hooks: [{{on: tool.before, when: {{runs: {{program: rm, outside: ['{name}']}}}}, then: {{deny: no}}}}]"
    assert [problem.code for problem in load_text(text, "hookline.yaml").problems] == ["bad-directory"]


@pytest.mark.parametrize(
    ("command", "is_denied"),
    [
        ("mv src dist && rm -r dist", True),
        ("mv -t dist src; rm -r dist", True),
        ("git mv src build/ && rm -r build", True),
        ("ln -s ../src build/s; rm -r build/s/x", True),
        ("cd dist && mv ../src . && cd .. && rm -r dist", True),
        ("d=$(mktemp -d); mv src $d; rm -r $d", True),
        ('mv src "$x"; rm -r dist', True),
        ("mv dist/a dist/b && rm -r dist", False),
        ("mv build/a . && rm -r build", False),
        ("rm -r dist && mv src dist", False),
        ("cp -r src dist && rm -r dist", False),
        ("d=$(mktemp -d); rm -r $d", False),
        ('d=$(mktemp -d); rm -r "$d"/x', True),
        ("mktemp() { echo src; }; d=$(mktemp -d); rm -r $d", True),
    ],
)
def test_what_was_moved_into_a_directory_is_not_deleted_with_it(command: str, is_denied: bool) -> None:
    assert denied(command) is is_denied


@pytest.mark.parametrize(
    ("command", "is_likely"),
    [
        ('cat "$PWD/.env"', True),
        ("cat $x/.env", True),
        ("cat x/.env", True),
        ("cat $x.env", False),
        ("cat $x/.env.$y", False),
        ("cat x/env", False),
    ],
)
def test_the_known_end_of_a_path_matches(command: str, is_likely: bool) -> None:
    last = [each for each in read_commands(command).commands if not each.is_written][-1]
    assert likely_operand(pattern(r"(^|/)\.env$"), last, float("inf")) is is_likely
