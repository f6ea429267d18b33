"""`ahp:`: the action that asks a backend of the Agent Hooks Protocol."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlsplit

from hookline.config.node import Node
from hookline.dialects.conversion import NotExpressible
from hookline.dialects.native.keys import (
    ANY_TEXT,
    NOT_WRITTEN,
    TEXT,
    ActionKey,
    HookInfo,
    Key,
    key_table,
    texts_key,
)
from hookline.dialects.native.programs import parse_program
from hookline.hooks.actions.ask_backend import INTERCEPTED, OBSERVED, VERSIONS, AskBackend
from hookline.hooks.actions.post import URL_PATTERN
from hookline.hooks.actions.run_program import CommandTemplate
from hookline.hooks.protocols import Action, May

_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")


def _parse_ahp(value: Node, info: HookInfo, options: dict[str, Any]) -> Action | None:
    known = (*INTERCEPTED, *OBSERVED)
    if info.event not in known:
        what = f"{value.location}: the Agent Hooks Protocol has no event like {info.event}."
        value.add_problem("bad-backend", what, f"It has {', '.join(known)}.")
        return None
    backend = _parse_program(value, info) if isinstance(value.value, list) else _parse_url(value)
    if backend is None:
        return None
    versions = options.get("versions") or VERSIONS
    return AskBackend(backend, info.timeout, tuple(versions), options.get("headers", ()), options.get("variables", ()))


def _parse_program(value: Node, info: HookInfo) -> CommandTemplate | None:
    argv = parse_program(value, info)
    return None if argv is None else CommandTemplate(argv=argv)


def _parse_url(value: Node) -> str | None:
    url = value.text()
    if url is None:
        return None
    if not URL_PATTERN.fullmatch(url):
        what = f"{value.location}: this is neither a URL nor a list of a program and its arguments."
        value.add_problem("bad-backend", what, "Write https://…, or [program, argument].")
        return None
    if not url.startswith("https://") and urlsplit(url).hostname not in _LOOPBACK:
        what = f"{value.location}: the protocol wants https for another machine."
        value.add_problem("bad-url", what, "Write https://….")
        return None
    return url


def _write_ahp(action: Action, info: HookInfo) -> Any:
    if not isinstance(action, AskBackend):
        return NOT_WRITTEN
    if action.timeout != info.timeout:
        raise NotExpressible("a backend with a timeout other than its hook's")
    if isinstance(action.backend, str):
        return action.backend
    return [part.source for part in action.backend.argv]


def _parse_headers(at: Node, info: HookInfo) -> tuple[tuple[str, str], ...]:
    return tuple((name, place.text(empty=True) or "") for name, place in at.entries())


def _parse_versions(at: Node, info: HookInfo) -> tuple[str, ...]:
    found = [place.one_of(VERSIONS) for place in at.items(one_or_many=True)]
    return tuple(version for version in found if version is not None)


AHP_KEY: Final = ActionKey(
    "ahp",
    read=_parse_ahp,
    write=_write_ahp,
    schema={
        "anyOf": [
            {"type": "string", "pattern": f"^{URL_PATTERN.pattern}$"},
            {"type": "array", "items": TEXT, "minItems": 1},
        ]
    },
    options=key_table(
        Key(
            "versions",
            read=_parse_versions,
            write=lambda action, _: NOT_WRITTEN if action.versions == VERSIONS else list(action.versions),
            schema={
                "anyOf": [
                    {"enum": list(VERSIONS)},
                    {"type": "array", "items": {"enum": list(VERSIONS)}, "minItems": 1},
                ]
            },
            default="`[draft, '0.1']`",
            help="the versions of the protocol that may be spoken, the preferred one first",
            example="versions: draft",
        ),
        Key(
            "headers",
            read=_parse_headers,
            write=lambda action, _: dict(action.headers) or NOT_WRITTEN,
            schema={"type": "object", "additionalProperties": ANY_TEXT},
            default="`{}`",
            help="headers for a URL, in which `$NAME` stands for an environment variable",
            example="headers: {Authorization: Bearer $TOKEN}",
        ),
        texts_key(
            "variables",
            write=lambda action, _: list(action.variables) or NOT_WRITTEN,
            default="`[]`",
            help="the environment variables that the headers may name",
            example="variables: [TOKEN]",
        ),
    ),
    intended=lambda at, info: May.DENY | May.ASK,
    help="ask a backend of the Agent Hooks Protocol",
    example="{ahp: [policy-backend, serve]}",
)
