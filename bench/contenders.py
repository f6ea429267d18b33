"""hookline and its alternatives, each with the same rules."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.rules import TOOL, Decide, Workload, rules_yaml

if TYPE_CHECKING:
    from hookline.engine.book import Book
    from hookline.hooks.hook import Hook

_RULES_PER_FILE = 10_000  # a file may have 10 MB


def hookline(load: Workload) -> Decide:
    from hookline import Event
    from hookline.project import load_text

    if load.rules > _RULES_PER_FILE:
        book = _load_files(load)
    else:
        book = load_text(rules_yaml(load), "hookline.yaml")
    assert not book.problems

    def decide(tool: str, input: dict[str, Any]) -> bool:
        return book.decide_now(Event("tool.before", {"tool": {"name": tool, "input": input}})).denied

    return decide


def _load_files(load: Workload) -> Book:
    """Several files in one layer, as a session loads those of a directory: each is read, and the index is built once."""
    from hookline.engine.book import Book, Layer
    from hookline.lazy_imports import gc_paused
    from hookline.project.parsed_file import read_source
    from hookline.project.sources import named_source

    with gc_paused(), tempfile.TemporaryDirectory() as place:
        hooks: list[Hook] = []
        for start in range(0, load.rules, _RULES_PER_FILE):
            file = Path(place, f"hookline-{start}.yaml")
            file.write_text(rules_yaml(load, range(start, min(start + _RULES_PER_FILE, load.rules))))
            parsed = read_source(named_source(str(file), "native"))
            assert not parsed.problems
            hooks += parsed.hooks
        return Book([Layer("all", hooks)])


def re_loop(load: Workload) -> Decide:
    """A list of compiled patterns, tried one after the other."""
    rules = _compile_rules(load)

    def decide(tool: str, input: dict[str, Any]) -> bool:
        return any(
            name.search(tool) and path.search(input["path"]) and content.search(input["content"])
            for name, path, content in rules
        )

    return decide


def re_loop_by_tool(load: Workload) -> Decide:
    """The fairer loop: rules grouped by the tool's name beforehand."""
    rules = {"write_file": [(path, content) for _, path, content in _compile_rules(load)]}

    def decide(tool: str, input: dict[str, Any]) -> bool:
        return any(
            path.search(input["path"]) and content.search(input["content"]) for path, content in rules.get(tool, ())
        )

    return decide


def pluggy(load: Workload) -> Decide:
    import pluggy

    spec, impl = pluggy.HookspecMarker("bench"), pluggy.HookimplMarker("bench")

    class Spec:
        @spec(firstresult=True)
        def judge(self, tool: str, input: dict[str, Any]) -> bool | None: ...

    class Rule:
        def __init__(self, patterns: tuple[re.Pattern[str], ...]) -> None:
            self.name, self.path, self.content = patterns

        @impl
        def judge(self, tool: str, input: dict[str, Any]) -> bool | None:
            if not self.name.search(tool) or not self.path.search(input["path"]):
                return None
            return True if self.content.search(input["content"]) else None

    manager = pluggy.PluginManager("bench")
    manager.add_hookspecs(Spec)
    for rule in reversed(_compile_rules(load)):  # pluggy calls the last registered one first
        manager.register(Rule(rule))
    return lambda tool, input: bool(manager.hook.judge(tool=tool, input=input))


def cedar(load: Workload) -> Decide:
    """Cedar has globs instead of regexes."""
    import cedarpy

    forbids = [
        f'forbid(principal, action, resource) when {{ context.tool == "write_file" && context.path like '
        f'"{"*" if load.every_path_matches else f"*/p{n}/*"}.py" && context.content like "*SECRET_{n} *" }};'
        for n in range(load.rules)
    ]
    policies = cedarpy.PolicySet.from_str("permit(principal, action, resource);" + "".join(forbids))
    entities = cedarpy.Entities.from_json_str("[]")

    def decide(tool: str, input: dict[str, Any]) -> bool:
        request = {
            "principal": 'User::"agent"',
            "action": 'Action::"call"',
            "resource": 'Tool::"any"',
            "context": {"tool": tool, **input},
        }
        return cedarpy.is_authorized(request, policies, entities).decision == cedarpy.Decision.Deny

    return decide


CONTENDERS: dict[str, Callable[[Workload], Decide]] = {
    "hookline": hookline,
    "re loop": re_loop,
    "re by tool": re_loop_by_tool,
    "pluggy": pluggy,
    "cedar": cedar,
}


def _compile_rules(load: Workload) -> list[tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]]:
    tool = re.compile(TOOL)
    return [(tool, re.compile(load.path_pattern(n)), re.compile(load.content_pattern(n))) for n in range(load.rules)]
