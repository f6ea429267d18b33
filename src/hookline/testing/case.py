"""Case files: a config, an event and the expected decision, as data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path, PurePosixPath
from typing import Any, Final

from hookline.config.node import Node
from hookline.config.problem import Problem
from hookline.config.reader import read_file
from hookline.dialects.dialect import DIALECT_NAMES
from hookline.errors import ConfigError, HooklineError
from hookline.hooks.events import EVENTS, closest_event, event_named
from hookline.hooks.host import ToolResult
from hookline.lazy_dataclasses import dataclass, field
from hookline.prove.properties import Property, read_properties
from hookline.testing.expectation import LOAD_KEYS, Expected, read_expected

CASE_KEYS: Final = (
    "note",
    "dialect",
    "config",
    "file",
    "files",
    "event",
    "steps",
    "tools",
    "env",
    "model",
    "trusted",
    "properties",
    "expect",
)
STEP_KEYS: Final = ("event", "expect", "advance")
CASE_PATTERNS: Final = ("tests/hooks/**/*.yaml", "hooks_tests/**/*.yaml", ".hookline/tests/*.yaml")
"""Where a project's case files are looked for."""
NO_TIME: Final = timedelta()


@dataclass(frozen=True, slots=True)
class Step:
    """One event, after a delay; `expect` is the expected result."""

    event: str
    facts: Mapping[str, Any]
    expect: Expected
    advance: timedelta = NO_TIME


@dataclass(frozen=True, slots=True)
class Case:
    note: str
    path: Path  # of the case file
    line: int
    dialect: str | None
    config: Any = None  # text, or a mapping
    config_file: Path | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    tools: Mapping[str, ToolResult] = field(default_factory=dict)
    model: tuple[str, ...] = ()  # its answers, in order
    env: Mapping[str, str] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()
    at_load: Expected = field(default_factory=Expected)
    trusted: bool = True  # for a case with files: whether the user has trusted the project
    properties: tuple[Property, ...] = ()  # what must be proved of the hooks

    @property
    def name(self) -> str:
        return f"{self.path.name}:{self.line}"


def find_case_files(directory: Path) -> list[Path]:
    return sorted({path for pattern in CASE_PATTERNS for path in directory.glob(pattern) if path.is_file()})


def load_cases(path: str | Path) -> list[Case]:
    """The cases of a file, or of every YAML file below a directory. Raises ConfigError with every problem found."""
    path = Path(path)
    if path.is_dir():
        problems: list[object] = []
        cases: list[Case] = []
        for each in sorted((*path.rglob("*.yaml"), *path.rglob("*.yml"))):
            try:
                cases += load_cases(each)
            except ConfigError as error:
                problems += error.problems
        if problems:
            raise ConfigError(problems)
        return cases
    return _load_case_file(path)


def _load_case_file(path: Path) -> list[Case]:
    document, problems = read_file(path)
    if document is None:
        raise ConfigError(problems)
    if _is_hooks_file(document.value):
        what = "this is a file of hooks, not of cases."
        hint = f"Write `file: {path.name}` in a case, or run hookline check or hookline prove --config {path.name}."
        raise ConfigError([Problem("no-cases", document.file, 1, what, hint)])
    found: list[Problem] = []
    at = Node.of(document, found)
    cases = [_read_case(place, path) for place in _case_nodes(at)]
    if found:
        raise ConfigError(sorted(found))
    if not cases:
        raise HooklineError(f"{path}: there is no case in this file")
    return [case for case in cases if case is not None]


def _is_hooks_file(value: Any) -> bool:
    return isinstance(value, dict) and not {"hooks", "extends"}.isdisjoint(value) and value.keys().isdisjoint(CASE_KEYS)


def _case_nodes(at: Node) -> Iterator[Node]:
    many = at.get("cases")
    if many is None:
        yield at
        return
    at.check_keys(("cases", "note"), "a file of cases")
    yield from many.items()


def _read_case(at: Node, path: Path) -> Case | None:
    """None after a problem was added."""
    before = len(at.problems)
    at.check_keys(CASE_KEYS, "a case")
    if at.mapping() is None:
        return None
    _check_one_config(at)
    note, file, dialect = _read_text(at, "note"), _read_text(at, "file"), at.get("dialect")
    spoken = None if dialect is None else dialect.one_of(DIALECT_NAMES)
    steps, at_load = _read_steps(at, spoken)
    made = Case(
        note=note or "",
        path=path,
        line=at.line,
        dialect=spoken,
        config=_read_config(at),
        config_file=None if file is None else path.parent / file,
        files=_read_files(at),
        tools=_read_tools(at),
        model=_read_model(at),
        env=_read_env(at),
        steps=steps,
        at_load=at_load,
        trusted=_read_trusted(at),
        properties=_read_properties(at),
    )
    return made if len(at.problems) == before else None


def _read_text(at: Node, key: str) -> str | None:
    place = at.get(key)
    return None if place is None else place.text()


def _check_one_config(at: Node) -> None:
    given = [key for key in ("config", "file") if at.get(key) is not None]
    if len(given) == 2:
        at.add_problem(
            "two-configs", f"{_place_prefix(at)}config and file exclude each other.", "Leave one of them out."
        )
    if not given and at.get("files") is None:
        at.add_problem(
            "no-config",
            f"{_place_prefix(at)}there is no config.",
            "Write config: {…}, file: path or files: {path: text}.",
        )


def _place_prefix(at: Node) -> str:
    return f"{at.location}: " if at.path else ""


def _read_config(at: Node) -> Any:
    config = at.get("config")
    if config is None:
        return None
    if not isinstance(config.value, (str, dict, list)):
        config.add_problem(
            "wrong-type", f"{config.location}: a config is a mapping, or its text.", "Write config: {hooks: …}."
        )
    return config.value


def _read_files(at: Node) -> dict[str, str]:
    files = at.get("files")
    found: dict[str, str] = {}
    for name, place in files.entries() if files is not None else ():
        text = place.text(empty=True)
        if not is_inside(name):
            what = f"{place.location}: the path must stay inside the case's own directory."
            place.add_problem("bad-path", what, "Write a relative path without `..`.", at_key=True)
        elif text is not None:
            found[name] = text
    return found


def is_inside(name: str) -> bool:
    path = PurePosixPath(name)
    return bool(name) and "\0" not in name and not path.is_absolute() and ".." not in path.parts and path.name != ""


def _read_tools(at: Node) -> dict[str, ToolResult]:
    tools = at.get("tools")
    found: dict[str, ToolResult] = {}
    for name, place in tools.entries() if tools is not None else ():
        place.check_keys(("content", "error"), "a tool")
        given = place.mapping() or {}
        error = place.get("error")
        if ("content" in given) == (error is not None):
            place.add_problem(
                "no-answer", f"{place.location}: a tool has either content or an error.", "Write {content: …}."
            )
            continue
        said = None if error is None else error.text()
        found[name] = ToolResult(given.get("content"), error is None, said or "")
    return found


def _read_trusted(at: Node) -> bool:
    trusted = at.get("trusted")
    return trusted is None or trusted.flag() is not False


def _read_properties(at: Node) -> tuple[Property, ...]:
    place = at.get("properties")
    return () if place is None else tuple(read_properties(place))


def _read_model(at: Node) -> tuple[str, ...]:
    model = at.get("model")
    return () if model is None else model.texts(empty=True) or ()


def _read_env(at: Node) -> dict[str, str]:
    env = at.get("env")
    texts = [(name, place.text(empty=True)) for name, place in env.entries()] if env is not None else []
    return {name: text for name, text in texts if text is not None}


def _read_steps(at: Node, dialect: str | None) -> tuple[tuple[Step, ...], Expected]:
    steps, event, expect = at.get("steps"), at.get("event"), at.get("expect")
    if steps is None and event is not None:
        step = _read_step(at, dialect)
        return ((step,) if step else ()), step.expect.at_load() if step else Expected()
    at_load = Expected() if expect is None else read_expected(expect, LOAD_KEYS)
    if steps is not None:
        if event is not None:
            event.add_problem("two-events", f"{event.location}: event and steps exclude each other.", at_key=True)
        made = [_read_step(place, dialect) for place in steps.items()]
        return tuple(step for step in made if step is not None), at_load
    if expect is None and at.get("properties") is None:
        at.add_problem(
            "no-event",
            f"{_place_prefix(at)}there is no event.",
            "Write event: {name: tool.before, …} and expect: {…}.",
        )
    return (), at_load


def _read_step(at: Node, dialect: str | None) -> Step | None:
    if at.get("steps") is None and at.path[-2:-1] == ("steps",):
        at.check_keys(STEP_KEYS, "a step")
    event, expect, advance = at.get("event"), at.get("expect"), at.get("advance")
    if event is None or expect is None:
        missing = "event" if event is None else "expect"
        at.add_problem(
            "missing-key", f"{_place_prefix(at)}{missing} is missing.", "A case has an event and what to expect."
        )
        return None
    name, facts = _read_event(event, dialect)
    length = NO_TIME if advance is None else advance.duration()
    wanted = read_expected(expect)
    return None if name is None or length is None else Step(name, facts, wanted, length)


def _read_event(at: Node, dialect: str | None) -> tuple[str | None, dict[str, Any]]:
    """The event's own name and its facts: everything but `name`."""
    name = at if isinstance(at.value, str) else at.get("name")
    if name is None:
        if at.mapping() is not None:
            at.add_problem("missing-key", f"{at.location}: name is missing.", "Write event: {name: tool.before, …}.")
        return None, {}
    text = name.text()
    found = None if text is None else event_named(text, dialect)
    if text is not None and found is None:
        guess = closest_event(text)
        hint = f"Did you mean {guess}?" if guess else f"The events are {', '.join(EVENTS)}."
        name.add_problem("unknown-event", f"{name.location}: there is no event {text!r}.", hint)
    facts = {} if isinstance(at.value, str) else {key: value for key, value in at.value.items() if key != "name"}
    return found, facts
