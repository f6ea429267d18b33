"""CrewAI: `HooklineHooks().install()`, for every crew, agent and flow of the process.

CrewAI's own hooks decide about the calls of agents. Some of its parts run a tool without them, so the methods that run
tools are wrapped too: a call that no hook has decided about is decided there.
"""

from __future__ import annotations

import copy
import json
import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, Unpack

from hookline.errors import HooklineError, extra_required
from hookline.frameworks.agent_run import AgentRun, CallAnswer, FrameworkCall, ResultAnswer, current_run
from hookline.frameworks.framework_hooks import FrameworkHooks, HookOptions
from hookline.frameworks.request_messages import MessageFormat, PlainMessage
from hookline.frameworks.support import ALL_EVENTS, FrameworkSupport
from hookline.frameworks.tool_defaults import NO_DEFAULTS, DefaultSources, ToolDefaults, defaults_of
from hookline.hooks.event import deep_equal
from hookline.hosts.agents.merged_decision import value_text
from hookline.hosts.python.guard import to_plain_value
from hookline.lazy_dataclasses import dataclass, replace

with extra_required("hookline.frameworks.crewai needs CrewAI", "crewai"):
    from crewai.agents.agent_adapters.base_agent_adapter import BaseAgentAdapter
    from crewai.hooks import HookAborted, InterceptionPoint
    from crewai.hooks.dispatch import register, unregister
    from crewai.tools.base_tool import BaseTool
    from crewai.tools.structured_tool import CrewStructuredTool
    from crewai.utilities import agent_utils
    from crewai.utilities.reasoning_handler import AgentReasoning
    from crewai.utilities.string_utils import sanitize_tool_name

SUPPORT: Final = FrameworkSupport(
    name="crewai",
    title="CrewAI",
    package="crewai",
    extra="crewai",
    version="1.15.30",
    installs_as="HooklineHooks().install()",
    events=ALL_EVENTS,
    answers={
        "ask": "your function; without one it is a no",
        "prompt": "yes, but an agent that plans stops",
        "request": "yes, and the change stays in the agent's messages",
        "halt": "yes: `kickoff` raises `RunStopped`",
        "continue": "no: the agent stops, and the log says so",
    },
    keeps_requests=True,
    covers_subagents="yes: every agent of the process",
)
_TOOL_METHODS: Final = {BaseTool: ("run", "arun"), CrewStructuredTool: ("invoke", "ainvoke", "_run")}
_REQUEST: Final = "_prepare_llm_call"  # around each request of an agent; no hook of CrewAI's is told that one failed
_PLANNING: Final = "handle_agent_reasoning"  # before an agent plans; its requests do not show CrewAI's hooks the task
_log = logging.getLogger("hookline")
_ACTION: Final = re.compile(r"^\s*Action\s*\d*\s*:", re.MULTILINE)


class RunStopped(HookAborted):
    """A hook denied the prompt, or halted the agent. The message is its reason."""


class _DecidedCall:
    """A call between CrewAI's hooks before and after it."""

    def __init__(self, run: AgentRun, call: FrameworkCall, answer: CallAnswer, outer: _DecidedCall | None) -> None:
        self.run, self.call, self.answer, self.outer = run, call, answer, outer
        self.outer_run = current_run.get()
        self.error: str | None = None  # of the tool
        self.is_running = False


@dataclass(frozen=True, slots=True)
class _Loop:
    """An agent's loop of requests."""

    run: AgentRun
    executor: Any  # None: the agent plans
    task: Any
    agent: Any


_decided_call: Final[ContextVar[_DecidedCall | None]] = ContextVar("crewai_decided_call", default=None)
_installed: list[HooklineHooks] = []


class HooklineHooks:
    """Hooks for the process."""

    def __init__(self, **options: Unpack[HookOptions]) -> None:
        self.hooks = FrameworkHooks(SUPPORT, options)
        self._loops: dict[tuple[int, int], _Loop] = {}
        self._seen: dict[str, int] = {}  # by run: how many messages its last request had
        self._originals: list[tuple[Any, str, Any]] = []
        self._points = {
            InterceptionPoint.PRE_STEP: self._before_step,
            InterceptionPoint.POST_STEP: self._after_step,
            InterceptionPoint.PRE_MODEL_CALL: self._before_model,
            InterceptionPoint.POST_MODEL_CALL: self._after_model,
            InterceptionPoint.PRE_TOOL_CALL: self._before_tool,
            InterceptionPoint.POST_TOOL_CALL: self._after_tool,
        }

    def install(self) -> HooklineHooks:
        """Call it before you make agents: they keep the hooks on requests that are there when they first run."""
        if _installed:
            raise HooklineError("CrewAI has hooks already, and they are those of the whole process")
        _installed.append(self)
        for point, hook in self._points.items():
            register(point, hook)
        for owner, name in _tool_methods():
            original = owner.__dict__[name]
            self._originals.append((owner, name, original))
            setattr(owner, name, self._guarded(original, name))
        self._originals.append((agent_utils, _REQUEST, getattr(agent_utils, _REQUEST)))
        setattr(agent_utils, _REQUEST, self._reporting(getattr(agent_utils, _REQUEST)))
        self._originals.append((AgentReasoning, _PLANNING, getattr(AgentReasoning, _PLANNING)))
        setattr(AgentReasoning, _PLANNING, self._deciding_first(getattr(AgentReasoning, _PLANNING)))
        return self

    def close(self) -> None:
        """Takes the hooks away and ends the sessions. Without it, they end with the program."""
        if self in _installed:
            _installed.remove(self)
            for point, hook in self._points.items():
                unregister(point, hook)
            for owner, name, original in self._originals:
                setattr(owner, name, original)
        self._loops.clear()
        self.hooks.close()

    def _before_step(self, context: Any) -> None:
        if isinstance(context.agent, BaseAgentAdapter):
            raise RunStopped(
                "hooks cannot decide about the tools of another framework's agent; use that framework's adapter"
            )
        if context.task is not None:
            self._drop(context.agent, context.task)

    def _after_step(self, context: Any) -> None:
        if context.task is not None:
            self._drop(context.agent, context.task)

    def _drop(self, agent: Any, task: Any) -> None:
        loop = self._loops.pop((id(agent), id(task)), None)
        if loop is not None:
            self._seen.pop(loop.run.key, None)
            self.hooks.run_sync(loop.run.finish())

    def _before_model(self, context: Any) -> None:
        try:
            run = self._run_of_request(context)
            self._send(run, context.messages)
        except RunStopped:
            raise
        except Exception as error:  # CrewAI would send the request
            raise RunStopped(f"Hooks could not decide ({type(error).__name__}), so the model was not called.") from None

    def _run_of_request(self, context: Any) -> AgentRun:
        if context.executor is None:
            planned = self._find_planned(context.agent)
            return self.current() if planned is None else planned.run
        key = (id(context.agent), id(context.task))
        loop = self._loops.get(key)
        if loop is not None and loop.executor is None and not loop.run.is_over:
            loop = self._loops[key] = replace(loop, executor=context.executor)
        if loop is None or loop.executor is not context.executor or self._has_begun_again(loop, context.messages):
            loop = self._loops[key] = self._begin(context)
        self._seen[loop.run.key] = len(context.messages)
        return loop.run

    def _find_planned(self, agent: Any) -> _Loop | None:
        """The loop of an agent that plans, whose requests do not name their task."""
        loops = [each for each in list(self._loops.values()) if each.agent is agent and not each.run.is_over]
        return loops[-1] if agent is not None and loops else None

    def _deciding_first(self, original: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """CrewAI's method that makes a plan, after a decision about the prompt."""

        def plan(planning: Any) -> Any:
            key = (id(planning.agent), id(planning.task))
            loop = self._loops.get(key)
            is_planned_again = planning.task is not None and loop is not None and not loop.run.is_over
            if not is_planned_again:
                self._loops[key] = self._begin_to_plan(planning)
            return original(planning)

        return plan

    def _begin_to_plan(self, planning: Any) -> _Loop:
        """Raises RunStopped."""
        prompt = str(planning.description if planning.task is None else planning.task.description)
        run = self.hooks.new_run(agent=str(planning.agent.role))
        answer = self.hooks.run_sync(run.start(prompt))
        is_changed = run.prompt != prompt
        if answer.refusal is not None or is_changed:
            self.hooks.run_sync(run.finish())
            raise RunStopped(answer.refusal or "Hooks cannot change the prompt of an agent that plans.")
        notes = answer.prompt.removeprefix(prompt).strip()
        if notes:
            run.add_note(notes)
        return _Loop(run, None, planning.task, planning.agent)

    def _has_begun_again(self, loop: _Loop, messages: list[Any]) -> bool:
        return loop.run.is_over and len(messages) <= self._seen.get(loop.run.key, 0)

    def _begin(self, context: Any) -> _Loop:
        """Raises RunStopped."""
        run = self.hooks.new_run(agent=str(getattr(context.agent, "role", "") or ""))
        loop = _Loop(run, context.executor, context.task, context.agent)
        prompt = _prompt_of(context)
        answer = self.hooks.run_sync(run.start(prompt))
        if answer.refusal is not None:
            run.halt(answer.refusal)
        elif answer.is_changed and not _replace_prompt(context.messages, prompt, answer.prompt):
            run.halt("Hooks changed the prompt, but it is not in the request.")
        return loop

    def _send(self, run: AgentRun, messages: list[Any]) -> None:
        has_system = bool(messages) and messages[0].get("role") == "system"
        rest = messages[1:] if has_system else list(messages)
        system = _content(messages[0]) if has_system else None
        answer = self.hooks.run_sync(run.before_model(rest, FORMAT, system))
        halted = answer.halted or run.halted
        if halted is not None:
            raise RunStopped(halted)
        first = messages[:1] if has_system else []
        if answer.system is not None:
            first = [{"role": "system", "content": answer.system}]
        messages[:] = [*first, *(rest if answer.messages is None else answer.messages)]

    def _after_model(self, context: Any) -> str | None:
        if not isinstance(context.response, str):
            return None
        found = self._loops.get((id(context.agent), id(context.task)))
        loop = self._find_planned(context.agent) if context.executor is None else found
        run = self.current() if loop is None else loop.run
        left = self.hooks.run_sync(run.after_model(context.response))
        if loop is not None and context.executor is not None and _is_final(left):
            reason = self.hooks.run_sync(run.stop(left))
            if reason is not None:
                _log.warning("a hook denied the stop of %s, but CrewAI cannot make an agent go on", run.agent)
            self.hooks.run_sync(run.finish())
        if run.halted is not None:
            raise RunStopped(run.halted)
        return left if left != context.response else None

    def _reporting(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """The context in which CrewAI calls a model, so that a failure is an event."""

        @contextmanager
        def request(executor: Any, *args: Any, **kwargs: Any) -> Iterator[Any]:
            with original(executor, *args, **kwargs) as messages:
                try:
                    yield messages
                except HookAborted:
                    raise
                except Exception as error:
                    self._report_failure(executor, error)
                    raise

        return request

    def _report_failure(self, executor: Any, error: Exception) -> None:
        loop = next((each for each in list(self._loops.values()) if each.executor is executor), None)
        if loop is None:
            return
        self.hooks.run_sync(loop.run.model_failed(error))
        if loop.run.halted is not None:
            raise RunStopped(loop.run.halted) from error

    def _before_tool(self, context: Any) -> bool | None:
        """False: CrewAI does not run the tool."""
        outer = _decided_call.get()
        run = self._run_of_tool(context)
        call = FrameworkCall(str(context.tool_name), _plain(context.tool_input), defaults=_defaults_of(context.tool))
        answer = self.hooks.run_sync(run.before_tool(call))
        if answer.is_changed and not call.input:  # CrewAI would not see the change
            answer = CallAnswer(refusal=f"Hooks cannot change the empty input of {call.name} here.")
        _decided_call.set(_DecidedCall(run, call, answer, outer))
        if answer.input is None:
            return False
        if answer.is_changed:
            context.tool_input.clear()
            context.tool_input.update(copy.deepcopy(answer.input))
        current_run.set(run)
        return None

    def _run_of_tool(self, context: Any) -> AgentRun:
        loop = self._loops.get((id(context.agent), id(context.task)))
        return self.current() if loop is None else loop.run

    def _after_tool(self, context: Any) -> str | None:
        """CrewAI calls it after refused calls too. It runs in the same context as the hook before."""
        decided = _decided_call.get()
        if decided is None:
            return "[withheld: hooks have not decided about this call]"
        _decided_call.set(decided.outer)
        current_run.set(decided.outer_run)
        if decided.answer.input is None:
            return decided.answer.refusal or "Not approved."
        text, error = str(context.tool_result), decided.error
        result = None if error is not None else text
        after = self.hooks.run_sync(
            decided.run.after_tool(decided.call, result, input=decided.answer.input, error=error)
        )
        if error is not None and not after.is_changed:
            return "\n".join(part for part in (text, after.notes) if part)
        _replace_kept_result(context.agent, text, after.text)
        return after.text

    def current(self) -> AgentRun:
        found = current_run.get()
        return found if found is not None and not found.is_over else self.hooks.new_run()

    def _guarded(self, original: Any, method: str) -> Any:
        def run_tool(tool: Any, *args: Any, **kwargs: Any) -> Any:
            decided = _decision_of(tool, method, args, kwargs)
            if decided is not None:
                with _execution(decided):
                    return original(tool, *args, **kwargs)
            return self._decide_and_run(tool, original, _named(tool, method, args, kwargs), method)

        async def arun_tool(tool: Any, *args: Any, **kwargs: Any) -> Any:
            decided = _decision_of(tool, method, args, kwargs)
            if decided is not None:
                with _execution(decided):
                    return await original(tool, *args, **kwargs)
            return await self._adecide_and_run(tool, original, _named(tool, method, args, kwargs), method)

        return arun_tool if method.startswith("a") else run_tool

    def _decide_and_run(self, tool: Any, original: Callable[..., Any], asked: dict[str, Any], method: str) -> Any:
        run, call = self.current(), _new_call(tool, asked)
        answer = self.hooks.run_sync(run.before_tool(call))
        pending = _redecided(call, answer)
        if answer.input is None:
            return answer.refusal or "Not approved."
        if pending is not None:
            with _execution(pending):
                return original(tool, **_arguments(method, _restored(asked, call.input, answer.input)))
        decided = _DecidedCall(run, call, answer, None)
        try:
            with _execution(decided), run.tool_context():
                result = original(tool, **_arguments(method, _restored(asked, call.input, answer.input)))
        except Exception as error:
            return _raise_changed(self.hooks.run_sync(self._report(decided, None)), error)
        return _result_for_model(self.hooks.run_sync(self._report(decided, result)), result)

    async def _adecide_and_run(
        self, tool: Any, original: Callable[..., Any], asked: dict[str, Any], method: str
    ) -> Any:
        run, call = self.current(), _new_call(tool, asked)
        answer = await run.before_tool(call)
        pending = _redecided(call, answer)
        if answer.input is None:
            return answer.refusal or "Not approved."
        if pending is not None:
            with _execution(pending):
                return await original(tool, **_arguments(method, _restored(asked, call.input, answer.input)))
        decided = _DecidedCall(run, call, answer, None)
        try:
            with _execution(decided), run.tool_context():
                result = await original(tool, **_arguments(method, _restored(asked, call.input, answer.input)))
        except Exception as error:
            return _raise_changed(await self._report(decided, None), error)
        return _result_for_model(await self._report(decided, result), result)

    async def _report(self, decided: _DecidedCall, result: Any) -> ResultAnswer:
        plain = None if decided.error is not None else to_plain_value(result)
        return await decided.run.after_tool(decided.call, plain, input=decided.answer.input, error=decided.error)


def _replace_kept_result(agent: Any, text: str, left: str) -> None:
    """CrewAI keeps what a tool returned, and makes it the task's answer if the tool has `result_as_answer`."""
    for kept in list(getattr(agent, "tools_results", ())):
        if str(kept.get("result")) == text:
            kept["result"] = left


def _raise_changed(after: ResultAnswer, error: Exception) -> Any:
    if after.is_changed or after.notes:
        raise RuntimeError(after.text) from None
    raise error


def _result_for_model(after: ResultAnswer, result: Any) -> Any:
    return after.text if after.is_changed or after.notes else result


def _decision_of(tool: Any, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _DecidedCall | None:
    """What was decided about this very call. A hook after ours may have changed its input."""
    decided, name = _decided_call.get(), sanitize_tool_name(tool.name)
    if decided is None or decided.call.name != name or decided.answer.input is None:
        return None
    given = _new_call(tool, _named(tool, method, args, kwargs))
    accepted = tool.args_schema.model_fields if tool.args_schema is not None else decided.answer.input
    allowed = {key: value for key, value in decided.answer.input.items() if key in given.input or key in accepted}
    same = replace(decided.call, input=allowed).has_input_of(given)
    return decided if same else None  # CrewAI leaves out what the tool does not take


def _new_call(tool: Any, asked: dict[str, Any]) -> FrameworkCall:
    return FrameworkCall(sanitize_tool_name(tool.name), _plain(asked), defaults=_defaults_of(tool))


def _defaults_of(tool: Any) -> ToolDefaults:
    """A model validates the arguments. Without one, they go to the function as they are."""
    if tool is None:
        return NO_DEFAULTS
    if tool.args_schema is not None and tool.args_schema.model_fields:
        return defaults_of(tool, DefaultSources(tool.args_schema))
    return defaults_of(tool, DefaultSources(None, getattr(tool, "func", None) or tool._run))


def _redecided(call: FrameworkCall, answer: CallAnswer) -> _DecidedCall | None:
    """The call of the agent that has become this one. CrewAI's hooks see its result."""
    pending = _decided_call.get()
    if pending is None or pending.is_running or pending.call.name != call.name:
        return None
    pending.call, pending.answer = call, answer
    return pending


@contextmanager
def _execution(decided: _DecidedCall) -> Iterator[None]:
    """Around a tool's own code, which may call other methods of the tool."""
    token, outer = _decided_call.set(decided), decided.is_running
    decided.is_running = True
    try:
        yield
    except Exception as error:
        decided.error = f"{type(error).__name__}: {error}"
        raise
    finally:
        decided.is_running = outer
        _decided_call.reset(token)


def _tool_methods() -> list[tuple[Any, str]]:
    """The methods that run a tool, also those of classes that have their own."""
    return [
        (kind, name)
        for base, names in _TOOL_METHODS.items()
        for kind in _family(base)
        for name in names
        if name in vars(kind)
    ]


def _family(base: Any) -> list[Any]:
    return [base, *dict.fromkeys(each for kind in base.__subclasses__() for each in _family(kind))]


def _named(tool: Any, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    if method in ("invoke", "ainvoke"):
        given = args[0] if args else kwargs.get("input")
        parsed = json.loads(given) if isinstance(given, str) else given
        more = {name: value for name, value in kwargs.items() if name not in ("input", "config")}
        return {**(parsed or {}), **more}
    names = list(tool.args_schema.model_fields) if tool.args_schema is not None else []
    if len(args) > len(names):
        raise TypeError(f"{tool.name} takes {len(names)} arguments")
    return {**dict(zip(names, args, strict=False)), **kwargs}


def _arguments(method: str, given: dict[str, Any]) -> dict[str, Any]:
    return {"input": given} if method in ("invoke", "ainvoke") else given


def _restored(asked: dict[str, Any], plain: dict[str, Any], left: dict[str, Any]) -> dict[str, Any]:
    """Only what hooks changed is replaced; other arguments stay the same objects."""
    return {name: asked[name] if name in asked and deep_equal(plain[name], new) else new for name, new in left.items()}


def _plain(value: Any) -> dict[str, Any]:
    left = to_plain_value(value)
    return left if isinstance(left, dict) else {"input": left}


def _is_final(text: str) -> bool:
    """An agent whose model has no tool calls of its own writes its actions as text."""
    return "Final Answer:" in text or _ACTION.search(text) is None


def _prompt_of(context: Any) -> str:
    if context.task is not None:
        return str(context.task.description)
    asked = [each for each in context.messages if each.get("role") == "user"]
    return _content(asked[-1]) if asked else ""


def _replace_prompt(messages: list[Any], prompt: str, text: str) -> bool:
    """In the last message that has it: CrewAI puts a task into a longer text."""
    for at in range(len(messages) - 1, -1, -1):
        content = messages[at].get("content")
        if isinstance(content, str) and prompt in content:
            messages[at] = {**messages[at], "content": content.replace(prompt, text, 1)}
            return True
    return False


def _content(message: Any) -> str:
    content = message.get("content")
    return content if isinstance(content, str) else value_text(to_plain_value(content or ""))


def _read(message: Any) -> PlainMessage:
    plain: PlainMessage = {"role": str(message.get("role", "")), "content": _content(message)}
    if message.get("tool_calls"):
        plain["tool_calls"] = to_plain_value(message["tool_calls"])
    return plain | {name: message[name] for name in ("tool_call_id", "name") if message.get(name)}


def _with_text(message: Any, text: str) -> Any:
    return {**message, "content": text}


def _create(role: str, text: str) -> Any:
    return {"role": role, "content": text}


FORMAT: Final[MessageFormat[Any]] = MessageFormat(_read, _with_text, _create)
