"""Loads and merges all files that describe an app, as far as they are trusted."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, TypeVar

from hookline.config.problem import Problem, Severity
from hookline.config.reader import read_file, read_text
from hookline.dialects.dialect import recognise_dialect
from hookline.dialects.native.app_schema import APP_KEYS
from hookline.dialects.standard_agents.folder import DefinitionsFolder
from hookline.formatting import closest_match
from hookline.lazy_dataclasses import dataclass, replace
from hookline.project import Source, SourceLayer, Trust, named_source, trust_file_path
from hookline.project.parsed_file import CodeFolder, ParsedFile, read_source
from hookline.runtime.apps import digitorn, native, standard_agents
from hookline.runtime.apps.app import Agent, AgentSide, App, NamedModel
from hookline.runtime.apps.fields import DEFAULT_PROMPT, BaseDirectory, Declaration, PartialApp, default_prompt
from hookline.runtime.triggers.trigger import TriggerKind
from hookline.standard_agents.definitions import DefinitionError, Definitions

T = TypeVar("T")

LayeredApp = tuple[SourceLayer, PartialApp]
"""The part of the app that one file describes, and the layer of the file."""


def merge_apps(files: Sequence[LayeredApp]) -> PartialApp:
    """Merges the files; the first one wins. A name used twice is an error in one layer, a warning between layers."""
    problems = [problem for _, part in files for problem in part.problems]

    def all_of(kind: str, select: Callable[[PartialApp], tuple[Declaration[T], ...]]) -> tuple[Declaration[T], ...]:
        return tuple(
            _drop_duplicates(kind, [(layer, each) for layer, part in files for each in select(part)], problems)
        )

    return PartialApp(
        all_of("agent", lambda part: part.agents),
        next((part.model for _, part in files if part.model is not None), None),
        all_of("model", lambda part: part.models),
        all_of("MCP server", lambda part: part.servers),
        all_of("language server", lambda part: part.language_servers),
        all_of("trigger", lambda part: part.triggers),
        tuple(dict.fromkeys(path for _, part in files for path in part.skills)),
        next((part.store for _, part in files if part.store is not None), None),
        tuple(dict.fromkeys(host for _, part in files for host in part.private_hosts)),
        _merge_definitions([part.definitions for _, part in files if part.definitions is not None], problems),
        tuple(problems),
    )


def build_app(part: PartialApp) -> App:
    agents = tuple(declared.value for declared in part.agents)
    return App(
        agents or (Agent("agent", AgentSide(default_prompt("agent"))),),
        part.model,
        {declared.name: declared.value for declared in part.models},
        tuple(declared.value for declared in part.servers),
        tuple(declared.value for declared in part.language_servers),
        tuple(declared.value for declared in part.triggers),
        part.skills,
        part.definitions or Definitions(),
        part.store,
        part.private_hosts,
        tuple(dict.fromkeys(part.problems)),
    )


def reference_problems(part: PartialApp) -> Iterator[Problem]:
    """References to unknown agents and models, and routes that two triggers share."""
    models = [declared.name for declared in part.models]
    agents = [declared.name for declared in part.agents]
    for agent in part.agents:
        yield from _unknown_name_problems("model", _model_names(agent.value), models, agent)
        yield from _unknown_name_problems("agent", agent.value.subagents or (), agents, agent)
    for model in part.models:
        yield from _unknown_name_problems("model", model.value.fallbacks, models, model)
    routes: dict[str, str] = {}
    for trigger in part.triggers:
        wanted = trigger.value.agent
        yield from _unknown_name_problems("agent", () if wanted is None else (wanted,), agents or ["agent"], trigger)
        if trigger.value.kind is TriggerKind.HTTP and routes.setdefault(trigger.value.at, trigger.name) != trigger.name:
            text = f"the route {trigger.value.at} is already used by the trigger {routes[trigger.value.at]}."
            yield Problem("duplicate-id", trigger.file, trigger.line, text, "Choose another route.")


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
        more = " Write provider:model, or a name from `models`." if kind == "model" else ""
        yield Problem(
            f"unknown-{kind}",
            by.file,
            by.line,
            f"{by.name} refers to the {kind} {name!r}, which does not exist.",
            f"{hint}{more}",
        )


def _drop_duplicates(
    kind: str, found: Sequence[tuple[SourceLayer, Declaration[T]]], problems: list[Problem]
) -> Iterator[Declaration[T]]:
    first: dict[str, tuple[SourceLayer, Declaration[T]]] = {}
    for layer, declared in found:
        if declared.name not in first:
            first[declared.name] = layer, declared
            yield declared
            continue
        known_layer, known = first[declared.name]
        where = f"{known.file}:{known.line}"
        text = f"the {kind} {declared.name} is declared twice; the one in {where} is used."
        severity = Severity.ERROR if layer is known_layer else Severity.WARNING
        problems.append(
            Problem("duplicate-id", declared.file, declared.line, text, "Give this one another name.", severity)
        )


def _merge_definitions(sets: Sequence[Definitions], problems: list[Problem]) -> Definitions | None:
    """The definitions of all folders in one set."""
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
_PLAIN_ID: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}", re.ASCII)  # an id that cannot carry instructions to a model
_MAX_SHOWN: Final = 8


@dataclass(frozen=True, slots=True)
class _AppFile:
    source: Source
    parts: tuple[PartialApp, ...]
    trusted: bool = True

    @property
    def distance(self) -> int:
        """Lower means nearer to the session's directory."""
        directory = self.source.path.parent
        return -len((directory.parent if directory.name == ".hookline" else directory).parts)


def load_app(
    directory: Path,
    home: Path,
    trust: Trust | None = None,
    file: Path | None = None,
    *,
    config_home: Path | None = None,
    config: Path | None = None,
) -> App:
    """The app of this directory, or of `file`; without any config, one agent with every tool.

    Until you trust a project's file, nothing in it is run, imported or sent to a model; a problem reports that.
    `config` is a file that the user named for its hooks: if it describes the app too, it is trusted for both.
    Python folders of trusted files are imported.
    """
    known = trust or Trust(trust_file_path(home))
    sources = known.sources(directory, home, config_home) if file is None else (app_source(file),)
    named = None if config is None else os.path.realpath(config)
    sources = tuple(replace(each, project=None) if os.path.realpath(each.path) == named else each for each in sources)
    part = merge_apps(_sort_by_layer([_load_file(read_source(source), known) for source in sources]))
    return build_app(replace(part, problems=(*part.problems, *reference_problems(part))))


def app_source(file: Path) -> Source:
    """A file or folder of definitions that the user named as the app: it is trusted, whatever its name."""
    if file.is_dir() or file.suffix == ".py":
        return named_source(file, "standard_agents")
    document, _ = read_file(file)
    if document is None or not isinstance(document.value, dict) or not isinstance(recognise_dialect(document), Problem):
        return named_source(file)
    agents = document.value.get("agents")
    if isinstance(agents, list) and any(isinstance(each, dict) and "brain" in each for each in agents):
        return named_source(file, "digitorn")
    return named_source(file, "native" if document.value.keys() & APP_KEYS.keys() else None)


def app_problems(group: Sequence[ParsedFile]) -> tuple[Problem, ...]:
    """The problems of the app that these files describe. Nothing is imported or run."""
    part = merge_apps(_sort_by_layer([_AppFile(parsed.source, tuple(_read_parts(parsed))) for parsed in group]))
    complete = not any(parsed.folders for parsed in group)
    return (*part.problems, *(reference_problems(part) if complete else ()))


def named_models(source: Source) -> dict[str, NamedModel]:
    """The models that this file names. Nothing is imported or run."""
    return {each.name: each.value for part in _read_parts(read_source(source)) for each in part.models}


def skill_folders(sources: Sequence[Source]) -> tuple[Path, ...]:
    """The skill folders that these files name, trusted or not. Nothing is imported or run."""
    return tuple(path for source in sources for part in _read_parts(read_source(source)) for path in part.skills)


def _sort_by_layer(files: Sequence[_AppFile]) -> list[LayeredApp]:
    """Nearest first. Untrusted files come last, so they never replace the user's own declarations."""
    ordered = sorted(files, key=lambda file: (not file.trusted, _NEAREST_FIRST.index(file.source.layer), file.distance))
    return [(file.source.layer, part) for file in ordered for part in file.parts]


def _load_file(parsed: ParsedFile, trust: Trust) -> _AppFile:
    effective = trust.effective_file(parsed, for_hooks=False)
    parsed = effective.parsed
    part = list(_read_parts(parsed))
    if not effective.trusted:
        return _AppFile(
            parsed.source, tuple(map(_restrict_untrusted, part)) + tuple(_untrusted_problem(parsed)), trusted=False
        )
    part += [_import_folder(folder) for folder in effective.folders]
    return _AppFile(parsed.source, tuple(part))


def _read_parts(parsed: ParsedFile) -> Iterator[PartialApp]:
    reader = _READERS.get(parsed.dialect or "")
    if reader is None:
        if parsed.dialect is None and parsed.problems:
            yield PartialApp(problems=parsed.problems)
        return
    document = parsed.document
    problems: tuple[Problem, ...] = ()
    if document is None or document.syntax_problems:
        document, problems = read_text(parsed.text, parsed.source.display_path)
    if document is None:
        yield PartialApp(problems=problems)
    else:
        yield reader(document, BaseDirectory(parsed.source.path.parent, parsed.source.project))


def _import_folder(folder: CodeFolder) -> PartialApp:
    defining = DefinitionsFolder(folder.path, folder.display_path)
    definitions, problems = defining.load_definitions()
    part = standard_agents.read_app(definitions, defining.display_path)
    return replace(part, problems=(*problems, *part.problems))


def _restrict_untrusted(part: PartialApp) -> PartialApp:
    """Keeps the agents, because hooks may refer to their ids, but none of their text."""
    agents = [
        replace(declared, value=_strip_agent(declared.value))
        for declared in part.agents
        if _PLAIN_ID.fullmatch(declared.value.id)
    ]
    return PartialApp(tuple(agents), skills=part.skills, problems=part.problems)


def _strip_agent(agent: Agent) -> Agent:
    """Also without a second AI: two AIs could use up every model call they are allowed."""
    return replace(agent, side_a=_strip_side(agent.side_a), side_b=None, name="", description="", model=None)


def _strip_side(side: AgentSide) -> AgentSide:
    prompt = replace(side.prompt, text=DEFAULT_PROMPT, model=None)
    return replace(side, prompt=prompt, label="", stop_on_response=True)


def _untrusted_problem(parsed: ParsedFile) -> Iterator[PartialApp]:
    wanted = [each.name for each in parsed.capabilities] + [folder.display_path for folder in parsed.folders]
    if not wanted:
        return
    line = min([each.line for each in parsed.capabilities] + [folder.line for folder in parsed.folders])
    shown = ", ".join(wanted[:_MAX_SHOWN]) + (" and more" if len(wanted) > _MAX_SHOWN else "")
    what = f"this file is not trusted yet, so these are ignored: {shown}."
    hint = "Review it and run `hookline trust`."
    yield PartialApp(problems=(Problem("not-trusted", parsed.source.display_path, line, what, hint, Severity.WARNING),))
