"""One skill: its words for the agent, and the hooks that hold once it was invoked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hookline.config.document import Document
from hookline.config.problem import Problem, Severity
from hookline.config.shape import Reader
from hookline.dialects.stored import Part, restored, stored
from hookline.hooks.hook import Hook, Scope

FILE: Final = "SKILL.md"
DIALECT: Final = "flo"
LONGEST: Final = 200_000  # characters of a skill's text
_LONGEST_DESCRIPTION: Final = 1_000
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", re.ASCII)
_FRONT_MATTER: Final = re.compile(r"---[ \t]*+(?:\r\n|\n|\r)(?:.*?[\r\n])??(?:---|\.\.\.)[ \t]*+(?=[\r\n]|\Z)", re.S)
_WORD: Final = re.compile(r"\$ARGUMENTS\b|\{\{\s*(\w+)\s*\}\}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Invoked:
    text: str  # for the model
    parts: tuple[Part, ...] = ()  # what a session stores, so that the hooks hold after it was restored
    hooks: tuple[Hook, ...] = ()  # for this agent in this session


@dataclass(frozen=True, slots=True)
class Skill:
    name: str
    path: Path  # of its SKILL.md
    shown: str  # as messages show it
    body: str
    description: str = ""
    arguments: tuple[str, ...] = ()  # names that its text may have as {{name}}; the last one takes what is left
    front_matter: str = ""

    def invoked(self, arguments: str, agent: str, session: str) -> Invoked:
        """What was given as arguments is text in the skill's text, and is not expanded again."""
        parts = self._parts(agent, session)
        return Invoked(self._text(arguments), parts, restored(stored(parts)).hooks)

    def _parts(self, agent: str, session: str) -> tuple[Part, ...]:
        part = Part(DIALECT, self.shown, self.front_matter, Scope(agent=agent, session=session))
        return (part,) if restored(stored((part,))).hooks else ()

    def _text(self, arguments: str) -> str:
        said = {"arguments": arguments, **self._named(arguments)}
        used = False

        def fill(found: re.Match[str]) -> str:
            nonlocal used
            name = found[1] or "arguments"
            used = used or name in said
            return said.get(name, found[0])

        text = _WORD.sub(fill, self.body)
        if arguments and not used:
            text += f"\n\nArguments: {arguments}"
        if self._has_files():
            text += f"\n\nThe files of this skill are in {self.path.parent}."
        return text

    def _named(self, arguments: str) -> dict[str, str]:
        words = arguments.split(maxsplit=len(self.arguments) - 1) if self.arguments else []
        return {name: words[index] if index < len(words) else "" for index, name in enumerate(self.arguments)}

    def _has_files(self) -> bool:
        try:
            return any(each.name != FILE for each in self.path.parent.iterdir())
        except OSError:
            return False


def skill_in(document: Document, path: Path) -> tuple[Skill | None, tuple[Problem, ...]]:
    """None after an error; keys that are not ours are none of our business."""
    problems: list[Problem] = []
    at = Reader.of(document, problems)
    if at.mapping() is None:
        return None, tuple(problems)
    front = _FRONT_MATTER.match(document.text)
    body = document.text[front.end() if front else 0 :].strip()
    name, description = _text(at, "name") or path.parent.name, _text(at, "description") or ""
    if not _NAME.fullmatch(name):
        at.problem("bad-name", f"{name!r} is no name of a skill.", "Use letters, digits, - and _, at most 64 of them.")
    if not body:
        at.problem("empty", "the skill has no text.", "Write below the front matter what the agent shall do.")
    elif len(body) > LONGEST:
        at.problem("too-large", f"the skill's text is longer than {LONGEST:,} characters.", "Put parts into files.")
    arguments = tuple(_arguments(at))
    problems += _of_hooks(document)
    if any(problem.severity is Severity.ERROR and problem.code in _FATAL for problem in problems):
        return None, tuple(problems)
    shown = " ".join(description.split())[:_LONGEST_DESCRIPTION]
    skill = Skill(name, path, document.file, body, shown, arguments, front[0] if front else "")
    return skill, tuple(problems)


_FATAL: Final = frozenset(("bad-name", "empty", "too-large"))


def _text(at: Reader, key: str) -> str | None:
    place = at.get(key)
    return None if place is None or place.value is None else place.text()


def _arguments(at: Reader) -> Iterator[str]:
    """Names; a text is a hint for people and names nothing."""
    place = at.get("arguments")
    if place is None or not isinstance(place.value, list):
        return
    for each in place.items():
        name = each.text()
        if name is not None and (not name.isidentifier() or name == "arguments"):
            each.problem("bad-argument", f"{each.place}: {name!r} is no name of an argument.", "Use letters and _.")
        elif name is not None:
            yield name


def _of_hooks(document: Document) -> tuple[Problem, ...]:
    from hookline.dialects.table import dialect

    return dialect(DIALECT).load(document).problems
