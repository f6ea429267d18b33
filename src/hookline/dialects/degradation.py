"""What becomes of a hook in a format that lacks a capability which it uses, if its author said what should.

The Hook Interchange Format has a strategy for each capability: `warn` leaves it out, `block` makes the hook block
whatever it would have seen, `exclude` leaves the hook out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Final

from hookline.hooks.actions.program_result import ResultFormat, ResultParser
from hookline.hooks.actions.run_program import CommandTemplate, RunProgram
from hookline.hooks.hook import Hook
from hookline.hooks.templates import ShellTemplate
from hookline.lazy_dataclasses import replace

_INTERCHANGE: Final = (ResultFormat.INTERCHANGE, ResultFormat.INTERCHANGE_ADVISORY)
_OTHER_FORMATS: Final = (ResultFormat.CLAUDE, ResultFormat.JSON, ResultFormat.EXIT2)
_BLOCK: Final = "echo 'This agent lacks a capability that this hook needs.' >&2; exit 2"


def degrade(hook: Hook) -> Iterator[tuple[Hook, tuple[str, ...]]]:
    """The hook without one or more of the capabilities that it uses, with what is lost; the fewest first."""
    strategies = dict(hook.origin.degradation)
    used = [name for name in _DROPS if name in strategies and _uses(hook, name)]
    for count in range(1, len(used) + 1):
        for dropped in combinations(used, count):
            names = (*dropped, "input_rewrite") if "structured_output" in dropped else dropped
            chosen = {name: strategies[name] for name in names if name in strategies}
            if "exclude" in chosen.values():
                continue
            lost = tuple(f"{_LOSSES[name]} ({name}: {strategy})" for name, strategy in chosen.items())
            for variant in _without(hook, dropped):
                yield (_blocking(variant) if "block" in chosen.values() else variant), lost


def _uses(hook: Hook, capability: str) -> bool:
    run = hook.then
    if not isinstance(run, RunProgram):
        return capability == "async_execution" and not hook.wait
    used = {
        "custom_env": bool(run.program.env),
        "configurable_cwd": run.program.cwd is not None,
        "async_execution": not hook.wait,
        "structured_output": run.result_parser.format in _INTERCHANGE,
    }
    return used[capability]


def _without(hook: Hook, names: tuple[str, ...]) -> list[Hook]:
    variants = [hook]
    for name in names:
        variants = [each for variant in variants for each in _DROPS[name](variant)]
    return variants


def _without_env(hook: Hook) -> list[Hook]:
    assert isinstance(hook.then, RunProgram)
    return [replace(hook, then=replace(hook.then, program=replace(hook.then.program, env=())))]


def _without_cwd(hook: Hook) -> list[Hook]:
    assert isinstance(hook.then, RunProgram)
    return [replace(hook, then=replace(hook.then, program=replace(hook.then.program, cwd=None)))]


def _without_async(hook: Hook) -> list[Hook]:
    return [replace(hook, wait=True)]


def _without_output(hook: Hook) -> list[Hook]:
    assert isinstance(hook.then, RunProgram)
    return [replace(hook, then=replace(hook.then, result_parser=ResultParser(each))) for each in _OTHER_FORMATS]


def _blocking(hook: Hook) -> Hook:
    assert isinstance(hook.then, RunProgram)
    program = CommandTemplate(ShellTemplate(_BLOCK, (), (_BLOCK,)), stdin=hook.then.program.stdin)
    return replace(hook, then=replace(hook.then, program=program))


_DROPS: Final[dict[str, Callable[[Hook], list[Hook]]]] = {
    "custom_env": _without_env,
    "configurable_cwd": _without_cwd,
    "async_execution": _without_async,
    "structured_output": _without_output,
}
_LOSSES: Final = {
    "custom_env": "its environment variables",
    "configurable_cwd": "its working directory",
    "async_execution": "that the agent does not wait for it",
    "structured_output": "its JSON answers: only exit code 2 blocks",
    "input_rewrite": "its changes of the input",
}
