"""The parts of an app that every format writes alike: models, servers, triggers, folders of skills."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, TypeVar

from hookline.config.shape import Reader
from hookline.errors import HooklineError
from hookline.hooks.template import BadTemplate
from hookline.patterns.globs import path_glob
from hookline.patterns.pattern import BadPattern
from hookline.runtime.app import LanguageServer, ModelNamed, Server, Trigger, TriggerKind
from hookline.runtime.apps.described import Base, Placed
from hookline.runtime.triggers.fired import prompt_template

T = TypeVar("T")

MODEL_KEYS: Final = ("model", "fallbacks", "context_limit", "base_url")
SERVER_KEYS: Final = ("command", "args", "env", "url", "headers", "timeout")
LSP_KEYS: Final = ("command", "args", "env", "files", "language")
TRIGGER_KEYS: Final = ("id", "cron", "files", "http", "prompt", "agent", "timezone", "open")
KIND_OF_KEY: Final = {"cron": TriggerKind.CRON, "files": TriggerKind.FILE, "http": TriggerKind.HTTP}
STORES: Final = ("sqlite:", "postgresql:", "postgresql+asyncpg:", "postgres:")
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*", re.ASCII)
_ROUTE: Final = re.compile(r"(?:/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+", re.ASCII)
_HOST: Final = re.compile(r"[A-Za-z0-9_.:-]+", re.ASCII)
_URL: Final = re.compile(r"https?://[^\s/]+\S*")
_MODEL_HINT: Final = "Write provider:model, such as anthropic:claude-sonnet-4-5, or a name of models."


def optional(at: Reader, key: str, hint: str = "") -> str | None:
    place = at.get(key)
    return None if place is None or place.value is None else place.text(hint=hint)


def count(at: Reader, key: str) -> int | None:
    place = at.get(key)
    return None if place is None else place.whole(least=1, hint="Leave it out for no limit of its own.")


def names(at: Reader, key: str) -> tuple[str, ...] | None:
    place = at.get(key)
    return None if place is None else place.texts()


def models(at: Reader | None) -> tuple[Placed[ModelNamed], ...]:
    return tuple(_each(at, "models", _model))


def model_of(at: Reader, key: str = "model") -> str | None:
    return optional(at, key, _MODEL_HINT)


def servers(at: Reader | None) -> tuple[Placed[Server], ...]:
    return tuple(_each(at, "mcp", _server))


def language_servers(at: Reader | None) -> tuple[Placed[LanguageServer], ...]:
    return tuple(_each(at, "lsp", _language_server))


def triggers(at: Reader | None) -> tuple[Placed[Trigger], ...]:
    if at is None or at.value is None:
        return ()
    found = [(place, _trigger(place, index)) for index, place in enumerate(at.items())]
    return tuple(
        Placed(trigger.id, trigger, at.document.file, place.line) for place, trigger in found if trigger is not None
    )


def skills(at: Reader | None, base: Base) -> tuple[Path, ...]:
    if at is None or at.value is None:
        return ()
    return tuple(path for place in at.items(one_or_many=True) if (path := _folder(place, base)) is not None)


def store(at: Reader | None) -> str | None:
    if at is None or at.value is None:
        return None
    url = at.text()
    if url is None or url.startswith(STORES):
        return url
    at.problem("unknown-store", f"{at.place}: this is no store.", "Write sqlite:///path/to/file.db or postgresql://….")
    return None


def private_hosts(at: Reader | None) -> tuple[str, ...]:
    if at is None or at.value is None:
        return ()
    return tuple(host for place in at.items(one_or_many=True) if (host := _host(place)) is not None)


def _host(at: Reader) -> str | None:
    host = at.text()
    if host is None or _HOST.fullmatch(host):
        return host
    at.problem("bad-host", f"{at.place}: this is no host.", "Write a name or an address, with :PORT for one port only.")
    return None


def _each(at: Reader | None, what: str, read: Callable[[str, Reader], T | None]) -> Iterator[Placed[T]]:
    if at is None or at.value is None or at.mapping() is None:
        return
    for name, place in at.entries():
        if not _NAME.fullmatch(name):
            text = f"{place.place}: {name!r} is no name for one of {what}."
            place.problem("bad-name", text, "Use letters, digits, - and _.", at_key=True)
            continue
        value = read(name, place)
        if value is not None:
            yield Placed(name, value, at.document.file, at.document.key_line(place.path))


def _model(name: str, at: Reader) -> ModelNamed | None:
    if isinstance(at.value, str):
        return ModelNamed(at.value) if at.text(hint=_MODEL_HINT) else None
    at.keys(MODEL_KEYS, "a model")
    if at.mapping() is None:
        return None
    model = model_of(at)
    if model is None:
        at.problem("missing-key", f"{at.place}: model is missing.", "Write model: provider:model.")
        return None
    url_at = at.get("base_url")
    url = None if url_at is None else _url(url_at)
    return ModelNamed(located(model, url), names(at, "fallbacks") or (), count(at, "context_limit"))


def located(model: str, url: str | None) -> str:
    """`provider:model@URL`, for a server that speaks the provider's API."""
    return model if url is None else f"{model}@{url}"


def _server(name: str, at: Reader) -> Server | None:
    if not isinstance(at.value, dict):
        command = _command(at, None)
        return Server(name, command) if command else None
    at.keys(SERVER_KEYS, "an MCP server")
    command_at, url_at = at.get("command"), at.get("url")
    if (command_at is None) is (url_at is None):
        at.problem("missing-key", f"{at.place}: a server has a command or a url.", "Write one of them.")
        return None
    command = () if command_at is None else _command(command_at, at.get("args"))
    url = "" if url_at is None else _url(url_at) or ""
    timeout_at = at.get("timeout")
    timeout = None if timeout_at is None else timeout_at.duration()
    if not command and not url:
        return None
    return Server(name, command, _texts(at, "env"), url, _texts(at, "headers"), timeout or timedelta(seconds=60))


def _language_server(name: str, at: Reader) -> LanguageServer | None:
    at.keys(LSP_KEYS, "a language server")
    if at.mapping() is None:
        return None
    command_at, files_at = at.get("command"), at.get("files")
    if command_at is None or files_at is None:
        text = f"{at.place}: a language server has a command and files."
        at.problem("missing-key", text, 'Write command: [ruff, server] and files: ["*.py"].')
        return None
    command, files = _command(command_at, at.get("args")), files_at.texts()
    for place in files_at.items(one_or_many=True):
        if isinstance(place.value, str):
            _glob(place, place.value)
    language, env = optional(at, "language") or "", _texts(at, "env")
    return LanguageServer(name, command, files, language, env) if command and files else None


def _command(at: Reader, args: Reader | None) -> tuple[str, ...]:
    """Words, or one text that is split into words as a shell would, and given to none."""
    if isinstance(at.value, str) and args is None:
        try:
            words = tuple(shlex.split(at.value))
        except ValueError as error:
            at.problem("bad-command", f"{at.place}: {error}.", "Write the words as a list.")
            return ()
        if not words:
            at.text()
            at.problem("empty", f"{at.place}: the command is empty.")
        return words
    words = at.texts() or ()
    more = () if args is None else args.texts(empty=True) or ()
    return (*words, *more) if words else ()


def _texts(at: Reader, key: str) -> dict[str, str]:
    place = at.get(key)
    if place is None or place.mapping() is None:
        return {}
    return {name: text for name, value in place.entries() if (text := value.text(empty=True)) is not None}


def _url(at: Reader) -> str | None:
    url = at.text()
    if url is None or _URL.fullmatch(url):
        return url
    at.problem("bad-url", f"{at.place}: this is no address.", "Write http://… or https://….")
    return None


def _trigger(at: Reader, index: int) -> Trigger | None:
    before = len(at.problems)
    at.keys(TRIGGER_KEYS, "a trigger")
    if at.mapping() is None:
        return None
    written = [(key, place) for key in KIND_OF_KEY if (place := at.get(key)) is not None]
    if len(written) != 1:
        at.problem("missing-key", f"{at.place}: a trigger has one of cron, files and http.", "Write one of them.")
        return None
    [(key, place)] = written
    kind, when = KIND_OF_KEY[key], place.text()
    zone = optional(at, "timezone", "Write a name such as Europe/Berlin.")
    if when is not None:
        _check(place, kind, when, zone)
    opened = at.get("open")
    prompt = _prompt(at)
    trigger_id = optional(at, "id") or f"{key}-{index}"
    is_open = opened is not None and opened.flag() is True
    agent = optional(at, "agent")
    if when is None or prompt is None or len(at.problems) > before:
        return None
    return Trigger(trigger_id, kind, when, prompt, agent, zone, is_open)


def _check(at: Reader, kind: TriggerKind, when: str, zone: str | None) -> None:
    match kind:
        case TriggerKind.CRON:
            _check_time(at, when, zone)
        case TriggerKind.FILE:
            _glob(at, when)
        case TriggerKind.HTTP if not _ROUTE.fullmatch(when):
            at.problem("bad-route", f"{at.place}: {when!r} is no route.", "Write a path such as /deploy.")


def _check_time(at: Reader, fields: str, zone: str | None) -> None:
    from hookline.runtime.triggers.cron import next_time

    try:
        next_time(fields, datetime.now(UTC), zone)
    except HooklineError as error:
        at.problem("bad-cron", f"{at.place}: {error}.", 'Write five fields, such as "0 9 * * 1-5".')


def _glob(at: Reader, glob: str) -> None:
    from hookline.runtime.triggers.files import watchable

    try:
        path_glob(glob)
    except BadPattern as bad:
        at.problem("bad-glob", f"{at.place}: {bad}.", 'Write a glob such as "src/**/*.py".')
        return
    if not watchable(glob):
        at.problem("outside-project", f"{at.place}: this leads out of the workspace.", "Write a path inside of it.")


def _prompt(at: Reader) -> str | None:
    place = at.get("prompt")
    if place is None:
        at.problem("missing-key", f"{at.place}: prompt is missing.", "Write what the agent shall do.")
        return None
    text = place.text()
    try:
        return None if text is None else prompt_template(text).source
    except BadTemplate as bad:
        hint = "Placeholders are {{trigger.path}}, {{trigger.body}} and other facts of the trigger."
        place.problem("bad-template", f"{place.place}: {bad.what}.", hint)
        return None


def _folder(at: Reader, base: Base) -> Path | None:
    named = at.text(hint="Write the path of a folder that holds skills.")
    if named is None:
        return None
    path = base.path(named)
    if path is None:
        at.problem("outside-project", f"{at.place}: {named} is outside of the project.", "Name a folder inside of it.")
    elif not path.is_dir():
        at.problem("no-folder", f"{at.place}: there is no folder {named}.", "Name a folder that holds skills.")
    else:
        return path
    return None
