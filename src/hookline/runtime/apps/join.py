"""What several files say of one app, joined."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from hookline.config.problem import Problem, Severity, nearest
from hookline.project import Layering
from hookline.runtime.app import Agent, App, Side, TriggerKind
from hookline.runtime.apps.described import Described, Placed, default_prompt
from hookline.standard_agents.definitions import DefinitionError, Definitions

T = TypeVar("T")

Said = tuple[Layering, Described]
"""What one file says, and whose file it is."""


def joined(files: Sequence[Said]) -> Described:
    """The first that says something counts. The same name twice is an error within a layer; between layers, the
    nearer one is meant.
    """
    problems = [problem for _, said in files for problem in said.problems]

    def all_of(kind: str, part: Callable[[Described], tuple[Placed[T], ...]]) -> tuple[Placed[T], ...]:
        return tuple(_unique(kind, [(layer, each) for layer, said in files for each in part(said)], problems))

    return Described(
        all_of("agent", lambda said: said.agents),
        next((said.model for _, said in files if said.model is not None), None),
        all_of("model", lambda said: said.models),
        all_of("MCP server", lambda said: said.servers),
        all_of("language server", lambda said: said.language_servers),
        all_of("trigger", lambda said: said.triggers),
        tuple(dict.fromkeys(path for _, said in files for path in said.skills)),
        next((said.store for _, said in files if said.store is not None), None),
        tuple(dict.fromkeys(host for _, said in files for host in said.private_hosts)),
        _definitions([said.definitions for _, said in files if said.definitions is not None], problems),
        tuple(problems),
    )


def app_of(said: Described) -> App:
    agents = tuple(placed.value for placed in said.agents)
    return App(
        agents or (Agent("agent", Side(default_prompt("agent"))),),
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


def dangling(said: Described) -> Iterator[Problem]:
    """Names of agents and models that nobody describes, and routes that two triggers want."""
    models = [placed.name for placed in said.models]
    agents = [placed.name for placed in said.agents]
    for agent in said.agents:
        yield from _unknown("model", _models_of(agent.value), models, agent)
        yield from _unknown("agent", agent.value.subagents or (), agents, agent)
    for model in said.models:
        yield from _unknown("model", model.value.fallbacks, models, model)
    routes: dict[str, str] = {}
    for trigger in said.triggers:
        wanted = trigger.value.agent
        yield from _unknown("agent", () if wanted is None else (wanted,), agents or ["agent"], trigger)
        if trigger.value.kind is TriggerKind.HTTP and routes.setdefault(trigger.value.at, trigger.name) != trigger.name:
            text = f"the route {trigger.value.at} belongs to the trigger {routes[trigger.value.at]} already."
            yield Problem("duplicate-id", trigger.file, trigger.line, text, "Write another route.")


def _models_of(agent: Agent) -> tuple[str, ...]:
    sides = (agent.side_a, *(() if agent.side_b is None else (agent.side_b,)))
    return tuple(model for model in (agent.model, *(side.prompt.model for side in sides)) if model is not None)


def _unknown(kind: str, wanted: Sequence[str], known: Sequence[str], by: Placed[T]) -> Iterator[Problem]:
    for name in dict.fromkeys(wanted):
        if name in known or (kind == "model" and ":" in name):
            continue
        guess = nearest(name, known)
        hint = f"Did you mean {guess}?" if guess else f"There are {', '.join(known) or 'none'}."
        more = " A model is provider:model, or a name of models." if kind == "model" else ""
        yield Problem(f"unknown-{kind}", by.file, by.line, f"{by.name} names the {kind} {name!r}.", f"{hint}{more}")


def _unique(kind: str, found: Sequence[tuple[Layering, Placed[T]]], problems: list[Problem]) -> Iterator[Placed[T]]:
    first: dict[str, tuple[Layering, Placed[T]]] = {}
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


def _definitions(sets: Sequence[Definitions], problems: list[Problem]) -> Definitions | None:
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
