"""The app that one file describes, and readers for the fields that several formats share."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, Generic, TypeVar

from hookline.config.node import Node
from hookline.config.problem import Problem
from hookline.errors import BadTemplate, HooklineError
from hookline.lazy_dataclasses import dataclass
from hookline.patterns.matchers import path_glob
from hookline.patterns.pattern import BadPattern
from hookline.runtime.apps.app import Agent, LanguageServer, McpServer, NamedModel, Prompt
from hookline.runtime.triggers.cron import next_time
from hookline.runtime.triggers.trigger import Trigger, TriggerKind, prompt_template
from hookline.standard_agents.definitions import Definitions

T = TypeVar("T")

DEFAULT_PROMPT: Final = (
    "You are a careful assistant that works in the user's project with the tools that you are given. Look before you "
    "change anything, keep to what was asked, and say plainly what you did and what you could not do. If a tool call is "
    "refused, read the reason: it comes from the user's own rules, so find another way or ask, and do not work around it."
)


@dataclass(frozen=True, slots=True)
class Declaration(Generic[T]):
    """A named part of an app, and where it was written."""

    name: str
    value: T
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class PartialApp:
    agents: tuple[Declaration[Agent], ...] = ()
    model: str | None = None
    models: tuple[Declaration[NamedModel], ...] = ()
    servers: tuple[Declaration[McpServer], ...] = ()
    language_servers: tuple[Declaration[LanguageServer], ...] = ()
    triggers: tuple[Declaration[Trigger], ...] = ()
    skills: tuple[Path, ...] = ()
    store: str | None = None
    private_hosts: tuple[str, ...] = ()
    definitions: Definitions | None = None
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class BaseDirectory:
    """Where relative paths of a file start, and the root that they must not leave."""

    directory: Path
    root: Path | None = None  # None: the user's own files may name any path

    def resolve(self, named: str) -> Path | None:
        """None if the path leads out of the root, also through a link."""
        path = Path(os.path.abspath(self.directory / os.path.expanduser(named)))
        if self.root is None or Path(os.path.realpath(path)).is_relative_to(os.path.realpath(self.root)):
            return path
        return None


def default_prompt(name: str, model: str | None = None, tools: tuple[str, ...] | None = None) -> Prompt:
    return Prompt(name, DEFAULT_PROMPT, model, tools)


MODEL_KEYS: Final = ("model", "fallbacks", "context_limit", "base_url")
SERVER_KEYS: Final = ("command", "args", "env", "url", "headers", "timeout")
LSP_KEYS: Final = ("command", "args", "env", "files", "language")
TRIGGER_KEYS: Final = ("id", "cron", "files", "http", "prompt", "agent", "timezone", "open")
KIND_OF_KEY: Final = {"cron": TriggerKind.CRON, "files": TriggerKind.FILE, "http": TriggerKind.HTTP}
STORE_SCHEMES: Final = ("sqlite:", "postgresql:", "postgresql+asyncpg:", "postgres:")
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*", re.ASCII)
_ROUTE: Final = re.compile(r"(?:/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+", re.ASCII)
_HOST: Final = re.compile(r"[A-Za-z0-9_.:-]+", re.ASCII)
_URL: Final = re.compile(r"https?://[^\s/]+\S*")
_MODEL_HINT: Final = "Write provider:model, such as anthropic:claude-sonnet-4-5, or a name from `models`."


def optional_text(at: Node, key: str, hint: str = "") -> str | None:
    place = at.get(key)
    return None if place is None or place.value is None else place.text(hint=hint)


def optional_count(at: Node, key: str) -> int | None:
    place = at.get(key)
    return None if place is None else place.integer(least=1, hint="Leave it out for no limit.")


def optional_names(at: Node, key: str) -> tuple[str, ...] | None:
    place = at.get(key)
    return None if place is None else place.texts()


def read_models(at: Node | None) -> tuple[Declaration[NamedModel], ...]:
    return tuple(_read_entries(at, "models", _read_model))


def read_model_name(at: Node, key: str = "model") -> str | None:
    return optional_text(at, key, _MODEL_HINT)


def read_servers(at: Node | None) -> tuple[Declaration[McpServer], ...]:
    return tuple(_read_entries(at, "mcp", _read_server))


def read_language_servers(at: Node | None) -> tuple[Declaration[LanguageServer], ...]:
    return tuple(_read_entries(at, "lsp", _read_language_server))


def read_triggers(at: Node | None) -> tuple[Declaration[Trigger], ...]:
    if at is None or at.value is None:
        return ()
    found = [(place, _read_trigger(place, index)) for index, place in enumerate(at.items())]
    return tuple(
        Declaration(trigger.id, trigger, at.document.file, place.line)
        for place, trigger in found
        if trigger is not None
    )


def read_skill_folders(at: Node | None, base: BaseDirectory) -> tuple[Path, ...]:
    if at is None or at.value is None:
        return ()
    return tuple(path for place in at.items(one_or_many=True) if (path := _read_folder(place, base)) is not None)


def read_store_url(at: Node | None) -> str | None:
    if at is None or at.value is None:
        return None
    url = at.text()
    if url is None or url.startswith(STORE_SCHEMES):
        return url
    at.add_problem(
        "unknown-store", f"{at.location}: not a store URL.", "Write sqlite:///path/to/file.db or postgresql://…."
    )
    return None


def read_private_hosts(at: Node | None) -> tuple[str, ...]:
    if at is None or at.value is None:
        return ()
    return tuple(host for place in at.items(one_or_many=True) if (host := _read_host(place)) is not None)


def _read_host(at: Node) -> str | None:
    host = at.text()
    if host is None or _HOST.fullmatch(host):
        return host
    at.add_problem(
        "bad-host", f"{at.location}: not a host.", "Write a name or an address; add :PORT to allow only one port."
    )
    return None


def _read_entries(at: Node | None, what: str, read: Callable[[str, Node], T | None]) -> Iterator[Declaration[T]]:
    if at is None or at.value is None or at.mapping() is None:
        return
    for name, place in at.entries():
        if not _NAME.fullmatch(name):
            text = f"{place.location}: {name!r} is not a valid name in {what}."
            place.add_problem("bad-name", text, "Use letters, digits, - and _.", at_key=True)
            continue
        value = read(name, place)
        if value is not None:
            yield Declaration(name, value, at.document.file, at.document.key_line(place.path))


def _read_model(name: str, at: Node) -> NamedModel | None:
    if isinstance(at.value, str):
        return NamedModel(at.value) if at.text(hint=_MODEL_HINT) else None
    at.check_keys(MODEL_KEYS, "a model")
    if at.mapping() is None:
        return None
    model = read_model_name(at)
    if model is None:
        at.add_problem("missing-key", f"{at.location}: model is missing.", "Write model: provider:model.")
        return None
    url_at = at.get("base_url")
    url = None if url_at is None else _read_url(url_at)
    return NamedModel(with_url(model, url), optional_names(at, "fallbacks") or (), optional_count(at, "context_limit"))


def with_url(model: str, url: str | None) -> str:
    """`provider:model@URL`, for another server with the provider's API."""
    return model if url is None else f"{model}@{url}"


def _read_server(name: str, at: Node) -> McpServer | None:
    if not isinstance(at.value, dict):
        command = _read_command(at, None)
        return McpServer(name, command) if command else None
    at.check_keys(SERVER_KEYS, "an MCP server")
    command_at, url_at = at.get("command"), at.get("url")
    if (command_at is None) is (url_at is None):
        at.add_problem("missing-key", f"{at.location}: a server needs either command or url.", "Write one of them.")
        return None
    command = () if command_at is None else _read_command(command_at, at.get("args"))
    url = "" if url_at is None else _read_url(url_at) or ""
    timeout_at = at.get("timeout")
    timeout = None if timeout_at is None else timeout_at.duration()
    if not command and not url:
        return None
    return McpServer(
        name, command, _read_text_map(at, "env"), url, _read_text_map(at, "headers"), timeout or timedelta(seconds=60)
    )


def _read_language_server(name: str, at: Node) -> LanguageServer | None:
    at.check_keys(LSP_KEYS, "a language server")
    if at.mapping() is None:
        return None
    command_at, files_at = at.get("command"), at.get("files")
    if command_at is None or files_at is None:
        text = f"{at.location}: a language server needs command and files."
        at.add_problem("missing-key", text, 'Write command: [ruff, server] and files: ["*.py"].')
        return None
    command, files = _read_command(command_at, at.get("args")), files_at.texts()
    for place in files_at.items(one_or_many=True):
        if isinstance(place.value, str):
            _check_glob(place, place.value)
    language, env = optional_text(at, "language") or "", _read_text_map(at, "env")
    return LanguageServer(name, command, files, language, env) if command and files else None


def _read_command(at: Node, args: Node | None) -> tuple[str, ...]:
    """A list of words, or one text that is split like in a shell. No shell runs it."""
    if isinstance(at.value, str) and args is None:
        try:
            words = tuple(shlex.split(at.value))
        except ValueError as error:
            at.add_problem("bad-command", f"{at.location}: {error}.", "Write the words as a list.")
            return ()
        if not words:
            at.text()
            at.add_problem("empty", f"{at.location}: the command is empty.")
        return words
    words = at.texts() or ()
    more = () if args is None else args.texts(empty=True) or ()
    return (*words, *more) if words else ()


def _read_text_map(at: Node, key: str) -> dict[str, str]:
    place = at.get(key)
    if place is None or place.mapping() is None:
        return {}
    return {name: text for name, value in place.entries() if (text := value.text(empty=True)) is not None}


def _read_url(at: Node) -> str | None:
    url = at.text()
    if url is None or _URL.fullmatch(url):
        return url
    at.add_problem("bad-url", f"{at.location}: not a URL.", "Write http://… or https://….")
    return None


def _read_trigger(at: Node, index: int) -> Trigger | None:
    before = len(at.problems)
    at.check_keys(TRIGGER_KEYS, "a trigger")
    if at.mapping() is None:
        return None
    written = [(key, place) for key in KIND_OF_KEY if (place := at.get(key)) is not None]
    if len(written) != 1:
        at.add_problem(
            "missing-key", f"{at.location}: a trigger needs exactly one of cron, files and http.", "Write one of them."
        )
        return None
    [(key, place)] = written
    kind, when = KIND_OF_KEY[key], place.text()
    zone = optional_text(at, "timezone", "Write a name such as Europe/Berlin.")
    if when is not None:
        _check_trigger(place, kind, when, zone)
    opened = at.get("open")
    prompt = _read_trigger_prompt(at)
    trigger_id = optional_text(at, "id") or f"{key}-{index}"
    is_open = opened is not None and opened.flag() is True
    agent = optional_text(at, "agent")
    if when is None or prompt is None or len(at.problems) > before:
        return None
    return Trigger(trigger_id, kind, when, prompt, agent, zone, is_open)


def _check_trigger(at: Node, kind: TriggerKind, when: str, zone: str | None) -> None:
    match kind:
        case TriggerKind.CRON:
            _check_cron(at, when, zone)
        case TriggerKind.FILE:
            _check_glob(at, when)
        case TriggerKind.HTTP if not _ROUTE.fullmatch(when):
            at.add_problem("bad-route", f"{at.location}: {when!r} is not a route.", "Write a path such as /deploy.")


def _check_cron(at: Node, fields: str, zone: str | None) -> None:
    try:
        next_time(fields, datetime.now(UTC), zone)
    except ImportError:  # without hookline[agent] there is no cronsim to check the fields
        return
    except HooklineError as error:
        at.add_problem("bad-cron", f"{at.location}: {error}.", 'Write five fields, such as "0 9 * * 1-5".')


def _check_glob(at: Node, glob: str) -> None:
    try:
        path_glob(glob)
    except BadPattern as bad:
        at.add_problem("bad-glob", f"{at.location}: {bad}.", 'Write a glob such as "src/**/*.py".')
        return
    if os.path.isabs(glob) or ".." in Path(glob).parts:
        at.add_problem(
            "outside-project", f"{at.location}: this path is outside the workspace.", "Write a path inside it."
        )


def _read_trigger_prompt(at: Node) -> str | None:
    place = at.get("prompt")
    if place is None:
        at.add_problem("missing-key", f"{at.location}: prompt is missing.", "Write what the agent should do.")
        return None
    text = place.text()
    try:
        return None if text is None else prompt_template(text).source
    except BadTemplate as bad:
        hint = "Use {{trigger.path}}, {{trigger.body}} or another fact of the trigger."
        place.add_problem("bad-template", f"{place.location}: {bad.what}.", hint)
        return None


def _read_folder(at: Node, base: BaseDirectory) -> Path | None:
    named = at.text(hint="Write the path of a folder that contains skills.")
    if named is None:
        return None
    path = base.resolve(named)
    if path is None:
        at.add_problem("outside-project", f"{at.location}: {named} is outside the project.", "Name a folder inside it.")
    elif not path.is_dir():
        at.add_problem(
            "no-folder", f"{at.location}: the folder {named} does not exist.", "Name a folder that contains skills."
        )
    else:
        return path
    return None
