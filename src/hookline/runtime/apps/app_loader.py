"""Files → one app.

What several files say of one app, joined.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeVar

from hookline.config.problem import Problem, Severity
from hookline.config.reader import read_file, read_text
from hookline.dialects.dialect import recognise_dialect
from hookline.dialects.native.app_schema import APP_KEYS
from hookline.dialects.standard_agents.folder import DefinitionsFolder
from hookline.formatting import closest_match
from hookline.project import Source, SourceLayer, Trust, find_sources, named_source, trust_file_path
from hookline.project.parsed_file import CodeFolder, ParsedFile, read_source
from hookline.runtime.apps import digitorn, native, standard_agents
from hookline.runtime.apps.app import Agent, AgentSide, App
from hookline.runtime.apps.fields import DEFAULT_PROMPT, BaseDirectory, Declaration, PartialApp, default_prompt
from hookline.runtime.triggers.trigger import TriggerKind
from hookline.standard_agents.definitions import DefinitionError, Definitions

T = TypeVar("T")

LayeredApp = tuple[SourceLayer, PartialApp]
"""What one file says, and whose file it is."""


def merge_apps(files: Sequence[LayeredApp]) -> PartialApp:
    """The first that says something counts. The same name twice is an error within a layer; between layers, the
    nearer one is meant.
    """
    problems = [problem for _, said in files for problem in said.problems]

    def all_of(kind: str, part: Callable[[PartialApp], tuple[Declaration[T], ...]]) -> tuple[Declaration[T], ...]:
        return tuple(_drop_duplicates(kind, [(layer, each) for layer, said in files for each in part(said)], problems))

    return PartialApp(
        all_of("agent", lambda said: said.agents),
        next((said.model for _, said in files if said.model is not None), None),
        all_of("model", lambda said: said.models),
        all_of("MCP server", lambda said: said.servers),
        all_of("language server", lambda said: said.language_servers),
        all_of("trigger", lambda said: said.triggers),
        tuple(dict.fromkeys(path for _, said in files for path in said.skills)),
        next((said.store for _, said in files if said.store is not None), None),
        tuple(dict.fromkeys(host for _, said in files for host in said.private_hosts)),
        _merge_definitions([said.definitions for _, said in files if said.definitions is not None], problems),
        tuple(problems),
    )


def build_app(said: PartialApp) -> App:
    agents = tuple(placed.value for placed in said.agents)
    return App(
        agents or (Agent("agent", AgentSide(default_prompt("agent"))),),
        said.model,
        {placed.name: placed.value for placed in said.models},
        tuple(placed.value for placed in said.servers),
        tuple(placed.value for placed in said.language_servers),
        tuple(placed.value for placed in said.triggers),
        said.skills,
        said.definitions or Definitions(),
        said.store,
        said.private_hosts,
        tuple(dict.fromkeys(said.problems)),
    )


def reference_problems(said: PartialApp) -> Iterator[Problem]:
    """Names of agents and models that nobody describes, and routes that two triggers want."""
    models = [placed.name for placed in said.models]
    agents = [placed.name for placed in said.agents]
    for agent in said.agents:
        yield from _unknown_name_problems("model", _model_names(agent.value), models, agent)
        yield from _unknown_name_problems("agent", agent.value.subagents or (), agents, agent)
    for model in said.models:
        yield from _unknown_name_problems("model", model.value.fallbacks, models, model)
    routes: dict[str, str] = {}
    for trigger in said.triggers:
        wanted = trigger.value.agent
        yield from _unknown_name_problems("agent", () if wanted is None else (wanted,), agents or ["agent"], trigger)
        if trigger.value.kind is TriggerKind.HTTP and routes.setdefault(trigger.value.at, trigger.name) != trigger.name:
            text = f"the route {trigger.value.at} belongs to the trigger {routes[trigger.value.at]} already."
            yield Problem("duplicate-id", trigger.file, trigger.line, text, "Write another route.")


def _model_names(agent: Agent) -> tuple[str, ...]:
    sides = (agent.side_a, *(() if agent.side_b is None else (agent.side_b,)))
    return tuple(model for model in (agent.model, *(side.prompt.model for side in sides)) if model is not None)


def _unknown_name_problems(
    kind: str, wanted: Sequence[str], known: Sequence[str], by: Declaration[T]
) -> Iterator[Problem]:
    for name in dict.fromkeys(wanted):
        if name in known or (kind == "model" and ":" in name):
            continue
        guess = closest_match(name, known)
        hint = f"Did you mean {guess}?" if guess else f"There are {', '.join(known) or 'none'}."
        more = " A model is provider:model, or a name of models." if kind == "model" else ""
        yield Problem(f"unknown-{kind}", by.file, by.line, f"{by.name} names the {kind} {name!r}.", f"{hint}{more}")


def _drop_duplicates(
    kind: str, found: Sequence[tuple[SourceLayer, Declaration[T]]], problems: list[Problem]
) -> Iterator[Declaration[T]]:
    first: dict[str, tuple[SourceLayer, Declaration[T]]] = {}
    for layer, placed in found:
        if placed.name not in first:
            first[placed.name] = layer, placed
            yield placed
            continue
        known_layer, known = first[placed.name]
        where = f"{known.file}:{known.line}"
        text = f"the {kind} {placed.name} is described twice; the one in {where} counts."
        severity = Severity.ERROR if layer is known_layer else Severity.WARNING
        problems.append(
            Problem("duplicate-id", placed.file, placed.line, text, "Give this one another name.", severity)
        )


def _merge_definitions(sets: Sequence[Definitions], problems: list[Problem]) -> Definitions | None:
    """One folder's as they are; those of several in a set of their own."""
    if len(sets) < 2:
        return sets[0] if sets else None
    together = Definitions()
    for each in sets:
        kinds = (each.hooks, each.prompts, each.agents, each.tools, each.models)
        for definition in (one for kind in kinds for one in kind.values()):
            try:
                together.add(definition)
            except DefinitionError as error:
                problems.append(Problem("bad-definition", definition.place.file, definition.place.line, f"{error}"))
    return together


_READERS: Final = {"native": native.read_app, "digitorn": digitorn.read_app}
_NEAREST_FIRST: Final = (SourceLayer.NAMED, SourceLayer.LOCAL, SourceLayer.PROJECT, SourceLayer.USER)
_PLAIN_ID: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}", re.ASCII)  # an id that says nothing to a model
_MAX_SHOWN: Final = 8


@dataclass(frozen=True, slots=True)
class _AppFile:
    source: Source
    parts: tuple[PartialApp, ...]
    trusted: bool = True

    @property
    def distance(self) -> int:
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
    known = trust or Trust(trust_file_path(home))
    sources = find_sources(directory, home, config_home) if file is None else (app_source(file),)
    said = merge_apps(_sort_by_layer([_load_file(read_source(source), known) for source in sources]))
    return build_app(replace(said, problems=(*said.problems, *reference_problems(said))))


def app_source(file: Path) -> Source:
    """A file, or a folder of definitions, that the user named as an app: trusted, whatever it is called."""
    if file.is_dir() or file.suffix == ".py":
        return named_source(file, "standard_agents")
    document, _ = read_file(file)
    if document is None or not isinstance(document.value, dict) or not isinstance(recognise_dialect(document), Problem):
        return named_source(file)
    agents = document.value.get("agents")
    if isinstance(agents, list) and any(isinstance(each, dict) and "brain" in each for each in agents):
        return named_source(file, "digitorn")
    return named_source(file, "native" if document.value.keys() & {*APP_KEYS, "standard_agents"} else None)


def app_problems(group: Sequence[ParsedFile]) -> tuple[Problem, ...]:
    """What is wrong with the app that these files describe; nothing of them is imported or run."""
    said = merge_apps(_sort_by_layer([_AppFile(held.source, tuple(_read_parts(held))) for held in group]))
    complete = not any(held.folders for held in group)
    return (*said.problems, *(reference_problems(said) if complete else ()))


def skill_folders(sources: Sequence[Source]) -> tuple[Path, ...]:
    """The folders of skills that these files name, trusted or not; nothing of them is imported or run."""
    return tuple(path for source in sources for said in _read_parts(read_source(source)) for path in said.skills)


def _sort_by_layer(files: Sequence[_AppFile]) -> list[LayeredApp]:
    """The nearest first; what is not trusted comes after the user's own, so it takes nobody's place."""
    ordered = sorted(files, key=lambda file: (not file.trusted, _NEAREST_FIRST.index(file.source.layer), file.distance))
    return [(file.source.layer, said) for file in ordered for said in file.parts]


def _load_file(held: ParsedFile, trust: Trust) -> _AppFile:
    in_force = trust.effective_file(held)
    said = list(_read_parts(held))
    if not in_force.trusted:
        return _AppFile(
            held.source, tuple(map(_restrict_untrusted, said)) + tuple(_untrusted_problem(held)), trusted=False
        )
    said += [_import_folder(folder) for folder in in_force.folders]
    return _AppFile(held.source, tuple(said))


def _read_parts(held: ParsedFile) -> Iterator[PartialApp]:
    reader = _READERS.get(held.dialect or "")
    if reader is None:
        if held.dialect is None and held.problems:
            yield PartialApp(problems=held.problems)
        return
    document, problems = read_text(held.text, held.source.display_path)
    if document is None:
        yield PartialApp(problems=problems)
    else:
        yield reader(document, BaseDirectory(held.source.path.parent, held.source.project))


def _import_folder(folder: CodeFolder) -> PartialApp:
    defining = DefinitionsFolder(folder.path, folder.display_path)
    definitions, problems = defining.load_definitions()
    said = standard_agents.read_app(definitions, defining.display_path)
    return replace(said, problems=(*problems, *said.problems))


def _restrict_untrusted(said: PartialApp) -> PartialApp:
    """Agents without their words: hooks may belong to them by id, so they stay."""
    agents = [
        replace(placed, value=_strip_agent(placed.value))
        for placed in said.agents
        if _PLAIN_ID.fullmatch(placed.value.id)
    ]
    return PartialApp(tuple(agents), skills=said.skills, problems=said.problems)


def _strip_agent(agent: Agent) -> Agent:
    """Nor does another AI answer it: that would cost as many calls of a model as there may be."""
    return replace(agent, side_a=_strip_side(agent.side_a), side_b=None, name="", description="", model=None)


def _strip_side(side: AgentSide) -> AgentSide:
    prompt = replace(side.prompt, text=DEFAULT_PROMPT, model=None)
    return replace(side, prompt=prompt, label="", stop_on_response=True)


def _untrusted_problem(held: ParsedFile) -> Iterator[PartialApp]:
    wanted = [each.name for each in held.capabilities] + [folder.display_path for folder in held.folders]
    if not wanted:
        return
    line = min([each.line for each in held.capabilities] + [folder.line for folder in held.folders])
    shown = ", ".join(wanted[:_MAX_SHOWN]) + (" and more" if len(wanted) > _MAX_SHOWN else "")
    what = f"this file is not trusted yet, so it goes without {shown}."
    hint = "Look at it and run `hookline trust`."
    yield PartialApp(problems=(Problem("not-trusted", held.source.display_path, line, what, hint, Severity.WARNING),))
