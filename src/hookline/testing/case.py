"""Case files: a config, an event and the expected decision, as data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path, PurePosixPath
from typing import Any, Final

from hookline.config.problem import Problem
from hookline.config.read import read_file
from hookline.config.shape import Reader
from hookline.dialects.table import NAMES
from hookline.errors import ConfigError, HooklineError
from hookline.hooks.events import EVENTS, all_names, canonical, names_in
from hookline.hooks.host import ToolResult
from hookline.testing.expect import AT_LOAD, Expected, expected

KEYS: Final = (
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
    "expect",
)
STEP_KEYS: Final = ("event", "expect", "advance")
PLACES: Final = ("tests/hooks/**/*.yaml", "hooks_tests/**/*.yaml", ".hookline/tests/*.yaml")
"""Where a project's case files are looked for."""
NO_TIME: Final = timedelta()


@dataclass(frozen=True, slots=True)
class Step:
    """One event, after so much time; `expect` says what must come of it."""

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
    model: tuple[str, ...] = ()  # what it answers, in order
    env: Mapping[str, str] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()
    at_load: Expected = field(default_factory=Expected)
    trusted: bool = True  # of a case with files alone: whether the user has accepted what the project brings

    @property
    def name(self) -> str:
        return f"{self.path.name}:{self.line}"


def find_case_files(directory: Path) -> list[Path]:
    return sorted({path for pattern in PLACES for path in directory.glob(pattern) if path.is_file()})


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
    return _cases_of(path)


def _cases_of(path: Path) -> list[Case]:
    document, problems = read_file(path)
    if document is None:
        raise ConfigError(problems)
    found: list[Problem] = []
    at = Reader.of(document, found)
    cases = [_case(place, path) for place in _places(at)]
    if found:
        raise ConfigError(sorted(found))
    if not cases:
        raise HooklineError(f"{path}: there is no case in this file")
    return [case for case in cases if case is not None]


def _places(at: Reader) -> Iterator[Reader]:
    many = at.get("cases")
    if many is None:
        yield at
        return
    at.keys(("cases", "note"), "a file of cases")
    yield from many.items()


def _case(at: Reader, path: Path) -> Case | None:
    """None after a problem was noted."""
    before = len(at.problems)
    at.keys(KEYS, "a case")
    if at.mapping() is None:
        return None
    _one_config(at)
    note, file, dialect = _text(at, "note"), _text(at, "file"), at.get("dialect")
    spoken = None if dialect is None else dialect.one_of(NAMES)
    steps, at_load = _steps(at, spoken)
    made = Case(
        note=note or "",
        path=path,
        line=at.line,
        dialect=spoken,
        config=_config(at),
        config_file=None if file is None else path.parent / file,
        files=_files(at),
        tools=_tools(at),
        model=_model(at),
        env=_env(at),
        steps=steps,
        at_load=at_load,
        trusted=_trusted(at),
    )
    return made if len(at.problems) == before else None


def _text(at: Reader, key: str) -> str | None:
    place = at.get(key)
    return None if place is None else place.text()


def _one_config(at: Reader) -> None:
    given = [key for key in ("config", "file") if at.get(key) is not None]
    if len(given) == 2:
        at.problem("two-configs", f"{_shown(at)}config and file say the same thing twice.", "Leave one of them out.")
    if not given and at.get("files") is None:
        at.problem(
            "no-config", f"{_shown(at)}there is no config.", "Write config: {…}, file: path or files: {path: text}."
        )


def _shown(at: Reader) -> str:
    return f"{at.place}: " if at.path else ""


def _config(at: Reader) -> Any:
    config = at.get("config")
    if config is None:
        return None
    if not isinstance(config.value, (str, dict, list)):
        config.problem(
            "wrong-type", f"{config.place}: a config is a mapping, or its text.", "Write config: {hooks: …}."
        )
    return config.value


def _files(at: Reader) -> dict[str, str]:
    files = at.get("files")
    found: dict[str, str] = {}
    for name, place in files.entries() if files is not None else ():
        text = place.text(empty=True)
        if not is_inside(name):
            what = f"{place.place}: the path must stay inside the case's own directory."
            place.problem("bad-path", what, "Write a relative path without `..`.", at_key=True)
        elif text is not None:
            found[name] = text
    return found


def is_inside(name: str) -> bool:
    path = PurePosixPath(name)
    return bool(name) and "\0" not in name and not path.is_absolute() and ".." not in path.parts and path.name != ""


def _tools(at: Reader) -> dict[str, ToolResult]:
    tools = at.get("tools")
    found: dict[str, ToolResult] = {}
    for name, place in tools.entries() if tools is not None else ():
        place.keys(("content", "error"), "a tool")
        content, error = place.get("content"), place.get("error")
        if (content is None) == (error is None):
            place.problem("no-answer", f"{place.place}: a tool has either content or an error.", "Write {content: …}.")
            continue
        said = None if error is None else error.text()
        found[name] = ToolResult(None if content is None else content.value, error is None, said or "")
    return found


def _trusted(at: Reader) -> bool:
    trusted = at.get("trusted")
    return trusted is None or trusted.flag() is not False


def _model(at: Reader) -> tuple[str, ...]:
    model = at.get("model")
    return () if model is None else model.texts(empty=True) or ()


def _env(at: Reader) -> dict[str, str]:
    env = at.get("env")
    texts = [(name, place.text(empty=True)) for name, place in env.entries()] if env is not None else []
    return {name: text for name, text in texts if text is not None}


def _steps(at: Reader, dialect: str | None) -> tuple[tuple[Step, ...], Expected]:
    steps, event, expect = at.get("steps"), at.get("event"), at.get("expect")
    if steps is None and event is not None:
        step = _step(at, dialect)
        return ((step,) if step else ()), step.expect.at_load() if step else Expected()
    at_load = Expected() if expect is None else expected(expect, AT_LOAD)
    if steps is not None:
        if event is not None:
            event.problem("two-events", f"{event.place}: event and steps exclude each other.", at_key=True)
        made = [_step(place, dialect) for place in steps.items()]
        return tuple(step for step in made if step is not None), at_load
    if expect is None:
        at.problem(
            "no-event", f"{_shown(at)}there is nothing to try.", "Write event: {name: tool.before, …} and expect: {…}."
        )
    return (), at_load


def _step(at: Reader, dialect: str | None) -> Step | None:
    if at.get("steps") is None and at.path[-2:-1] == ("steps",):
        at.keys(STEP_KEYS, "a step")
    event, expect, advance = at.get("event"), at.get("expect"), at.get("advance")
    if event is None or expect is None:
        missing = "event" if event is None else "expect"
        at.problem("missing-key", f"{_shown(at)}{missing} is missing.", "A case has an event and what to expect.")
        return None
    name, facts = _event(event, dialect)
    length = NO_TIME if advance is None else advance.duration()
    wanted = expected(expect)
    return None if name is None or length is None else Step(name, facts, wanted, length)


def _event(at: Reader, dialect: str | None) -> tuple[str | None, dict[str, Any]]:
    """The event's own name, and its facts: everything beside `name`."""
    name = at if isinstance(at.value, str) else at.get("name")
    if name is None:
        if at.mapping() is not None:
            at.problem("missing-key", f"{at.place}: name is missing.", "Write event: {name: tool.before, …}.")
        return None, {}
    text = name.text()
    found = None if text is None else event_named(text, dialect)
    if text is not None and found is None:
        from hookline.config.problem import nearest

        guess = nearest(text, all_names())
        hint = f"Did you mean {guess}?" if guess else f"The events are {', '.join(EVENTS)}."
        name.problem("unknown-event", f"{name.place}: there is no event {text!r}.", hint)
    facts = {} if isinstance(at.value, str) else {key: value for key, value in at.value.items() if key != "name"}
    return found, facts


def event_named(name: str, dialect: str | None) -> str | None:
    """The event that `name` means in this dialect, or else here or in any."""
    own = names_in(dialect).get(name) if dialect else None
    return own or canonical(name)
