"""Damaged config files: a guard that was there still holds, or the file is refused. It is never lost unseen.

Each attempt damages one file that has one guard, and fires the call that the guard denies. The attack succeeds if the call
proceeds although `check`, a session and a run find no error in the file. A damage that leaves a valid file with another meaning
is not an attack: whoever can rewrite the pattern can rewrite the guard. So letters are changed only in the file's structure and
in words that hookline knows, never in the values that are the author's own: the pattern, the id, the reason.
"""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from attempts import Attempt

from hookline.config.problem import errors_of
from hookline.engine.book import Book
from hookline.hooks.event import Event
from hookline.hooks.outcome import Verdict
from hookline.project import Trust, find_sources, load_all, trust_file_path

COUNT = 1_500  # of which some are the same
OWN = "rmrf"  # every word of the author's own contains it


@dataclass(frozen=True)
class Target:
    name: str
    text: str
    words: tuple[str, ...]  # that hookline knows; a typo in one of them is a damage


TARGETS = (
    Target(
        "hookline.yaml",
        f"""\
version: 1
hooks:
  - id: no-{OWN}
    on: tool.before
    when:
      tool: bash
      input:
        command: {OWN}
    then:
      deny: Never {OWN}.
    order: 5
    enabled: true
""",
        ("version", "hooks", "id", "on", "tool.before", "when", "tool", "input", "then", "deny", "order", "enabled"),
    ),
    Target(
        "hub.json",
        f"""\
{{
  "hooks": {{
    "PreToolUse": [
      {{
        "id": "no-{OWN}",
        "matcher": "bash",
        "inputMatchers": {{
          "command": "{OWN}"
        }},
        "action": "deny",
        "reason": "Never {OWN}.",
        "priority": 5
      }}
    ]
  }}
}}
""",
        ("hooks", "PreToolUse", "id", "matcher", "inputMatchers", "action", "deny", "reason", "priority"),
    ),
    Target(
        ".microai/settings.json",
        f"""\
{{
  "hooks": {{
    "PreToolUse": [
      {{
        "matcher": "Bash",
        "command": "echo {OWN} >&2; exit 1",
        "timeout": 5000,
        "continueOnFailure": false
      }}
    ]
  }}
}}
""",
        ("hooks", "PreToolUse", "matcher", "command", "timeout", "continueOnFailure", "false"),
    ),
    Target(
        "digitorn.yaml",
        f"""\
runtime:
  hooks:
    - id: no-{OWN}
      on: tool_start
      condition:
        type: tool_name
        match: bash
      action:
        type: gate
        reason: Never {OWN}.
      priority: 5
""",
        ("runtime", "hooks", "id", "on", "tool_start", "condition", "type", "tool_name", "match", "action", "gate"),
    ),
)
CALL = Event(
    "tool.before",
    {
        "tool": {"name": "bash", "kind": "shell", "input": {"command": f"{OWN} /"}},
        "session": {"id": "s"},
        "cwd": "/tmp",
    },
)

Damage = Callable[[random.Random, Target], bytes]


def flip_byte(chance: random.Random, target: Target) -> bytes:
    """In the structure: a value of the author's own, or of a matcher, would only be another guard."""
    data = bytearray(target.text.encode())
    places = [each.start() for each in re.finditer(rb'[{}\[\]:,"\n-]', data)]
    data[chance.choice(places)] = chance.choice((0, 9, 0x80, 0xFF, 0x7B, 0x7D, 0x22, 0x3A, 0x5B))
    return bytes(data)


def delete_line(chance: random.Random, target: Target) -> bytes:
    """A line with a value of the author's own is part of what the guard says; without it, it is another guard."""
    lines = target.text.splitlines(keepends=True)
    del lines[chance.choice([n for n, line in enumerate(lines) if not _is_optional(line)])]
    return "".join(lines).encode()


def _is_optional(line: str) -> bool:
    """Without these the file is valid and says something else, as its author may have wanted."""
    return (
        re.search(r"matcher|inputMatchers|continueOnFailure|\"deny\"|  when:|condition:|  on: tool_start", line)
        is not None
    )


def duplicate_line(chance: random.Random, target: Target) -> bytes:
    """Not into inputMatchers, where every key is the name of a field, so the guard would be another one."""
    lines = target.text.splitlines(keepends=True)
    places = [n for n, line in enumerate(lines) if n == 0 or "inputMatchers" not in lines[n - 1]]
    lines.insert(chance.choice(places), chance.choice(lines))
    return "".join(lines).encode()


def mistype(chance: random.Random, target: Target) -> bytes:
    word = chance.choice(target.words)
    spots = [each.start() for each in re.finditer(rf"(?<![\w.]){re.escape(word)}(?![\w.])", target.text)]
    at = chance.choice(spots)
    return (target.text[:at] + _misspell(chance, word) + target.text[at + len(word) :]).encode()


def _misspell(chance: random.Random, word: str) -> str:
    place = chance.randrange(len(word))
    letter = chance.choice("xqzw")
    return chance.choice(
        (
            word[:place] + word[place + 1 :],
            word[:place] + letter + word[place:],
            word[:place] + letter + word[place + 1 :],
            word.upper(),
        )
    )


def indent(chance: random.Random, target: Target) -> bytes:
    lines = target.text.splitlines(keepends=True)
    place = chance.randrange(len(lines))
    lines[place] = chance.choice(("\t", " ", "   ", "      ")) + chance.choice((lines[place], lines[place].lstrip()))
    return "".join(lines).encode()


def cut(chance: random.Random, target: Target) -> bytes:
    """Not to nothing: an empty file has no guard, and says so."""
    data = target.text.encode()
    return data[: chance.randrange(data.index(OWN.encode()), len(data))]


def encode(chance: random.Random, target: Target) -> bytes:
    encoding = chance.choice(("utf-16", "utf-16-le", "utf-32", "utf-8-sig", "utf-7"))
    return (target.text + chance.choice(("", "# é\n", "\0", "\u2028"))).encode(encoding)


DAMAGES: dict[str, Damage] = {
    "a byte flipped": flip_byte,
    "a line deleted": delete_line,
    "a line twice": duplicate_line,
    "a word mistyped": mistype,
    "indentation": indent,
    "cut off": cut,
    "another encoding": encode,
}


def attempts_on(target: Target) -> Iterator[tuple[str, bytes]]:
    chance = random.Random(target.name)
    for number in range(COUNT):
        kind = list(DAMAGES)[number % len(DAMAGES)]
        yield kind, DAMAGES[kind](chance, target)


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_a_damaged_file_holds_or_is_refused(target: Target, tmp_path: Path, attempt: Attempt) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    file = project / target.name
    file.parent.mkdir(parents=True)
    home.mkdir()
    trust = Trust(trust_file_path(home))
    file.write_text(target.text)
    sources = find_sources(project, home)
    assert not errors_of(load_all(sources, trust).problems)
    tested: set[bytes] = set()
    for kind, data in attempts_on(target):
        if data in tested or data == target.text.encode():
            continue
        tested.add(data)
        file.write_bytes(data)
        own = [replace(source, project=None) for source in find_sources(project, home)]  # so that it is in force
        book = load_all(own, trust)
        is_refused = bool(errors_of(book.problems))
        is_silent = not is_refused and not _guards(book)
        attempt(f"broken config: {kind}", is_silent, f"{target.name}: {data.decode('utf-8', 'replace')!r}")


def _guards(book: Book) -> bool:
    return asyncio.run(book.decide(CALL)).verdict >= Verdict.ASK
