"""Builds the app from definitions in Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from hookline.config.problem import Problem
from hookline.formatting import closest_match
from hookline.runtime.apps.app import MAX_STEPS, Agent, AgentSide, NamedModel, Prompt
from hookline.runtime.apps.fields import Declaration, PartialApp, default_prompt
from hookline.standard_agents.definitions import AgentDefinition, Definitions, PromptDefinition, Side, SourceLocation


def read_app(definitions: Definitions, shown: Callable[[str], str]) -> PartialApp:
    """`shown` returns the path of a file as messages display it."""
    problems: list[Problem] = []
    agents = [
        _declare_agent(each.name, _build_agent(each, definitions, problems, shown), each.place, shown)
        for each in definitions.agents.values()
    ]
    agents += [
        _declare_agent(each.name, _agent_from_prompt(each, definitions), each.place, shown)
        for each in _prompts_used_as_agents(definitions)
    ]
    models = tuple(
        Declaration(
            each.name,
            NamedModel(f"{each.provider}:{each.model}", each.fallbacks),
            shown(each.place.file),
            each.place.line,
        )
        for each in definitions.models.values()
    )
    return PartialApp(tuple(agents), models=models, definitions=definitions, problems=tuple(problems))


def _declare_agent(name: str, agent: Agent, place: SourceLocation, shown: Callable[[str], str]) -> Declaration[Agent]:
    return Declaration(name, agent, shown(place.file), place.line)


def _build_agent(
    agent: AgentDefinition, definitions: Definitions, problems: list[Problem], shown: Callable[[str], str]
) -> Agent:
    sides = [
        None
        if side is None
        else _build_side(side, _find_prompt(side.prompt, agent, definitions, problems, shown), definitions)
        for side in (agent.side_a, agent.side_b)
    ]
    listed = [side.prompt for side in (agent.side_a, agent.side_b) if side is not None]
    prompts = [definitions.prompts[name] for name in listed if name in definitions.prompts]
    return Agent(
        agent.name,
        sides[0] or AgentSide(default_prompt(agent.name)),
        sides[1] if agent.type == "dual_ai" else None,
        description=agent.description,
        subagents=_subagent_names(prompts, definitions),
        max_session_turns=agent.max_session_turns,
    )


def _build_side(side: Side, prompt: Prompt, definitions: Definitions) -> AgentSide:
    return AgentSide(
        prompt,
        side.label,
        side.stop_on_response,
        side.stop_tool,
        None if side.max_steps is None else min(side.max_steps, MAX_STEPS),
        side.session_stop,
        side.session_fail,
    )


def _find_prompt(
    name: str, agent: AgentDefinition, definitions: Definitions, problems: list[Problem], shown: Callable[[str], str]
) -> Prompt:
    found = definitions.prompts.get(name)
    if found is not None:
        return _build_prompt(found, definitions)
    guess = closest_match(name, definitions.prompts)
    hint = f"Did you mean {guess}?" if guess else f"There are {', '.join(definitions.prompts) or 'none'}."
    text = f"the agent {agent.name} refers to the prompt {name!r}, which does not exist."
    problems.append(Problem("unknown-prompt", shown(agent.place.file), agent.place.line, text, hint))
    return default_prompt(name, tools=())


def _build_prompt(prompt: PromptDefinition, definitions: Definitions) -> Prompt:
    """Agents and prompts in the list of tools are started as sub-agents, not called."""
    tools = tuple(name for name in prompt.tools if not _is_agent(name, definitions))
    return Prompt(prompt.name, prompt.prompt, prompt.model, tools)


def _is_agent(name: str, definitions: Definitions) -> bool:
    return name not in definitions.tools and (name in definitions.agents or name in definitions.prompts)


def _subagent_names(prompts: list[PromptDefinition], definitions: Definitions) -> tuple[str, ...]:
    listed = (name for prompt in prompts for name in prompt.tools if _is_agent(name, definitions))
    return tuple(dict.fromkeys(listed))


def _prompts_used_as_agents(definitions: Definitions) -> Iterator[PromptDefinition]:
    """Prompts that another prompt lists as a tool: each becomes an agent."""
    listed = dict.fromkeys(name for prompt in definitions.prompts.values() for name in prompt.tools)
    for name in listed:
        if _is_agent(name, definitions) and name not in definitions.agents:
            yield definitions.prompts[name]


def _agent_from_prompt(prompt: PromptDefinition, definitions: Definitions) -> Agent:
    return Agent(
        prompt.name,
        AgentSide(_build_prompt(prompt, definitions)),
        description=prompt.tool_description,
        subagents=_subagent_names([prompt], definitions),
    )
