"""Files → one app."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from hookline.config.problem import Problem, Severity
from hookline.config.read import read_file, read_text
from hookline.dialects.native.dialect import APP_KEYS
from hookline.dialects.standard_agents.folder import Folder
from hookline.dialects.table import recognise
from hookline.project import Layering, Source, Trust, find, named, state_file
from hookline.project.held import Held, HeldFolder, read
from hookline.runtime.app import Agent, App, Side
from hookline.runtime.apps import digitorn, native, standard_agents
from hookline.runtime.apps.described import DEFAULT_PROMPT, Base, Described
from hookline.runtime.apps.join import Said, app_of, dangling, joined

_READERS: Final = {"native": native.described, "digitorn": digitorn.described}
_NEAREST_FIRST: Final = (Layering.NAMED, Layering.LOCAL, Layering.PROJECT, Layering.USER)
_PLAIN: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}", re.ASCII)  # an id that says nothing to a model
_MOST_SHOWN: Final = 8


@dataclass(frozen=True, slots=True)
class _File:
    source: Source
    said: tuple[Described, ...]
    trusted: bool = True

    @property
    def height(self) -> int:
        """The lower, the nearer to the session's directory."""
        directory = self.source.path.parent
        return -len((directory.parent if directory.name == ".hookline" else directory).parts)


def load_app(
    directory: Path,
    home: Path,
    trust: Trust | None = None,
    file: Path | None = None,
    *,
    config_home: Path | None = None,
) -> App:
    """The app of this directory, or of the file that the user named; without any, one agent with every tool.

    What would run, import or tell a model something waits for trust in a project's file, and a problem says so. This
    imports the Python folders of files that are trusted.
    """
    known = trust or Trust(state_file(home))
    sources = find(directory, home, config_home) if file is None else (app_source(file),)
    said = joined(_in_order([_file(read(source), known) for source in sources]))
    return app_of(replace(said, problems=(*said.problems, *dangling(said))))


def app_source(file: Path) -> Source:
    """A file, or a folder of definitions, that the user named as an app: trusted, whatever it is called."""
    if file.is_dir() or file.suffix == ".py":
        return named(file, "standard_agents")
    document, _ = read_file(file)
    if document is None or not isinstance(document.value, dict) or not isinstance(recognise(document), Problem):
        return named(file)
    agents = document.value.get("agents")
    if isinstance(agents, list) and any(isinstance(each, dict) and "brain" in each for each in agents):
        return named(file, "digitorn")
    return named(file, "native" if document.value.keys() & {*APP_KEYS, "standard_agents"} else None)


def app_problems(group: Sequence[Held]) -> tuple[Problem, ...]:
    """What is wrong with the app that these files describe; nothing of them is imported or run."""
    said = joined(_in_order([_File(held.source, tuple(_said(held))) for held in group]))
    complete = not any(held.folders for held in group)
    return (*said.problems, *(dangling(said) if complete else ()))


def skill_folders(sources: Sequence[Source]) -> tuple[Path, ...]:
    """The folders of skills that these files name, trusted or not; nothing of them is imported or run."""
    return tuple(path for source in sources for said in _said(read(source)) for path in said.skills)


def _in_order(files: Sequence[_File]) -> list[Said]:
    """The nearest first; what is not trusted comes after the user's own, so it takes nobody's place."""
    ordered = sorted(files, key=lambda file: (not file.trusted, _NEAREST_FIRST.index(file.source.layer), file.height))
    return [(file.source.layer, said) for file in ordered for said in file.said]


def _file(held: Held, trust: Trust) -> _File:
    in_force = trust.in_force(held)
    said = list(_said(held))
    if not in_force.trusted:
        return _File(held.source, tuple(map(_restricted, said)) + tuple(_left_out(held)), trusted=False)
    said += [_imported(folder) for folder in in_force.folders]
    return _File(held.source, tuple(said))


def _said(held: Held) -> Iterator[Described]:
    reader = _READERS.get(held.dialect or "")
    if reader is None:
        if held.dialect is None and held.problems:
            yield Described(problems=held.problems)
        return
    document, problems = read_text(held.text, held.source.shown)
    if document is None:
        yield Described(problems=problems)
    else:
        yield reader(document, Base(held.source.path.parent, held.source.project))


def _imported(folder: HeldFolder) -> Described:
    defining = Folder(folder.path, folder.shown)
    definitions, problems = defining.defined()
    said = standard_agents.described(definitions, defining.show)
    return replace(said, problems=(*problems, *said.problems))


def _restricted(said: Described) -> Described:
    """Agents without their words: hooks may belong to them by id, so they stay."""
    agents = [
        replace(placed, value=_wordless(placed.value)) for placed in said.agents if _PLAIN.fullmatch(placed.value.id)
    ]
    return Described(tuple(agents), skills=said.skills, problems=said.problems)


def _wordless(agent: Agent) -> Agent:
    """Nor does another AI answer it: that would cost as many calls of a model as there may be."""
    return replace(agent, side_a=_silent(agent.side_a), side_b=None, name="", description="", model=None)


def _silent(side: Side) -> Side:
    prompt = replace(side.prompt, text=DEFAULT_PROMPT, model=None)
    return replace(side, prompt=prompt, label="", stop_on_response=True)


def _left_out(held: Held) -> Iterator[Described]:
    wanted = [each.name for each in held.wants] + [folder.shown for folder in held.folders]
    if not wanted:
        return
    line = min([each.line for each in held.wants] + [folder.line for folder in held.folders])
    shown = ", ".join(wanted[:_MOST_SHOWN]) + (" and more" if len(wanted) > _MOST_SHOWN else "")
    what = f"this file is not trusted yet, so it goes without {shown}."
    hint = "Look at it and run `hookline trust`."
    yield Described(problems=(Problem("not-trusted", held.source.shown, line, what, hint, Severity.WARNING),))
