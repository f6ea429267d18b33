"""The skills that an agent may invoke here."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hookline.config.problem import Problem, Severity
from hookline.config.read import read_text
from hookline.errors import HooklineError
from hookline.project import Layering, Source, Trust, project_directories, state_file
from hookline.project.held import Held, read
from hookline.runtime.app import App
from hookline.runtime.skills.skill import DIALECT, FILE, Invoked, Skill, skill_in

if TYPE_CHECKING:
    from hookline.runtime.session import Session
    from hookline.runtime.tools.tool import Tool

FOLDER: Final = Path(".hookline", "skills")
MOST: Final = 200  # of one folder


class Skills:
    """The app's, the project's and the user's. Of two with one name the first counts.

    A skill that came with the project waits until it is trusted; the folders of an app that the user `named` do not.
    """

    def __init__(
        self,
        app: App,
        directory: Path,
        home: Path,
        trust: Trust | None = None,
        *,
        named: bool = False,
        config_home: Path | None = None,
    ) -> None:
        self.problems: tuple[Problem, ...] = ()
        self._skills: dict[str, Skill] = {}
        if named:
            self._take([source for folder in app.skills for source in _sources(folder, None, str(folder))], None)
        found = skill_sources(() if named else app.skills, directory, home, config_home)
        self._take(found, trust or Trust(state_file(home)))

    def __iter__(self) -> Iterator[Skill]:
        return iter(self._skills.values())

    def __len__(self) -> int:
        return len(self._skills)

    def get(self, name: str) -> Skill | None:
        return self._skills.get(name)

    def listed(self) -> str:
        """One line for each."""
        return "\n".join(f"- {skill.name}: {skill.description or 'no description'}" for skill in self)

    def text(self) -> str:
        """For a system prompt; empty if there are none."""
        return f"Skills, which the tool `skill` tells you how to use:\n{self.listed()}" if self else ""

    def tools(self, session: Session) -> tuple[Tool, ...]:
        """What this session's agents invoke them with; nothing if there are none."""
        from hookline.runtime.skills.tool import InvokeSkill

        return (InvokeSkill(self, session),) if self else ()

    def invoke(self, name: str, arguments: str, agent: str, session: str) -> Invoked:
        """Raises HooklineError if there is no such skill."""
        skill = self._skills.get(name)
        if skill is None:
            raise HooklineError(f"there is no skill {name!r}; there is: {', '.join(self._skills) or 'none'}")
        return skill.invoked(arguments, agent, session)

    def _take(self, sources: Iterable[Source], trust: Trust | None) -> None:
        problems = list(self.problems)
        for source in sources:
            skill = _read(source, trust, problems)
            if skill is None:
                continue
            first = self._skills.setdefault(skill.name, skill)
            if first is not skill:
                text = f"the skill {skill.name} is there twice; the one in {first.shown} counts."
                problems.append(Problem("duplicate-id", skill.shown, 1, text, severity=Severity.WARNING))
        self.problems = tuple(problems)


def skill_sources(
    folders: Iterable[Path], directory: Path, home: Path, config_home: Path | None = None
) -> tuple[Source, ...]:
    """The SKILL.md files of the folders, of the project and of the user; whatever stands inside the project is its own."""
    directories = project_directories(directory, home)
    root = directories[0]
    places = [(folder, root if _inside(folder, root) else None) for folder in folders]
    places += [(each / FOLDER, root) for each in reversed(directories)]
    places.append(((config_home or home / ".config") / "hookline" / "skills", None))
    found: dict[str, Source] = {}
    for folder, project in places:
        for source in _sources(folder, project, _shown(folder, directory, home)):
            found.setdefault(os.path.realpath(source.path), source)
    return tuple(found.values())


def _sources(folder: Path, project: Path | None, shown: str) -> list[Source]:
    try:
        names = sorted(entry.name for entry in os.scandir(folder) if os.path.lexists(Path(entry.path, FILE)))
    except OSError:
        return []
    return [
        Source(folder / name / FILE, os.path.join(shown, name, FILE), DIALECT, Layering.NAMED, project)
        for name in names[:MOST]
    ]


def skill_problems(sources: Iterable[Source]) -> tuple[Problem, ...]:
    """What is wrong with these skills, trusted or not."""
    problems: list[Problem] = []
    for source in sources:
        _said(read(source), problems)
    return tuple(problems)


def _read(source: Source, trust: Trust | None, problems: list[Problem]) -> Skill | None:
    held = read(source)
    if source.foreign and (trust is None or not held.wants or not trust.in_force(held).trusted):
        what = "this skill is not trusted yet, so nobody can invoke it."
        hint = "Look at it and run `hookline trust`."
        problems.append(Problem("not-trusted", source.shown, 1, what, hint, Severity.WARNING))
        return None
    return _said(held, problems)


def _said(held: Held, problems: list[Problem]) -> Skill | None:
    source = held.source
    document, unreadable = read_text(held.text, source.shown)
    if document is None or held.dialect is None:
        problems += unreadable or held.problems
        return None
    skill, wrong = skill_in(document, source.path)
    problems += wrong
    return skill


def _inside(path: Path, root: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root))


def _shown(folder: Path, directory: Path, home: Path) -> str:
    if folder.is_relative_to(home) and not _inside(folder, directory):
        return f"~/{folder.relative_to(home)}"
    return os.path.relpath(folder, os.path.realpath(directory))
