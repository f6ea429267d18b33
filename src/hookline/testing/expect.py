"""What a case expects, key by key: how it is read, and how it differs from what happened."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from hookline.config.problem import Problem, Severity
from hookline.config.shape import Reader
from hookline.engine.account import Decision
from hookline.hooks.event import MISSING, parse_path
from hookline.hooks.host import Notice
from hookline.hooks.outcome import FailureKind, Verdict
from hookline.testing.host import Called

SCRATCH: Final = "<scratch>"
"""Stands for the case's own directory in the facts and in what is expected."""


@dataclass(frozen=True, slots=True)
class Happened:
    """What came of one step, or of loading alone."""

    directory: Path
    decision: Decision | None = None
    problems: Sequence[Problem] = ()
    called: Sequence[Called] = ()
    published: Sequence[Notice] = ()
    log: Sequence[str] = ()

    @property
    def decided(self) -> Decision:
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
        return Expected({key: value for key, value in self.values.items() if key in AT_LOAD})

    def differences(self, happened: Happened) -> tuple[Difference, ...]:
        wanted = {key: in_directory(value, happened.directory) for key, value in self.values.items()}
        found = [_KEYS[key][1](key, value, happened) for key, value in wanted.items() if key not in AT_LOAD]
        return tuple(difference for difference in found if difference is not None)


def expected(at: Reader, known: Iterable[str] | None = None) -> Expected:
    names = tuple(_KEYS if known is None else known)
    at.keys(names, "expect")
    if at.mapping() is None:
        return Expected()
    if not at.value:
        at.problem(
            "empty", f"{at.place}: it expects nothing, so it cannot fail.", "Write verdict: deny, or another key."
        )
    return Expected({key: _KEYS[key][0](place) for key, place in at.entries() if key in names})


def problem_differences(wanted: Expected, happened: Happened) -> tuple[Difference, ...]:
    """Every problem that was expected was found, and no error that was not; without a word about them, no error at all."""
    rest = list(happened.problems)
    missing: list[Any] = []
    for each in wanted.values.get("problems", ()):
        found = next((problem for problem in rest if _fits_problem(each, problem)), None)
        if found is None:
            missing.append(each)
        else:
            rest.remove(found)
    errors = [problem for problem in rest if problem.severity is Severity.ERROR]
    if not missing and not errors:
        return ()
    got = [str(problem) for problem in happened.problems] or "no problem"
    return (Difference("problems", missing or "no other error", got),)


def _fits_problem(wanted: Mapping[str, Any], problem: Problem) -> bool:
    known = problem.as_json()
    said = f"{problem.what} {problem.hint}"
    return wanted.get("contains", "") in said and all(
        known[key] == value for key, value in wanted.items() if key != "contains"
    )


def in_directory(value: Any, directory: Path) -> Any:
    """The value with the directory's path wherever a text says <scratch>."""
    if isinstance(value, str):
        return value.replace(SCRATCH, str(directory))
    if isinstance(value, dict):
        return {key: in_directory(held, directory) for key, held in value.items()}
    if isinstance(value, (list, tuple)):
        return [in_directory(held, directory) for held in value]
    return value


def is_same(one: Any, other: Any) -> bool:
    """Equal in type too, at any depth: true is not 1. Lists and tuples are one."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(is_same(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(is_same, one, other))
    return type(one) is type(other) and bool(one == other)


def is_part(part: Any, whole: Any) -> bool:
    """A mapping is part of another that has its keys with these parts; anything else must be the same."""
    if isinstance(part, dict) and isinstance(whole, dict):
        return all(key in whole and is_part(held, whole[key]) for key, held in part.items())
    return is_same(part, whole)


def _only(part: Any, whole: Any) -> Any:
    """As much of `whole` as `part` speaks of."""
    if isinstance(part, dict) and isinstance(whole, dict):
        return {key: _only(held, whole.get(key, MISSING)) for key, held in part.items()}
    return "(absent)" if whole is MISSING else whole


Compare = Callable[[str, Any, Happened], Difference | None]


def _same(got: Callable[[Happened], Any]) -> Compare:
    def compare(key: str, wanted: Any, happened: Happened) -> Difference | None:
        found = got(happened)
        return None if is_same(wanted, found) else Difference(key, wanted, found)

    return compare


def _contains(got: Callable[[Happened], Sequence[str]]) -> Compare:
    """Each text stands in one of those that there are."""

    def compare(key: str, wanted: Any, happened: Happened) -> Difference | None:
        found = got(happened)
        missing = [text for text in wanted if not any(text in each for each in found)]
        return Difference(key, missing, list(found)) if missing else None

    return compare


def _parts(got: Callable[[Happened], Sequence[dict[str, Any]]]) -> Compare:
    """As many as there are, in order, each part of its counterpart."""

    def compare(key: str, wanted: Any, happened: Happened) -> Difference | None:
        found = got(happened)
        fits = len(wanted) == len(found) and all(map(is_part, wanted, found))
        return None if fits else Difference(key, wanted, list(found))

    return compare


def _facts(key: str, wanted: Any, happened: Happened) -> Difference | None:
    facts = happened.decided.event.facts
    return None if is_part(wanted, facts) else Difference(key, wanted, _only(wanted, facts))


def _removed(key: str, wanted: Any, happened: Happened) -> Difference | None:
    left = {place: happened.decided.event.read(parse_path(place)) for place in wanted}
    still = {place: value for place, value in left.items() if value is not MISSING}
    return Difference(key, wanted, still) if still else None


def _not_asked(key: str, wanted: Any, happened: Happened) -> Difference | None:
    asked = [id for id in _asked(happened) if id in wanted]
    return Difference(key, wanted, {"asked": asked}) if asked else None


def _files(key: str, wanted: Any, happened: Happened) -> Difference | None:
    found = {name: _text_of(happened.directory / name) for name in wanted}
    return None if found == wanted else Difference(key, wanted, found)


def _no_files(key: str, wanted: Any, happened: Happened) -> Difference | None:
    found = [name for name in wanted if (happened.directory / name).exists()]
    return Difference(key, wanted, {"exist": found}) if found else None


def _text_of(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return "(no such file)"


def _asked(happened: Happened, *, again: bool = False) -> list[str]:
    trace = happened.decided.trace
    return [account.hook.id for account in trace if not account.not_asked and account.again is again]


def _notes(happened: Happened) -> list[dict[str, Any]]:
    return [
        {
            "for": str(note.audience),
            "text": note.text,
            "place": str(note.place),
            "role": note.role,
            "position": note.position,
        }
        for note in happened.decided.notes
    ]


def _failures(happened: Happened) -> list[dict[str, Any]]:
    return [{"hook": each.hook, "kind": str(each.kind), "text": each.text} for each in happened.decided.failures]


def _requests(happened: Happened) -> list[dict[str, Any]]:
    return [asdict(request) for request in happened.decided.requests]


def _called(happened: Happened) -> list[dict[str, Any]]:
    return [{"tool": call.tool, "input": call.input} for call in happened.called]


def _published(happened: Happened) -> list[dict[str, Any]]:
    return [asdict(notice) for notice in happened.published]


def _text(at: Reader) -> Any:
    return at.text(empty=True)


def _id(at: Reader) -> Any:
    return None if at.value is None else at.text()


def _flag(at: Reader) -> Any:
    return at.flag()


def _texts(at: Reader) -> Any:
    return list(at.texts(empty=True) or ())


def _mapping(at: Reader) -> Any:
    return at.mapping() or {}


def _mappings(*known: str) -> Callable[[Reader], Any]:
    """A list of mappings with these keys; 0 is a way to say that there are none."""

    def read(at: Reader) -> Any:
        if at.value == 0 and at.value is not False:
            return []
        for place in at.items():
            place.keys(known, at.place)
        return at.value if isinstance(at.value, list) else []

    return read


def _failed(at: Reader) -> Any:
    wanted = _mappings("hook", "kind", "text")(at)
    for place in at.items() if wanted else ():
        kind = place.get("kind")
        if kind is not None:
            kind.one_of(_KINDS)
    return wanted


_KINDS: Final = tuple(str(kind) for kind in FailureKind)
_VERDICTS: Final = tuple(verdict.word for verdict in Verdict)
_NOTICE: Final = ("channel", "message", "title", "level", "tag", "hook", "data")
_COMPACT: Final = ("strategy", "keep_recent", "summary_max_tokens", "summary_prompt", "target_pressure")

AT_LOAD: Final = ("problems",)
"""What is known before any event."""


def _nothing(key: str, wanted: Any, happened: Happened) -> Difference | None:
    return None


_KEYS: Final[dict[str, tuple[Callable[[Reader], Any], Compare]]] = {
    "verdict": (lambda at: at.one_of(_VERDICTS), _same(lambda happened: happened.decided.verdict.word)),
    "reason": (_text, _same(lambda happened: happened.decided.reason)),
    "reason_contains": (_texts, _contains(lambda happened: [happened.decided.reason])),
    "by": (_id, _same(lambda happened: happened.decided.by)),
    "halt": (_flag, _same(lambda happened: happened.decided.halt)),
    "facts": (_mapping, _facts),
    "removed": (_texts, _removed),
    "notes": (_mappings("for", "text", "place", "role", "position"), _parts(_notes)),
    "notes_contain": (_texts, _contains(lambda happened: [note.text for note in happened.decided.notes])),
    "requests": (_mappings(*_COMPACT), _parts(_requests)),
    "asked": (_texts, _same(_asked)),
    "asked_again": (_texts, _same(lambda happened: _asked(happened, again=True))),
    "not_asked": (_texts, _not_asked),
    "failures": (_failed, _parts(_failures)),
    "problems": (_mappings("code", "line", "contains", "severity", "file"), _nothing),
    "called": (_mappings("tool", "input"), _parts(_called)),
    "published": (_mappings(*_NOTICE), _parts(_published)),
    "log_contains": (_texts, _contains(lambda happened: happened.log)),
    "files": (_mapping, _files),
    "no_files": (_texts, _no_files),
}
