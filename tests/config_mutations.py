"""Config files with one guard each, and thousands of ways to damage them. Deterministic: the same in every run.

A mutation of structure damages the text: characters, lines, brackets, quotes, indentation, bytes. A mutation of values keeps
the file well-formed: a key with a typo, a value of another type, a broken pattern, a hook that is nested too deep.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

import yaml

from hookline.hooks.event import Event

GUARDED = "rm -rf"
CALL = Event(
    "tool.before",
    {
        "tool": {"name": "bash", "kind": "shell", "input": {"command": f"{GUARDED} build"}},
        "session": {"id": "s"},
        "cwd": "/tmp",
        "workspace": "/tmp",
    },
)
"""The call that every guard stops."""
KeyPath = tuple[str | int, ...]
Mutant = tuple[str, bytes]  # kind, file content


@dataclass(frozen=True)
class Target:
    """A file with one guard.

    `other_guards` are the places whose value makes the guard a different one that is as valid: a pattern of the author's own,
    the name of another tool. Nobody but the author can say that it is wrong, so `check` warns at best.
    """

    name: str
    dialect: str
    value: Any
    other_guards: tuple[KeyPath, ...]
    count: int = 1000

    @property
    def text(self) -> str:
        return self.dump(self.value)

    def dump(self, value: Any) -> str:
        if self.name.endswith(".json"):
            return json.dumps(value, indent=2) + "\n"
        return yaml.safe_dump(value, sort_keys=False)


_SCRIPT = f'grep -q "{GUARDED}" && {{ echo "Not {GUARDED}." >&2; exit 2; }}; exit 0'
_HANDLER = {"type": "command", "command": _SCRIPT, "timeout": 10}
TARGETS = (
    Target(
        "hookline.yaml",
        "native",
        {
            "version": 1,
            "hooks": [
                {
                    "id": "no-rm",
                    "on": "tool.before",
                    "when": {"tool": "bash", "input": {"command": GUARDED}},
                    "then": {"deny": "Not here."},
                    "order": 5,
                    "timeout": "10s",
                    "on_error": "closed",
                    "enabled": True,
                }
            ],
        },
        (("hooks", 0, "when", "input", "command"), ("hooks", 0, "when", "tool"), ("hooks", 0, "when", "input")),
    ),
    Target(
        "hub.json",
        "flo",
        {
            "hooks": {
                "PreToolUse": [
                    {
                        "id": "no-rm",
                        "matcher": "^bash$",
                        "inputMatchers": {"command": GUARDED},
                        "action": "deny",
                        "reason": "Not here.",
                        "priority": 5,
                        "continueOnError": False,
                        "enabled": True,
                    }
                ]
            }
        },
        (
            ("hooks", "PreToolUse", 0, "inputMatchers", "command"),
            ("hooks", "PreToolUse", 0, "matcher"),
            ("hooks", "PreToolUse", 0, "inputMatchers"),
            ("hooks", "PreToolUse", 0, "reason"),
        ),
    ),
    Target(
        ".claude/settings.json",
        "claude_code",
        {"model": "opus", "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [_HANDLER]}]}},
        (("hooks", "PreToolUse", 0, "hooks", 0, "command"), ("hooks", "PreToolUse", 0, "matcher")),
    ),
    Target(
        "digitorn.yaml",
        "digitorn",
        {
            "runtime": {
                "hooks": [
                    {
                        "id": "no-rm",
                        "on": "tool_start",
                        "condition": {
                            "type": "all_of",
                            "conditions": [{"type": "tool_name", "match": "shell.run"}, {"type": "always"}],
                        },
                        "action": {"type": "gate", "reason": "Not here."},
                        "priority": 5,
                        "cooldown": 0,
                        "enabled": True,
                    }
                ]
            }
        },
        (
            ("runtime", "hooks", 0, "condition", "conditions", 0, "match"),
            ("runtime", "hooks", 0, "condition", "conditions", 0, "type"),  # a condition of the author's own
            ("runtime", "hooks", 0, "condition", "conditions", 1, "type"),
            ("runtime", "hooks", 0, "on"),  # without it, turn_end
        ),
    ),
    Target(
        ".microai/settings.json",
        "microai",
        {
            "hooks": {
                "PreToolUse": [
                    {
                        "matcher": f"Bash({GUARDED}:*)",
                        "command": "echo Not here. >&2; exit 1",
                        "timeout": 5000,
                        "continueOnFailure": False,
                    }
                ]
            }
        },
        (
            ("hooks", "PreToolUse", 0, "command"),
            ("hooks", "PreToolUse", 0, "matcher"),
            ("hooks", "PreToolUse", 0, "continueOnFailure"),  # without it, the hook does not block
        ),
        300,
    ),
    Target(
        "hooks.json",
        "hook_interchange",
        {
            "spec": "hooks/0.1",
            "hooks": [
                {"event": "before_tool_execute", "matcher": "shell", "handler": _HANDLER, "blocking": True},
            ],
        },
        (
            ("spec",),
            ("hooks", 0, "event"),
            ("hooks", 0, "matcher"),
            ("hooks", 0, "blocking"),  # without it, the hook does not block
            ("hooks", 0, "handler", "command"),
        ),
        300,
    ),
    Target(
        ".ai_agents/settings.json",
        "ai_agents",
        {"hooks": {"PreToolUse": [{"matcher": "BashExecutor", "hooks": [_HANDLER]}]}},
        (("hooks", "PreToolUse", 0, "hooks", 0, "command"), ("hooks", "PreToolUse", 0, "matcher")),
        300,
    ),
    Target(
        ".codex/hooks.json",
        "codex",
        {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [_HANDLER]}]}},
        (("hooks", "PreToolUse", 0, "hooks", 0, "command"), ("hooks", "PreToolUse", 0, "matcher")),
        300,
    ),
    Target(
        ".cursor/hooks.json",
        "cursor",
        {"version": 1, "hooks": {"beforeShellExecution": [{"command": _SCRIPT, "timeout": 10, "failClosed": True}]}},
        (("hooks", "beforeShellExecution", 0, "command"),),
        300,
    ),
)


def mutants_of(target: Target, count: int) -> Iterator[Mutant]:
    """So many different files, none of them the original. Every mutation of values comes first, in a random order."""
    chance = random.Random(target.name)
    seen = {target.text.encode()}
    values = list(value_mutants(target))
    chance.shuffle(values)
    limit = count * 6 // 10
    for kind, data in chain(values[:limit], _structure_mutants(chance, target)):
        if data not in seen:
            seen.add(data)
            yield kind, data
            if len(seen) > count:
                return


def differences(one: Any, other: Any, path: KeyPath = ()) -> Iterator[KeyPath]:
    """Where two values differ; for keys that are not the same, the path of their mapping if all of them are other names."""
    if isinstance(one, dict) and isinstance(other, dict):
        if one.keys().isdisjoint(other.keys()) and one:
            yield path
            return
        for key in {**one, **other}:
            if key not in one or key not in other:
                yield (*path, key)
            else:
                yield from differences(one[key], other[key], (*path, key))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for at, pair in enumerate(zip(one, other, strict=True)):
            yield from differences(*pair, (*path, at))
    elif one != other or type(one) is not type(other):
        yield path


# Values.


def value_mutants(target: Target) -> Iterator[Mutant]:
    for kind, value in _mutate_values(target):
        yield kind, target.dump(value).encode("utf-8", "surrogatepass")


def _mutate_values(target: Target) -> Iterator[tuple[str, Any]]:
    for path, node in _nodes(target.value):
        if path:
            yield from _mutate_node(target, path, node)
        if isinstance(node, dict):
            yield from _mutate_keys(target, path, node)


def _mutate_node(target: Target, path: KeyPath, node: Any) -> Iterator[tuple[str, Any]]:
    for other in _OTHER_TYPES:
        yield "a value of another type", _set(target.value, path, other)
    for around in (lambda value: [value], lambda value: {"hooks": value}, lambda value: {"x": value}, lambda v: [[v]]):
        yield "nested too deep", _set(target.value, path, around(node))
    if isinstance(node, dict | list) and len(node) == 1:
        yield (
            "one level missing",
            _set(target.value, path, next(iter(node.values() if isinstance(node, dict) else node))),
        )
    if isinstance(node, list):
        yield "entries twice", _set(target.value, path, [*node, *node])
    if isinstance(node, str):
        for broken in _BROKEN_PATTERNS:
            yield "a broken or impossible pattern", _set(target.value, path, broken.replace("@", node))
        for typo in _typos(node) if re.fullmatch(r"\W?[\w.]+\W?", node) else ():
            yield "a word with a typo", _set(target.value, path, typo)
        for other in (
            f" {node}",
            f"{node} ",
            node.upper(),
            node.title(),
            f"{node}\n",
            f"\ufeff{node}",
            f"{node}\u200b",
        ):
            yield "a word with spaces or in another case", _set(target.value, path, other)
    if isinstance(node, int) and not isinstance(node, bool):
        for other in (f"{node}s", f"{node}ms", str(node), -node, node + 0.5, node * 1000, node * 10**9, "1e3", "0x10"):
            yield "a number with a unit, or as text", _set(target.value, path, other)


def _mutate_keys(target: Target, path: KeyPath, node: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for key in node:
        for typo in (*_typos(key), key.upper(), key.title(), f" {key}", f"{key} ", f"{key}:", f"\ufeff{key}"):
            renamed = {typo if each == key else each: value for each, value in node.items()}
            yield "a key with a typo", _set(target.value, path, renamed)
        yield "a key deleted", _set(target.value, path, {each: node[each] for each in node if each != key})
        for other in node:
            if other != key:
                swapped = {**node, key: node[other], other: node[key]}
                yield "two values swapped", _set(target.value, path, swapped)


_OTHER_TYPES = (
    None, True, False, 0, 1, -1, 1.5, 10**30, "", " ", "x", "true", "false", "no", "null", "5s", [], {}, [None], [""], {"": 1},
    {"x": 1}, [[]], [{}], "{{x}}", "$X", "\0", "\ud800", "*",
)  # fmt: skip
_BROKEN_PATTERNS = (
    "[@", "@[", "(@", "@)", "*@", "@\\", "(?<@", "@(?", "@{2", "@$x", "x^@", "@(?!)", "[]@", "@\x08", "\\b@\\", "/@", "{{@}}",
    "@|", "|@", "@**", "(?P<@", "@+++", "^$@", "\\Q@",
)  # fmt: skip


def _typos(word: str) -> Iterator[str]:
    """One letter missing, twice, wrong, or swapped with the next."""
    for at in range(len(word)):
        yield word[:at] + word[at + 1 :]
        yield word[: at + 1] + word[at:]
        yield word[:at] + ("q" if word[at] != "q" else "z") + word[at + 1 :]
        if at + 1 < len(word) and word[at] != word[at + 1]:
            yield word[:at] + word[at + 1] + word[at] + word[at + 2 :]


def _nodes(value: Any, path: KeyPath = ()) -> Iterator[tuple[KeyPath, Any]]:
    yield path, value
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        yield from _nodes(each, (*path, key))


def _set(value: Any, path: KeyPath, new: Any) -> Any:
    if not path:
        return new
    first, *rest = path
    if isinstance(value, dict):
        return {key: _set(each, tuple(rest), new) if key == first else each for key, each in value.items()}
    return [_set(each, tuple(rest), new) if at == first else each for at, each in enumerate(value)]


# Structure.


def _structure_mutants(chance: random.Random, target: Target) -> Iterator[Mutant]:
    while True:
        for kind, damage in _DAMAGES.items():
            yield kind, damage(chance, target.text)


def _delete_characters(chance: random.Random, text: str) -> bytes:
    at, length = chance.randrange(len(text)), chance.choice((1, 1, 1, 2, 5, 20))
    return (text[:at] + text[at + length :]).encode()


def _insert_character(chance: random.Random, text: str) -> bytes:
    at = chance.randrange(len(text) + 1)
    return (text[:at] + chance.choice("{}[]:,\"'\n\t #-&*!|>%@`\\/?=~x0\0\ufeff\u2028\r") + text[at:]).encode()


def _repeat_character(chance: random.Random, text: str) -> bytes:
    at = chance.randrange(len(text))
    return (text[:at] + text[at] * chance.choice((2, 3)) + text[at + 1 :]).encode()


def _replace_structure(chance: random.Random, text: str) -> bytes:
    at = chance.choice([each.start() for each in re.finditer(r'[{}\[\]:,"\n-]', text)])
    return (text[:at] + chance.choice("{}[]:,\"' \n;=(") + text[at + 1 :]).encode()


def _delete_line(chance: random.Random, text: str) -> bytes:
    lines = text.splitlines(keepends=True)
    at = chance.randrange(len(lines))
    return "".join(lines[:at] + lines[at + chance.choice((1, 1, 2)) :]).encode()


def _duplicate_line(chance: random.Random, text: str) -> bytes:
    lines = text.splitlines(keepends=True)
    lines.insert(chance.randrange(len(lines) + 1), chance.choice(lines))
    return "".join(lines).encode()


def _swap_lines(chance: random.Random, text: str) -> bytes:
    lines = text.splitlines(keepends=True)
    one, two = chance.sample(range(len(lines)), k=2)
    lines[one], lines[two] = lines[two], lines[one]
    return "".join(lines).encode()


def _join_lines(chance: random.Random, text: str) -> bytes:
    lines = text.splitlines(keepends=True)
    at = chance.randrange(len(lines))
    lines[at] = lines[at].rstrip("\n") + chance.choice(("", " "))
    return "".join(lines).encode()


def _indent(chance: random.Random, text: str) -> bytes:
    lines = text.splitlines(keepends=True)
    at, count = chance.randrange(len(lines)), chance.choice((1, 1, 2, 4))
    space = chance.choice(("\t", " ", "  ", "   ", "      ", "\u00a0", ""))
    lines[at : at + count] = [space + (line if space else line.lstrip()) for line in lines[at : at + count]]
    return "".join(lines).encode()


def _comment_out(chance: random.Random, text: str) -> bytes:
    lines = text.splitlines(keepends=True)
    at = chance.randrange(len(lines))
    lines[at] = chance.choice(("#", "# ", "//", "/*", "--", ";")) + lines[at]
    return "".join(lines).encode()


def _truncate(chance: random.Random, text: str) -> bytes:
    data = text.encode()
    return data[: chance.randrange(1, len(data))] if chance.random() < 0.8 else data[chance.randrange(1, len(data)) :]


def _damage_bytes(chance: random.Random, text: str) -> bytes:
    data = bytearray(text.encode())
    for _ in range(chance.choice((1, 1, 3))):
        data[chance.randrange(len(data))] = chance.choice((0, 1, 8, 9, 0x1B, 0x7F, 0x80, 0xC3, 0xFE, 0xFF))
    return bytes(data)


def _encode(chance: random.Random, text: str) -> bytes:
    encoding = chance.choice(("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig", "utf-7", "cp500"))
    extra = chance.choice(("", "\n", " ", "#\n", "\0", "\u2028", "\x1a"))
    return chance.choice((text + extra, extra + text)).encode(encoding, "replace")


def _change_line_ends(chance: random.Random, text: str) -> bytes:
    end = chance.choice(("\r", "\r\n", "\n\n", "\n\r", "\u2028", "\u0085", "\x0b"))
    at = chance.randrange(text.count("\n"))
    pieces = text.split("\n")
    return ("\n".join(pieces[: at + 1]) + end + "\n".join(pieces[at + 1 :])).encode()


def _put_beside(chance: random.Random, text: str) -> bytes:
    other = chance.choice(
        ("---\n", "...\n", "{}\n", "[]\n", "null\n", "x\n", "<<<<<<< HEAD\n", "=======\n", "%YAML 1.1\n---\n", "\n\n")
    )
    return chance.choice((other + text, text + other, text + other + text)).encode()


_DAMAGES: dict[str, Callable[[random.Random, str], bytes]] = {
    "characters deleted": _delete_characters,
    "a character inserted": _insert_character,
    "a character repeated": _repeat_character,
    "a bracket, quote or comma replaced": _replace_structure,
    "a line deleted": _delete_line,
    "a line twice": _duplicate_line,
    "two lines swapped": _swap_lines,
    "two lines joined": _join_lines,
    "indentation": _indent,
    "a line commented out": _comment_out,
    "cut off": _truncate,
    "bytes that are not text": _damage_bytes,
    "another encoding": _encode,
    "line ends": _change_line_ends,
    "something beside it": _put_beside,
}
