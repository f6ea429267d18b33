"""What a case expects, key by key: how it is read and compared with the result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from hookline.config.node import Node
from hookline.config.problem import Problem, Severity
from hookline.engine.decision import Decision
from hookline.hooks.event import MISSING, parse_path
from hookline.hooks.host import Notice
from hookline.hooks.outcome import FailureKind, Verdict
from hookline.lazy_dataclasses import dataclass, field
from hookline.testing.scripted_host import RecordedCall

SCRATCH_PLACEHOLDER: Final = "<scratch>"
"""Stands for the case's own directory in facts and expectations."""


@dataclass(frozen=True, slots=True)
class ActualResult:
    """The result of one step, or of loading."""

    directory: Path
    decision: Decision | None = None
    problems: Sequence[Problem] = ()
    called: Sequence[RecordedCall] = ()
    published: Sequence[Notice] = ()
    log: Sequence[str] = ()

    @property
    def required_decision(self) -> Decision:
        if self.decision is None:
            raise ValueError("nothing was decided")
        return self.decision


@dataclass(frozen=True, slots=True)
class Difference:
    key: str
    expected: Any
    got: Any


@dataclass(frozen=True, slots=True)
class Expected:
    values: Mapping[str, Any] = field(default_factory=dict)

    def at_load(self) -> Expected:
        return Expected({key: value for key, value in self.values.items() if key in LOAD_KEYS})

    def differences(self, happened: ActualResult) -> tuple[Difference, ...]:
        wanted = {key: expand_scratch(value, happened.directory) for key, value in self.values.items()}
        found = [_KEYS[key][1](key, value, happened) for key, value in wanted.items() if key not in LOAD_KEYS]
        return tuple(difference for difference in found if difference is not None)


def read_expected(at: Node, known: Iterable[str] | None = None) -> Expected:
    names = tuple(_KEYS if known is None else known)
    at.check_keys(names, "expect")
    if at.mapping() is None:
        return Expected()
    if not at.value:
        at.add_problem(
            "empty", f"{at.location}: it expects nothing, so it can never fail.", "Write verdict: deny, or another key."
        )
    return Expected({key: _KEYS[key][0](place) for key, place in at.entries() if key in names})


def problem_differences(wanted: Expected, happened: ActualResult) -> tuple[Difference, ...]:
    """Every expected problem must be found, and no other error. An empty list expects no warning either."""
    rest, listed = list(happened.problems), wanted.values.get("problems")
    missing: list[Any] = []
    for each in listed or ():
        found = next((problem for problem in rest if _matches_problem(each, problem)), None)
        if found is None:
            missing.append(each)
        else:
            rest.remove(found)
    wrong = rest if listed == [] else [problem for problem in rest if problem.severity is Severity.ERROR]
    if not missing and not wrong:
        return ()
    got = [str(problem) for problem in happened.problems] or "no problem"
    return (Difference("problems", missing or ("no problem" if listed == [] else "no other error"), got),)


def _matches_problem(wanted: Mapping[str, Any], problem: Problem) -> bool:
    known = problem.as_json()
    said = f"{problem.what} {problem.hint}"
    return wanted.get("contains", "") in said and all(
        known[key] == value for key, value in wanted.items() if key != "contains"
    )


def expand_scratch(value: Any, directory: Path) -> Any:
    """Replaces <scratch> in texts with the directory's path."""
    if isinstance(value, str):
        return value.replace(SCRATCH_PLACEHOLDER, str(directory))
    if isinstance(value, dict):
        return {key: expand_scratch(held, directory) for key, held in value.items()}
    if isinstance(value, (list, tuple)):
        return [expand_scratch(held, directory) for held in value]
    return value


def is_same(one: Any, other: Any) -> bool:
    """Equal in type too, at any depth: true is not 1. Lists and tuples are the same."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(is_same(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(is_same, one, other))
    return type(one) is type(other) and bool(one == other)


def is_subset(part: Any, whole: Any) -> bool:
    """A mapping is a subset if the other has its keys with matching values; anything else must be equal."""
    if isinstance(part, dict) and isinstance(whole, dict):
        return all(key in whole and is_subset(held, whole[key]) for key, held in part.items())
    return is_same(part, whole)


def _restrict_to(part: Any, whole: Any) -> Any:
    """The part of `whole` that `part` mentions."""
    if isinstance(part, dict) and isinstance(whole, dict):
        return {key: _restrict_to(held, whole.get(key, MISSING)) for key, held in part.items()}
    return "(absent)" if whole is MISSING else whole


Compare = Callable[[str, Any, ActualResult], Difference | None]


def _compare_equal(got: Callable[[ActualResult], Any]) -> Compare:
    def compare(key: str, wanted: Any, happened: ActualResult) -> Difference | None:
        found = got(happened)
        return None if is_same(wanted, found) else Difference(key, wanted, found)

    return compare


def _compare_contains(got: Callable[[ActualResult], Sequence[str]]) -> Compare:
    """Each text must be contained in one of the actual ones."""

    def compare(key: str, wanted: Any, happened: ActualResult) -> Difference | None:
        found = got(happened)
        missing = [text for text in wanted if not any(text in each for each in found)]
        return Difference(key, missing, list(found)) if missing else None

    return compare


def _compare_subsets(got: Callable[[ActualResult], Sequence[dict[str, Any]]]) -> Compare:
    """Same number, same order, each a subset of its counterpart."""

    def compare(key: str, wanted: Any, happened: ActualResult) -> Difference | None:
        found = got(happened)
        fits = len(wanted) == len(found) and all(map(is_subset, wanted, found))
        return None if fits else Difference(key, wanted, list(found))

    return compare


def _compare_facts(key: str, wanted: Any, happened: ActualResult) -> Difference | None:
    facts = happened.required_decision.event.facts
    return None if is_subset(wanted, facts) else Difference(key, wanted, _restrict_to(wanted, facts))


def _compare_removed(key: str, wanted: Any, happened: ActualResult) -> Difference | None:
    left = {place: happened.required_decision.event.read(parse_path(place)) for place in wanted}
    still = {place: value for place, value in left.items() if value is not MISSING}
    return Difference(key, wanted, still) if still else None


def _compare_not_asked(key: str, wanted: Any, happened: ActualResult) -> Difference | None:
    asked = [id for id in _asked_hooks(happened) if id in wanted]
    return Difference(key, wanted, {"asked": asked}) if asked else None


def _compare_files(key: str, wanted: Any, happened: ActualResult) -> Difference | None:
    found = {name: _read_file(happened.directory / name) for name in wanted}
    return None if found == wanted else Difference(key, wanted, found)


def _compare_no_files(key: str, wanted: Any, happened: ActualResult) -> Difference | None:
    found = [name for name in wanted if (happened.directory / name).exists()]
    return Difference(key, wanted, {"exist": found}) if found else None


def _read_file(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return "(no such file)"


def _asked_hooks(happened: ActualResult, *, again: bool = False) -> list[str]:
    trace = happened.required_decision.trace
    return [account.hook.id for account in trace if not account.skip_reason and account.again is again]


def _notes_json(happened: ActualResult) -> list[dict[str, Any]]:
    return [
        {
            "for": str(note.audience),
            "text": note.text,
            "place": str(note.place),
            "role": note.role,
            "position": note.position,
        }
        for note in happened.required_decision.notes
    ]


def _failures_json(happened: ActualResult) -> list[dict[str, Any]]:
    return [
        {"hook": each.hook, "kind": str(each.kind), "text": each.text} for each in happened.required_decision.failures
    ]


def _requests_json(happened: ActualResult) -> list[dict[str, Any]]:
    return [asdict(request) for request in happened.required_decision.requests]


def _calls_json(happened: ActualResult) -> list[dict[str, Any]]:
    return [{"tool": call.tool, "input": call.input} for call in happened.called]


def _notices_json(happened: ActualResult) -> list[dict[str, Any]]:
    return [asdict(notice) for notice in happened.published]


def _read_text(at: Node) -> Any:
    return at.text(empty=True)


def _read_id(at: Node) -> Any:
    return None if at.value is None else at.text()


def _read_flag(at: Node) -> Any:
    return at.flag()


def _read_texts(at: Node) -> Any:
    return list(at.texts(empty=True) or ())


def _read_mapping(at: Node) -> Any:
    return at.mapping() or {}


def _mappings_reader(*known: str) -> Callable[[Node], Any]:
    """A list of mappings with these keys; 0 means none."""

    def read(at: Node) -> Any:
        if at.value == 0 and at.value is not False:
            return []
        for place in at.items():
            place.check_keys(known, at.location)
        return at.value if isinstance(at.value, list) else []

    return read


def _read_failures(at: Node) -> Any:
    wanted = _mappings_reader("hook", "kind", "text")(at)
    for place in at.items() if wanted else ():
        kind = place.get("kind")
        if kind is not None:
            kind.one_of(_FAILURE_KINDS)
    return wanted


_FAILURE_KINDS: Final = tuple(str(kind) for kind in FailureKind)
_VERDICTS: Final = tuple(verdict.word for verdict in Verdict)
_NOTICE_KEYS: Final = ("channel", "message", "title", "level", "tag", "hook", "data")
_COMPACT_KEYS: Final = ("strategy", "keep_recent", "summary_max_tokens", "summary_prompt", "target_pressure")

LOAD_KEYS: Final = ("problems",)
"""Known before any event."""


def _compare_nothing(key: str, wanted: Any, happened: ActualResult) -> Difference | None:
    return None


_KEYS: Final[dict[str, tuple[Callable[[Node], Any], Compare]]] = {
    "verdict": (
        lambda at: at.one_of(_VERDICTS),
        _compare_equal(lambda happened: happened.required_decision.verdict.word),
    ),
    "reason": (_read_text, _compare_equal(lambda happened: happened.required_decision.reason)),
    "reason_contains": (_read_texts, _compare_contains(lambda happened: [happened.required_decision.reason])),
    "by": (_read_id, _compare_equal(lambda happened: happened.required_decision.by)),
    "halt": (_read_flag, _compare_equal(lambda happened: happened.required_decision.halt)),
    "facts": (_read_mapping, _compare_facts),
    "removed": (_read_texts, _compare_removed),
    "notes": (_mappings_reader("for", "text", "place", "role", "position"), _compare_subsets(_notes_json)),
    "notes_contain": (
        _read_texts,
        _compare_contains(lambda happened: [note.text for note in happened.required_decision.notes]),
    ),
    "requests": (_mappings_reader(*_COMPACT_KEYS), _compare_subsets(_requests_json)),
    "asked": (_read_texts, _compare_equal(_asked_hooks)),
    "asked_again": (_read_texts, _compare_equal(lambda happened: _asked_hooks(happened, again=True))),
    "not_asked": (_read_texts, _compare_not_asked),
    "failures": (_read_failures, _compare_subsets(_failures_json)),
    "problems": (_mappings_reader("code", "line", "contains", "severity", "file"), _compare_nothing),
    "called": (_mappings_reader("tool", "input"), _compare_subsets(_calls_json)),
    "published": (_mappings_reader(*_NOTICE_KEYS), _compare_subsets(_notices_json)),
    "log_contains": (_read_texts, _compare_contains(lambda happened: happened.log)),
    "files": (_read_mapping, _compare_files),
    "no_files": (_read_texts, _compare_no_files),
}
