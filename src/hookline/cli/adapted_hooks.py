"""Hooks of one agent's file that another agent's file can only run through `hookline adapt`.

The two agents send a hook different input, or read its exit code and its answer differently.
"""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Final, Protocol

from hookline.dialects.agent_files.dialect import AgentFileDialect
from hookline.dialects.agent_files.format import FAILURE_OUTCOME, FORMATS
from hookline.dialects.claude_code import names as claude
from hookline.dialects.claude_code.matchers import TOOL_FAILED
from hookline.dialects.claude_stdin import stdin_template
from hookline.dialects.conversion import flatten_all, translate_condition, with_vocabulary
from hookline.dialects.dialect import AdaptableDialect, Excerpt, get_dialect
from hookline.dialects.hook_interchange import names as interchange
from hookline.dialects.settings_json import TOOL_SUCCEEDED, literal_shell_template
from hookline.hooks.actions.program_result import ResultParser
from hookline.hooks.actions.run_program import CommandTemplate, RunProgram
from hookline.hooks.conditions.logic import ALWAYS
from hookline.hooks.events import EVENTS
from hookline.hooks.hook import UNLIMITED, Hook
from hookline.hooks.placeholders import PlaceholderResolver
from hookline.hooks.protocols import Condition, May
from hookline.hooks.templates import DataTemplate, Template, parse_template
from hookline.hooks.tools import VOCABULARIES, Vocabulary
from hookline.hosts.agents import get_agent
from hookline.hosts.agents.agent import CodingAgent
from hookline.hosts.agents.agent_event import FAIL_CLOSED_EVENTS
from hookline.lazy_dataclasses import dataclass, replace

_SECOND: Final = timedelta(seconds=1)
_START_TIME: Final = timedelta(seconds=2)  # to start hookline
_NO_WAIT: Final = "that the agent does not wait for it"


def adapt_hooks(hooks: Iterable[Hook], to: str) -> Iterator[Hook]:
    """The hooks. One that the dialect cannot express becomes a command of `hookline adapt`, if that can be written."""
    for hook in hooks:
        is_adaptable = _contract_of(to) is not None and isinstance(get_dialect(hook.origin.dialect), AdaptableDialect)
        yield from _adapt(hook, to) if is_adaptable else (hook,)


def is_adapted(hook: Hook) -> bool:
    shell = hook.then.program.shell if isinstance(hook.then, RunProgram) else None
    return shell is not None and shell.source.startswith("hookline adapt ")


def _agent_name(dialect: str) -> str:
    return dialect.replace("_", "-")


def _adapt(hook: Hook, to: str) -> tuple[Hook, ...]:
    if hook.origin.dialect == to or _is_written(hook, to):
        return (hook,)
    excerpt = _excerpt(hook)
    if excerpt is None:
        return (hook,)
    for adapted in _variants(hook, excerpt, to):
        if _is_expressible(adapted, to):
            return adapted
        waiting = tuple(_waiting(each) for each in adapted)
        if not hook.wait and _is_expressible(waiting, to):
            return waiting
    return (hook,)


def _is_written(hook: Hook, to: str) -> bool:
    """A manifest is for every agent, so what can be said without hookline stays so, even if some of it is lost.

    A hook that its author would rather have block, or left out, is not said by that.
    """
    if interchange.NAME in (to, hook.origin.dialect):
        strategies = tuple((name, "exclude" if each == "block" else each) for name, each in hook.origin.degradation)
        strict = replace(hook, origin=replace(hook.origin, degradation=strategies))
        return bool(get_dialect(to).write(with_vocabulary(to, [strict])).value.get("hooks"))
    return _is_expressible([hook], to)


def _is_expressible(hooks: Iterable[Hook], to: str) -> bool:
    """Apart from what is known to be lost."""
    known = [replace(hook, origin=replace(hook.origin, unconverted=())) for hook in with_vocabulary(to, hooks)]
    return not get_dialect(to).write(known).not_expressible


def _waiting(hook: Hook) -> Hook:
    origin = replace(hook.origin, unconverted=(*hook.origin.unconverted, _NO_WAIT))
    return replace(hook, wait=True, origin=origin)


def _excerpt(hook: Hook) -> Excerpt | None:
    dialect = get_dialect(hook.origin.dialect)
    assert isinstance(dialect, AdaptableDialect)
    acting = replace(hook, enabled=True)  # whether it acts is said around it
    return dialect.excerpt(_in_its_directory(acting)) or dialect.excerpt(acting)


def _in_its_directory(hook: Hook) -> Hook:
    """A command that runs beside the user's own file changes the directory itself."""
    run = hook.then
    if not isinstance(run, RunProgram) or run.program.shell is None or run.program.cwd is None:
        return hook
    if not run.program.cwd.constant:
        return hook
    command = f"cd {shlex.quote(run.program.cwd.source)} && {{ {run.program.shell.source}\n}}"
    program = replace(run.program, shell=literal_shell_template(command), cwd=None)
    return replace(hook, then=replace(run, program=program))


def _variants(hook: Hook, excerpt: Excerpt, to: str) -> Iterator[tuple[Hook, ...]]:
    """As hooks of the other agent: first with its own matcher, then with one that holds wherever the hook's may."""
    contract = _contract_of(to)
    if contract is None:
        return
    known = contract.agent.find_event
    own = [each for each in contract.events(hook.event) if known(contract.agent_event(each[0])) is not None]
    when = translate_condition(hook.when, contract.vocabulary)
    for name, condition in own:
        if all(part in flatten_all(when) for part in flatten_all(condition)):
            yield (_as_command(hook, excerpt, contract, name, when),)
    always = [(name, condition) for name, condition in own if condition == ALWAYS][:1]
    if own:
        first, *others = (_as_command(hook, excerpt, contract, *each) for each in always or own)
        yield (first, *(replace(each, origin=replace(each.origin, unconverted=())) for each in others))


def _as_command(hook: Hook, excerpt: Excerpt, contract: _Contract, name: str, when: Condition) -> Hook:
    agent, called_at = contract.agent, contract.agent_event(name)
    needed = _timeout_around(hook.timeout, agent, called_at)
    timeout = needed if contract.has_timeouts else agent.event_timeout(called_at)
    document = json.dumps(excerpt.value, ensure_ascii=False)
    words = ["hookline", "adapt", agent.name, called_at, hook.origin.dialect, document]
    if excerpt.file:
        words.append(f"--file={excerpt.file}")
    if timeout != agent.event_timeout(called_at):
        words.append(f"--timeout={timeout // _SECOND}")
    blocks_without_hookline = " || exit 2" if hook.event in FAIL_CLOSED_EVENTS else ""
    program = CommandTemplate(
        literal_shell_template(shlex.join(words) + blocks_without_hookline),
        stdin=contract.stdin(name),
        env=contract.environment(name),
        cwd=contract.directory,
    )
    return replace(
        hook,
        when=when,
        then=RunProgram(program, contract.result_parser(name), timeout, hold_if_broken=hook.event == "tool.before"),
        on_error=FAILURE_OUTCOME,
        timeout=timeout,
        limit=UNLIMITED,
        origin=replace(
            hook.origin,
            event_name=name,
            unconverted=(*_losses(hook, agent, called_at, timeout), *contract.losses),
        ),
    )


def _losses(hook: Hook, agent: CodingAgent, event_name: str, timeout: timedelta) -> Iterator[str]:
    yield from hook.origin.unconverted
    event = agent.find_event(event_name)
    if event is not None and hook.may & EVENTS[hook.event].accepts & May.DENY and not event.ability.deny:
        yield f"that it can block: {agent.title} does not let hooks do that at {event_name}"
    if hook.timeout > timeout and hook.timeout not in _default_timeouts(hook):
        yield f"its timeout: {agent.title} ends every hook after {timeout // _SECOND} s"


def _default_timeouts(hook: Hook) -> Iterator[timedelta]:
    """Of its event in each format that its agent's files have."""
    own, name = get_dialect(hook.origin.dialect), hook.origin.event_name
    if hook.origin.dialect == claude.NAME:
        yield claude.default_timeout(name, "command")
        return
    for format in own.formats if isinstance(own, AgentFileDialect) else (FORMATS[own.name],):
        if name in format.events:
            yield format.default_timeout(name, format.type_name("command"))


def _timeout_around(timeout: timedelta, agent: CodingAgent, event_name: str) -> timedelta:
    """At least the agent's own, with time for hookline to start and to reply."""
    needed = timeout + _START_TIME + min(timeout / 9, timedelta(seconds=10))
    return max(timedelta(seconds=math.ceil(needed / _SECOND)), agent.event_timeout(event_name))


class _Contract(Protocol):
    """What an agent gives a command, and how it reads the result."""

    @property
    def agent(self) -> CodingAgent: ...
    @property
    def vocabulary(self) -> Vocabulary: ...
    @property
    def directory(self) -> Template | None: ...
    @property
    def has_timeouts(self) -> bool: ...
    @property
    def losses(self) -> tuple[str, ...]: ...
    def events(self, event: str) -> list[tuple[str, Condition]]:
        """The dialect's names for the event, each with the condition that it implies."""

    def agent_event(self, event_name: str) -> str: ...
    def stdin(self, event_name: str) -> DataTemplate: ...
    def environment(self, event_name: str) -> tuple[tuple[str, Template | None], ...]: ...
    def result_parser(self, event_name: str) -> ResultParser: ...


def _contract_of(dialect: str) -> _Contract | None:
    """None for a dialect that no agent has."""
    if dialect == interchange.NAME:
        return _InterchangeContract()
    known = get_dialect(dialect)
    if isinstance(known, AgentFileDialect):
        return _FileContract(known)
    return _ClaudeContract() if dialect == claude.NAME else None


@dataclass(frozen=True)
class _FileContract:
    file: AgentFileDialect
    losses = ()

    @property
    def agent(self) -> CodingAgent:
        return get_agent(_agent_name(self.file.name))

    @property
    def vocabulary(self) -> Vocabulary:
        return VOCABULARIES[self.file.name]

    @property
    def directory(self) -> Template | None:
        names = PlaceholderResolver(self.vocabulary)
        return parse_template("{{workspace}}", names) if self.file.written_format.runs_in_project else None

    @property
    def has_timeouts(self) -> bool:
        return bool(self.file.written_format.timeout_keys)

    def events(self, event: str) -> list[tuple[str, Condition]]:
        format = self.file.written_format
        return [(name, format.condition(name)) for name, each in format.events.items() if each == event]

    def agent_event(self, event_name: str) -> str:
        return event_name

    def stdin(self, event_name: str) -> DataTemplate:
        return self.file.written_format.stdin_template(event_name)

    def environment(self, event_name: str) -> tuple[tuple[str, Template | None], ...]:
        return self.file.written_format.environment_templates(event_name)

    def result_parser(self, event_name: str) -> ResultParser:
        return self.file.written_format.result_parser(event_name)


class _ClaudeContract:
    vocabulary = VOCABULARIES[claude.NAME]
    directory = None
    has_timeouts = True
    losses: tuple[str, ...] = ()

    @property
    def agent(self) -> CodingAgent:
        return get_agent(_agent_name(claude.NAME))

    def events(self, event: str) -> list[tuple[str, Condition]]:
        by_outcome: dict[str, Condition] = {"PostToolUse": TOOL_SUCCEEDED, "PostToolUseFailure": TOOL_FAILED}
        return [(name, by_outcome.get(name, ALWAYS)) for name, each in claude.EVENTS.items() if each == event]

    def agent_event(self, event_name: str) -> str:
        return event_name

    def stdin(self, event_name: str) -> DataTemplate:
        return stdin_template(event_name)

    def environment(self, event_name: str) -> tuple[tuple[str, Template | None], ...]:
        return claude.hook_environment()

    def result_parser(self, event_name: str) -> ResultParser:
        return claude.RESULT_PARSER


class _InterchangeContract(_ClaudeContract):
    """The format leaves stdin to the agent, and reads an answer in Claude Code's keys as Claude Code does."""

    losses = ("that it works in agents whose input for hooks is not Claude Code's",)

    def events(self, event: str) -> list[tuple[str, Condition]]:
        names = [name for name, each in interchange.EVENTS.items() if each == event]
        return [(name, interchange.outcome_condition(name)) for name in names]

    def agent_event(self, event_name: str) -> str:
        return interchange.CLAUDE_EVENTS[event_name]

    def stdin(self, event_name: str) -> DataTemplate:
        return interchange.stdin_of(event_name)

    def environment(self, event_name: str) -> tuple[tuple[str, Template | None], ...]:
        return ()

    def result_parser(self, event_name: str) -> ResultParser:
        return interchange.result_parser(blocking=interchange.can_block(event_name))
