"""Random definitions of standard_agents, whose hooks are Python functions, and random events for them."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from hookline.dialects.standard_agents import hooks_of
from hookline.hooks.event import Event
from hookline.hooks.events import events_by_name
from hookline.hooks.hook import Hook
from hookline.standard_agents import collecting, define_agent, define_hook, define_prompt
from hookline.standard_agents.signatures import HOOK_NAMES

EVENTS = events_by_name("standard_agents")
AGENTS, PROMPTS = ["support", "sales"], ["main", "strict"]
_TEXTS = ["hello", "token 1", ""]
_define: Any = define_hook


def define_hooks(chance: random.Random) -> tuple[Hook, ...]:
    """Prompts and agents that list some of the defined hooks, in any order."""
    with collecting() as definitions:
        ids = [f"hook_{number}" for number in range(chance.randint(4, 16))]
        for id in ids:
            name = chance.choice(list(HOOK_NAMES))
            _define(
                hook=name,
                id=id,
                execute=_function(name, chance.choice([*_BEHAVIOURS, "changes", "changes", "nothing"]), id),
            )
        for prompt in PROMPTS:
            define_prompt(name=prompt, **_listed(chance, ids))
        for agent in AGENTS:
            define_agent(name=agent, **_listed(chance, ids))
    return hooks_of(definitions).hooks


def _listed(chance: random.Random, ids: list[str]) -> dict[str, Any]:
    """None at all, an empty list, or some ids."""
    return chance.choice([{}, {"hooks": []}, *[{"hooks": chance.sample(ids, k=chance.randint(1, len(ids)))}] * 4])


def definition_event(chance: random.Random) -> Event:
    """One of the twelve events, with the facts that its hooks are given."""
    name = chance.choice(list(EVENTS.values()))
    agent = {"name": chance.choice([*AGENTS, "nobody"]), "prompt": chance.choice([*PROMPTS, None])}
    facts: dict[str, Any] = {"session": {"id": "s"}, "thread": {"id": "t"}, "agent": agent}
    if name.startswith("tool."):
        facts["tool"] = _finished_call(chance, name)
    facts["system"] = chance.choice(_TEXTS)
    facts["messages"] = [_message(chance, number) for number in range(chance.randint(0, 3))]
    facts["request"] = {"messages": [{"role": "user", "content": chance.choice(_TEXTS)}]}
    facts["message"] = {**_message(chance, 9), "updates": {"content": chance.choice(_TEXTS)}}
    facts["subagent"] = {"id": "child", "agent": {"name": "sales"}}
    return Event(name, facts)


def _finished_call(chance: random.Random, event: str) -> dict[str, Any]:
    ok = event != "tool.failed" and (event == "tool.succeeded" or chance.random() < 0.5)
    call = {"name": chance.choice(["bash", "odd"]), "id": "1", "input": {"command": "ls"}, "ok": ok}
    return call | {"result" if ok else "error": chance.choice([*_TEXTS, {"rows": [1]}] if ok else _TEXTS)}


def _message(chance: random.Random, number: int) -> dict[str, Any]:
    return {
        "id": f"m{number}",
        "role": chance.choice(["user", "assistant"]),
        "content": chance.choice(_TEXTS),
        "created_at": 1,
    }


def _function(name: str, behaviour: str, id: str) -> Callable[..., Any]:
    answer = _BEHAVIOURS[behaviour]

    async def one(state: Any, value: Any) -> Any:
        return answer(value, id)

    async def two(state: Any, first: Any, second: Any) -> Any:
        return answer(second, id)

    async def none(state: Any) -> Any:
        return answer(None, id)

    async def child(state: Any, child_state: Any) -> Any:
        return answer(None, id)

    if name == "after_subagent_created":
        return child
    if name == "after_thread_created":
        return none
    return two if name.startswith(("after_tool_call", "before_store", "before_update")) else one


def _nothing(value: Any, id: str) -> Any:
    return None


def _raise(value: Any, id: str) -> Any:
    raise ValueError(f"{id} failed")


def _spoil_and_raise(value: Any, id: str) -> Any:
    """It was given a copy, so this changes nothing."""
    if isinstance(value, (dict, list)):
        value.clear()
    raise KeyError(id)


def _nonsense(value: Any, id: str) -> Any:
    return object()


def _wrong_type(value: Any, id: str) -> Any:
    return {"role": "robot", "content": 42, "status": "maybe"}


def _change(value: Any, id: str) -> Any:
    """A valid value of the same type, and another one for each hook."""
    match value:
        case str():
            return f"{value} {id}"
        case [*messages]:
            return [{**each, "content": f"{each['content']} {id}"} for each in messages]
        case {"status": _}:
            return {**value, "status": "success", "result": f"{value.get('result', '')} {id}"}
        case {"content": content}:
            return {**value, "content": f"{content} {id}"}
        case _:
            return None


def _remove(value: Any, id: str) -> Any:
    """Less than was given: fewer messages, a result without its text."""
    match value:
        case [*messages]:
            return messages[:-1]
        case {"status": status}:
            return {"status": status}
        case _:
            return value


_BEHAVIOURS = {
    "nothing": _nothing,
    "raises": _raise,
    "spoils its copy": _spoil_and_raise,
    "nonsense": _nonsense,
    "wrong type": _wrong_type,
    "changes": _change,
    "removes": _remove,
}
