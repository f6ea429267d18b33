"""Values in another shape than the one that a guard's author thought of."""

from __future__ import annotations

import itertools
import json
from collections import UserList, UserString, deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from io import StringIO
from pathlib import Path, PurePosixPath
from types import SimpleNamespace
from typing import Any

import pytest
from attempts import Attempt

import hookline
from hookline import Denied, Event
from hookline.errors import HooklineError

GUARDS = {
    "hookline.yaml": 'hooks: [{id: g, on: tool.before, when: {tool: bash, input: {command: "rm\\\\s+-rf"}}, then: {deny: No.}}]',
    "hub.json": json.dumps(
        {"hooks": {"PreToolUse": [{"matcher": "^bash$", "inputMatchers": {"command": "rm\\s+-rf"}, "action": "deny"}]}}
    ),
}
SHELLS = (["bash", "-c"], ["sh", "-lc"], ["/bin/zsh", "-ic"], ["bash", "-x", "-c"], ["bash", "--norc", "-c"])
PREFIXES = ([], ["sudo"], ["env", "A=b"], ["sudo", "-u", "root"], ["nohup"], ["timeout", "5"], ["nice", "-n", "5"])
CODE = ("rm -rf x", "cd y && rm -rf x", 'rm -rf "a b"', "rm  -rf 'x'")


def commands() -> list[Any]:
    listed: list[Any] = [["rm", "-rf", "x"], ("rm", "-rf", "x"), ["rm -rf x"], b"rm -rf x", bytearray(b"rm -rf x")]
    listed += [[b"rm", "-rf", PurePosixPath("/x")], ["rm", "-rf", 5], PurePosixPath("rm -rf x")]
    listed += [
        deque(["rm", "-rf", "x"]),
        UserList(["rm", "-rf", "x"]),
        UserString("rm -rf x"),
        {"rm": 1, "-rf": 1}.keys(),
    ]
    listed += [[*prefix, *shell, code] for prefix, shell, code in itertools.product(PREFIXES, SHELLS, CODE)]
    return listed


@pytest.mark.parametrize("file", GUARDS)
def test_a_command_in_any_shape(file: str, tmp_path: Path, attempt: Attempt) -> None:
    (tmp_path / file).write_text(GUARDS[file])
    book = hookline.load(tmp_path / file)
    for command in commands():
        for field in ("command", "cmd", "commands"):
            value = [command] if field == "commands" else command
            event = Event("tool.before", {"tool": {"name": "bash", "input": {field: value}}})
            attempt("a command in another shape", not book.decide_now(event).denied, f"{file}: {field}={value!r}")


def test_a_command_that_only_a_python_host_can_give(tmp_path: Path, attempt: Attempt) -> None:
    (tmp_path / "g.yaml").write_text(GUARDS["hookline.yaml"])
    book = hookline.load(tmp_path / "g.yaml")
    words = ["rm", "-rf", "x"]
    for command in (
        iter(words),
        (word for word in words),
        map(str, words),
        {"0": "rm", "1": "-rf"},
        {0: "rm", 1: "-rf"},
    ):
        event = Event("tool.before", {"tool": {"name": "bash", "input": {"command": command}}})
        attempt("a command in another shape", not book.decide_now(event).denied, repr(command))
        if not isinstance(command, dict):
            attempt("a command in another shape", next(command, None) != "rm", f"{command!r} was read before the tool")


def test_facts_in_the_wrong_shape(attempt: Attempt) -> None:
    odd: list[Any] = [None, [], "x", 5, {"tool": "bash"}, {"tool": None}, {"tool": ["bash"]}, {"tool": {"name": 5}}]
    odd += [{"tool": {"name": "bash", "input": value}} for value in ("rm -rf x", ["rm"], None, 5, b"rm")]
    for facts in odd:
        try:
            Event("tool.before", facts)
            refused = False
        except HooklineError:
            refused = True
        attempt("malformed facts", not refused, repr(facts))


class Liar(str):
    """Holds one text and shows another."""

    def __str__(self) -> str:
        return "ls"

    def __format__(self, spec: str) -> str:
        return "ls"

    def encode(self, *args: Any) -> bytes:
        return b"ls"

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 1


class Reverse(str):
    """Holds a harmless text and shows another."""

    def __str__(self) -> str:
        return "rm -rf x"

    def __format__(self, spec: str) -> str:
        return "rm -rf x"


class OnlyIterable:
    """Neither a list nor a sequence."""

    def __iter__(self) -> Iterator[str]:
        return iter(["rm", "-rf", "x"])


class Shown:
    """An object that its text makes a command."""

    def __str__(self) -> str:
        return "rm -rf x"


def _same(value: Any) -> Any:
    return value


def test_arguments_of_a_guarded_function(tmp_path: Path, attempt: Attempt) -> None:
    (tmp_path / "g.yaml").write_text(GUARDS["hookline.yaml"])
    ran: list[str] = []

    def run(value: Any) -> None:
        is_text = isinstance(value, (str, bytes)) or not hasattr(type(value), "__iter__")
        ran.append(f"{value}" if is_text else " ".join(map(str, value)))

    def bash(command: Any) -> None:
        run(command)

    def other_name(line: Any) -> None:
        run(line)

    def positional(command: Any, /, timeout: int = 5) -> None:
        run(command)

    def variadic(*words: Any) -> None:
        run(words)

    def keywords(**given: Any) -> None:
        run(given.get("command") or given.get("line"))

    values: list[Any] = ["rm -rf x", ["rm", "-rf", "x"], ("rm", "-rf", "x"), Liar("rm -rf x"), [Liar("rm"), "-rf"]]
    values += [Reverse("ls"), b"rm -rf x", PurePosixPath("rm -rf x"), UserString("rm -rf x")]
    values += [deque(["rm", "-rf", "x"]), UserList(["rm", "-rf", "x"]), {"a": "rm", "b": "-rf"}.values()]
    once: list[Callable[[], Any]] = [
        lambda: (word for word in ("rm", "-rf", "x")),
        lambda: iter(["rm -rf x"]),
        lambda: map(str, ["rm", "-rf", "x"]),
        lambda: itertools.chain(["rm"], ["-rf"]),
        lambda: reversed(["x", "-rf", "rm"]),
        lambda: StringIO("rm -rf x"),
        lambda: [(word for word in ("rm", "-rf"))],
    ]
    values += [OnlyIterable(), Shown(), SimpleNamespace(line="rm -rf x")]
    with hookline.session(config=tmp_path / "g.yaml", directory=tmp_path) as session:
        for tool in (bash, other_name, positional, variadic):
            guarded = hookline.guard(tool, name="bash", kind="shell", session=session)
            for make in (*once, *(partial(_same, value) for value in values)):
                value = make()
                _call(guarded, (value,), {}, ran, attempt, f"{tool.__name__}({value!r})")
        _call(hookline.guard(variadic, name="bash", session=session), ("rm", "-rf", "x"), {}, ran, attempt, "*args")
        for name, value in itertools.product(("command", "line"), values):
            guarded = hookline.guard(keywords, name="bash", session=session)
            _call(guarded, (), {name: value}, ran, attempt, f"keywords({name}={value!r})")


def _call(
    guarded: Any, args: tuple[Any, ...], named: dict[str, Any], ran: list[str], attempt: Attempt, what: str
) -> None:
    ran.clear()
    with suppress(Denied):
        guarded(*args, **named)
    attempt("arguments of a guarded function", any("rm" in text and "-rf" in text for text in ran), what)


def test_secrets_anywhere_in_a_result(tmp_path: Path, attempt: Attempt) -> None:
    (tmp_path / "g.yaml").write_text("hooks: [{id: g, on: tool.after, when: {result: SECRET}, then: {halt: Stop.}}]")
    book = hookline.load(tmp_path / "g.yaml")
    shapes: list[Any] = [
        "SECRET",
        ["SECRET"],
        {"a": "SECRET"},
        {"SECRET": 1},
        [{"text": "x SECRET"}],
        b"SECRET",
        ({"a": ["SECRET"]},),
    ]
    for depth in (1, 10, 400):
        value: Any = "SECRET"
        for _ in range(depth):
            value = {"a": [value]}
        shapes.append(value)
    for result in shapes:
        event = Event("tool.after", {"tool": {"name": "x", "input": {}, "ok": True, "result": result}})
        attempt("a secret in a structured result", not book.decide_now(event).halt, repr(result)[:80])
