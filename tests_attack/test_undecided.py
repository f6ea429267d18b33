"""Texts, numbers and functions that keep a condition or a change from being computed never switch a hook off."""

import itertools
import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attempts import Attempt

from hookline.hooks.event import Event
from hookline.hooks.outcome import Verdict
from hookline.register import register_condition
from hookline.testing import fire

SECRET = "sk-0123456789abcdef"
LOOK_BEHIND = r"(?<=key=)sk-\w+"


def result_event(name: str, result: Any) -> dict[str, Any]:
    return {"name": name, "tool": {"name": "read_file", "input": {"path": "a"}, "result": result, "ok": True}}


def deep(levels: int) -> Any:
    value: Any = f"key={SECRET}"
    for _ in range(levels):
        value = [value]
    return value


def paddings() -> list[Any]:
    """Results that are long, nested or slow to search, with the secret at the start, in the middle or at the end."""
    texts = ["x " * 1_000_000, "key= " * 400_000, "s" * 2_100_000, "key=sk" * 3_500_000, "\n" * 20_000_000]
    found: list[Any] = [f"key={SECRET} {text}" for text in texts]
    found += [f"{text} key={SECRET}" for text in texts]
    found += [f"{texts[0]} key={SECRET} {texts[1]}", {"a": texts[2], "b": [f"key={SECRET}"]}]
    return [*found, *(deep(levels) for levels in (3, 99, 100, 101, 102, 500))]


def test_a_result_never_passes_its_redaction(attempt: Attempt) -> None:
    replace = {"replace": {"in": "result", "pattern": LOOK_BEHIND, "with": "***"}}
    configs = [
        {"id": "redact", "on": "tool.after", "then": replace},
        {"id": "redact", "on": "tool.after", "when": {"result": LOOK_BEHIND}, "then": {"set": {"result": "***"}}},
        {"id": "redact", "on": "tool.after", "when": {"result": LOOK_BEHIND}, "then": replace, "on_error": "closed"},
        {"id": "redact", "on": "tool.after", "then": [replace, {"log": "redacted"}]},
    ]
    for (n, hook), (m, result) in itertools.product(enumerate(configs), enumerate(paddings())):
        if "when" in hook and not isinstance(result, str):
            continue  # how a condition reads a structured result is not the question here
        tool = fire({"hooks": [hook]}, result_event("tool.after", result)).event.facts["tool"]
        attempt("a result past its redaction", SECRET in repr(tool), f"config {n}, result {m}")


def raising(error: BaseException) -> Any:
    def test(params: Any, event: Event) -> bool:
        raise error

    return test


ERRORS = [
    ValueError(),
    KeyError("x"),
    RecursionError(),
    MemoryError(),
    StopIteration(),
    AssertionError(),
    SystemExit(0),
]
for number, error in enumerate(ERRORS):
    register_condition(f"raises-{number}")(raising(error))


async def answers_later() -> bool:
    return False


@register_condition(f"raises-{len(ERRORS)}")
def gives_answers(params: Any, event: Event) -> Any:
    yield False


register_condition(f"raises-{len(ERRORS) + 1}")(lambda params, event: answers_later())  # type: ignore[arg-type, return-value]


def test_no_condition_that_fails_switches_a_guard_off(attempt: Attempt) -> None:
    broken = [{"custom": {f"raises-{number}": {}}} for number in range(len(ERRORS) + 2)]
    broken += [{"not": each} for each in broken]
    broken += [
        {"expr": text} for text in ("1 / turn > 0", "5 % tools == 0", "tokens // tools > 1", "messages ** 64 > 1")
    ]
    wraps = [
        lambda part: part,
        lambda part: {"not": part},
        lambda part: {"all": [part, {"kind": "shell"}]},
        lambda part: {"all": [{"kind": "shell"}, part]},
        lambda part: {"any": [part, {"tool": "other"}]},
        lambda part: {"not": {"any": [{"tool": "other"}, {"not": part}]}},
    ]
    facts = {"messages": [{}] * 3, "context": {"tokens": math.inf}}
    for (part, wrap), then in itertools.product(itertools.product(broken, wraps), ({"deny": "no"}, {"ask": "sure?"})):
        for on_error in ({}, {"on_error": "closed"}, {"on_error": "open"}):
            hook = {"id": "guard", "on": "tool.before", "when": wrap(part), "then": then, **on_error}
            event = {"name": "tool.before", "tool": {"name": "bash", "input": {"command": "rm -rf /"}}, **facts}
            decision = fire({"hooks": [hook]}, event)
            computed = not decision.failures  # then the condition had an answer, which may be no
            attempt("a condition that fails", decision.verdict < 2 and not computed, f"{hook['when']} {then}")
            if "custom" in part:
                attempt("a condition that fails unseen", computed, f"{hook['when']} {then}")


def test_a_closed_hook_of_any_kind_holds(attempt: Attempt) -> None:
    actions = [{"run": "true"}, {"log": "x"}, {"tell": "x"}, {"allow": "yes"}, {"set": {"input.command": "ls"}}]
    for then in actions:
        hook = {"id": "h", "on": "tool.before", "when": {"expr": "1 / turn > 0"}, "then": then, "on_error": "closed"}
        event = {"name": "tool.before", "tool": {"name": "bash", "input": {"command": "rm -rf /"}}}
        decision = fire({"hooks": [hook]}, event)
        attempt("past on_error: closed", not decision.denied, str(then))


def test_no_answer_of_a_closed_hook_lets_a_result_pass(attempt: Attempt) -> None:
    """Whatever a closed hook answers after a tool, except that it is fine."""
    programs = [
        "exit 1",
        "echo no >&2; exit 2",
        "exit 3",
        "./missing",
        "missing-program",
        "true | /etc/passwd",
        "kill -9 $$",
    ]
    answers = ["deny", "block", "ask", "allow", "maybe", "DENY", 1, ["deny"], {"deny": True}]
    programs += [f"echo '{json.dumps({'decision': answer, 'reason': 'no'})}'" for answer in answers]
    programs += ['echo \'{"decision": "allow", "decision": "deny"}\'']
    scripts = ["return {decision: 'deny'}", "return {decision: 'ask'}", "return {decision: 'no'}", "return 1", "throw 1",
               "return {", "return {modifiedInput: {path: 'x'}}", "return {modifiedPrompt: 'x'}", "for (;;) {}"]  # fmt: skip
    actions: list[Any] = [{"script": script} for script in scripts]
    for program in programs:
        reads = ["json"] if program.startswith("echo '") else ["nonzero", "exit2", "json", "error"]
        actions += [{"run": program, "reads": each} for each in reads]
    actions += [{"run": program} for program in ("./missing", "missing-program", "true | /etc/passwd", "kill -9 $$")]
    for then, event, on_error in itertools.product(actions, ("tool.after", "tool.store"), ("closed", "ask", None)):
        hook = {"id": "h", "on": event, "then": then, "timeout": "1s", **({"on_error": on_error} if on_error else {})}
        if on_error is None and then.get("reads") in ("error", None) and "script" not in then:
            continue  # it is not meant to stop anything
        decision = fire({"hooks": [hook]}, result_event(event, SECRET))
        attempt("an answer past on_error: closed", SECRET in str(decision.event.facts), f"{event} {on_error} {then}")


LARGE = 100_000
LARGE_CALLS: list[tuple[str, Callable[[], dict[str, Any]], dict[str, Any]]] = [
    ("read_file", lambda: {"paths": [*(f"a{n}" for n in range(LARGE)), ".env"]}, {"input": {"path": r"\.env$"}}),
    ("edit_file", lambda: {"edits": [*({"path": f"a{n}"} for n in range(LARGE)), {"path": ".env"}]}, {"input": {"path": r"\.env$"}}),
    ("write_file", lambda: {"path": "a/../" * LARGE + ".env", "content": "x"}, {"input": {"path": r"\.env$"}}),
    ("bash", lambda: {"commands": [*(f"echo {n}" for n in range(LARGE)), "git push"]}, {"runs": {"program": "git", "subcommand": "push"}}),
    ("bash", lambda: {"commands": [*(f"echo {n}" for n in range(LARGE)), "git push"]}, {"input": {"command": {"starts": "git push"}}}),
    ("bash", lambda: {"command": [*(["echo", str(n)] for n in range(LARGE)), ["git", "push"]]}, {"input": {"command": "git push"}}),
    ("post", lambda: {"data": [*({"n": str(n)} for n in range(2 * LARGE)), {"n": SECRET}]}, {"input": {"data": SECRET}}),
    ("post", lambda: {"data": [*({"n": str(n)} for n in range(2 * LARGE)), {"n": SECRET}]}, {"input": {"data.*.n": SECRET}}),
    ("post", lambda: {"data": deep(LARGE)}, {"input": {"data": SECRET}}),
    ("post", lambda: {f"k{n}": str(n) for n in range(LARGE)} | {"command": "git push"}, {"input": {"command": "git push"}}),
    ("post", lambda: {f"é{n}": str(n) for n in range(LARGE)} | {"command": "git push"}, {"runs": {"program": "git"}}),
    ("post", lambda: {f"task{n}": '{"a": 1}' for n in range(LARGE)} | {"command": "git push"}, {"runs": {"program": "git"}}),
    ("post", lambda: {"tasks": {f"k{n}": {"a": 1} for n in range(LARGE)} | {"x": {"command": "git push"}}}, {"runs": {"program": "git"}}),
    ("post", lambda: {"tasks": json.dumps([*({"command": "ls"} for n in range(LARGE)), {"command": "git push"}])}, {"runs": {"program": "git"}}),
    ("post", lambda: {"tasks": "[" * LARGE + '{"command": "git push"}' + "]" * LARGE}, {"input": {"command": "git push"}}),
]  # fmt: skip


@pytest.mark.parametrize("count", [1, 40], ids=["one hook", "an index"])
def test_no_call_is_too_large_for_a_guard(attempt: Attempt, count: int, tmp_path: Path) -> None:
    """What a guard looks for stands at the end of more than it can read in time. Nor does the call occupy the engine."""
    for (n, (tool, make_input, when)), allowed in itertools.product(enumerate(LARGE_CALLS), (False, True)):
        hooks: list[dict[str, Any]] = [
            {"id": f"guard-{number}", "on": "tool.before", "when": when, "then": {"deny": "no"}}
            for number in range(count)
        ]
        if allowed:
            hooks.append({"id": "allow", "on": "tool.before", "then": "allow", "order": -1})
        input = make_input()  # one at a time: collecting garbage takes as long as there is of it
        event = {"name": "tool.before", "tool": {"name": tool, "input": input}, "cwd": str(tmp_path)}
        started = time.thread_time()
        verdict = fire({"hooks": hooks}, event).verdict
        took = time.thread_time() - started
        attempt(
            "a call too large to read", verdict is not Verdict.DENY or took > 2, f"{n} {when}: {verdict}, {took:.1f} s"
        )
