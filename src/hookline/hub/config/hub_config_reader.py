"""Reads hub.json or hub.yaml. flo's spellings are accepted beside our own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from hookline.config.node import Node
from hookline.config.problem import Problem, Severity, refuse_errors
from hookline.config.reader import read_file
from hookline.dialects.native.record import parse_keep
from hookline.engine.book import Layer
from hookline.errors import ConfigError
from hookline.hooks.hook_files import HookFile
from hookline.hub.config.hub_config import HubConfig, OidcSettings, TlsFiles, is_origin
from hookline.lazy_dataclasses import replace
from hookline.project.parsed_file import parse_document
from hookline.project.sources import Source, SourceLayer
from hookline.runtime.settings import ExtraHooks

FILE_NAMES: Final = ("hub.yaml", "hub.yml", "hub.json")
_ASK: Final = ("auto", "host", "hub")
_ROLES: Final = ("viewer", "approver", "editor", "owner")
_FRAME: Final = "{frame}"


def find_config_file(config_home: Path) -> Path | None:
    """`config_home` is hookline's own directory there."""
    return next((path for name in FILE_NAMES if (path := config_home / name).is_file()), None)


def read_hub_config(path: Path, defaults: HubConfig) -> tuple[HubConfig, tuple[Problem, ...]]:
    """The settings of the file over the defaults, and its warnings. Raises ConfigError with every error in it."""
    document, problems = read_file(path)
    if document is None:
        raise ConfigError(problems)
    found = list(problems)
    node = Node.of(document, found)
    node.warn_unknown_keys((*_KEYS, *_FLO_KEYS), "the hub's settings", essential=("tls", "hooks", "host", "public_url"))
    lines: dict[str, int] = {}
    values: dict[str, Any] = {"config_file": path, "lines": lines}
    for key, (field, read) in {**_FLO_KEYS, **_KEYS}.items():
        child = node.get(key)
        value = read(child) if child is not None else None
        if child is not None and value is not None:
            values[field], lines[field] = value, child.line
    if (oidc := node.get("oidc")) is not None:
        lines.update({f"oidc.{key}": child.line for key, child in oidc.entries()})
    hooks = node.get("hooks")
    if hooks is not None and hooks.mapping() is not None:
        parsed = parse_document(document, Source(path, path.name, "flo", SourceLayer.NAMED))
        found += [each for each in parsed.problems if each.code != "unknown-key" or each.line >= hooks.line]
        file = HookFile(str(path), path.name, "flo", "hub", document.text)
        values["own_hooks"] = ExtraHooks(Layer("hub", parsed.hooks), (file,))
    for key in ("approvals", "record"):
        if (child := node.get(key)) is not None:
            values |= _read_group(child, _GROUPS[key], key)
    refuse_errors(found)
    config: HubConfig = replace(defaults, **_resolve(values, path.parent))
    return config, tuple(each for each in found if each.severity is not Severity.ERROR)


def _resolve(values: dict[str, Any], directory: Path) -> dict[str, Any]:
    """Paths in the file are relative to it."""

    def absolute(path: Path) -> Path:
        return directory / path.expanduser()

    if "workspaces" in values:
        values["workspaces"] = tuple(absolute(each) for each in values["workspaces"])
    if "agents_path" in values:
        values["agents_path"] = absolute(values["agents_path"])
    if "tls" in values:
        values["tls"] = TlsFiles(absolute(values["tls"].cert), absolute(values["tls"].key))
    return values


def _text(node: Node) -> str | None:
    return node.text()


def _path(node: Node) -> Path | None:
    text = node.text()
    return None if text is None else Path(text)


def _paths(node: Node) -> tuple[Path, ...] | None:
    texts = node.texts()
    return None if texts is None else tuple(Path(each) for each in texts)


def _port(node: Node) -> int | None:
    return node.integer(least=0, most=65535)


def _public_host(node: Node) -> str | None:
    """flo's `publicHost` is a name; it has TLS, as everything that others reach."""
    text = node.text()
    return None if text is None else _with_scheme(text)


def _with_scheme(text: str) -> str:
    return text if "://" in text else f"https://{text}"


def _tls(node: Node) -> TlsFiles | None:
    node.warn_unknown_keys(("cert", "key", "certFile", "keyFile"), "tls", essential=("cert", "key"))
    cert = node.get("cert") or node.get("certFile") or node.require("cert", "Write cert: /path/cert.pem.")
    key = node.get("key") or node.get("keyFile") or node.require("key", "Write key: /path/key.pem.")
    paths = [_path(each) if each is not None else None for each in (cert, key)]
    return TlsFiles(paths[0], paths[1]) if paths[0] is not None and paths[1] is not None else None


def _tools(node: Node) -> dict[str, bool] | None:
    node.warn_unknown_keys(("bash", "filesystem"), "tools", essential=("bash", "filesystem"))
    found = {}
    for name in ("bash", "filesystem"):
        child = node.get(name)
        if child is not None:
            child.warn_unknown_keys(("enabled",), f"tools.{name}", essential=("enabled",))
            enabled = child.get("enabled")
            flag = enabled.flag() if enabled is not None else None
            if flag is not None:
                found[name] = flag
    return found


def _oidc(node: Node) -> OidcSettings | None:
    node.check_keys(("issuer", "client_id", "secret_env", "roles", "default"), "oidc")
    issuer, client = (node.require(name, f"Write {name}: …") for name in ("issuer", "client_id"))
    secret, roles, default = (node.get(name) for name in ("secret_env", "roles", "default"))
    of_groups = {}
    for group, child in roles.entries() if roles is not None and roles.mapping() is not None else ():
        role = child.one_of(_ROLES)
        if role is not None:
            of_groups[group] = role
    texts = [each.text() if each is not None else None for each in (issuer, client)]
    if texts[0] is None or texts[1] is None:
        return None
    secret_env = (secret.text() if secret is not None else None) or ""
    return OidcSettings(texts[0], texts[1], secret_env, of_groups, _role(default) or "")


def _role(node: Node | None) -> str | None:
    return node.one_of(_ROLES) if node is not None else None


def _sandbox_host(node: Node) -> str | None:
    text = node.text()
    if text is not None and _FRAME not in text:
        node.add_problem("wrong-type", f"sandbox_host has no {_FRAME}.", "Write {frame}.sandbox.example.org.")
        return None
    if text is not None and not is_origin(_with_scheme(text.replace(_FRAME, "agent"))):
        node.add_problem("wrong-type", f"sandbox_host: {text!r} is not a name.", "Write {frame}.sandbox.example.org.")
        return None
    return text


def _most(node: Node) -> int | None:
    return node.integer(least=1)


def _ask(node: Node) -> str | None:
    return node.one_of(_ASK)


_Reader = Callable[[Node], Any]
_KEYS: Final[dict[str, tuple[str, _Reader]]] = {
    "name": ("name", _text),
    "host": ("host", _text),
    "port": ("port", _port),
    "public_url": ("public_url", _text),
    "tls": ("tls", _tls),
    "store": ("store", _text),
    "redis": ("redis", _text),
    "peer_url": ("peer_url", _text),
    "workspaces": ("workspaces", _paths),
    "agents_path": ("agents_path", _path),
    "tools": ("tools", _tools),
    "hooks": ("", lambda node: None),
    "approvals": ("", lambda node: None),
    "record": ("", lambda node: None),
    "oidc": ("oidc", _oidc),
    "sandbox_host": ("sandbox_host", _sandbox_host),
}
_FLO_KEYS: Final[dict[str, tuple[str, _Reader]]] = {
    "publicHost": ("public_url", _public_host),
    "sandboxPath": ("agents_path", _path),
    "agentStorePath": ("agents_path", _path),
}
_GROUPS: Final[dict[str, dict[str, tuple[str, _Reader]]]] = {
    "approvals": {"patience": ("approvals_patience", lambda node: node.duration()), "ask": ("approvals_ask", _ask)},
    "record": {"keep": ("record_keep", parse_keep), "most": ("record_most", _most)},
}


def _read_group(node: Node, keys: dict[str, tuple[str, _Reader]], name: str) -> dict[str, Any]:
    node.check_keys(
        keys, name, {"facts": "Write record: {facts: …} into your hookline.yaml: hosts mask before they write."}
    )
    found = {field: read(child) for key, (field, read) in keys.items() if (child := node.get(key)) is not None}
    return {field: value for field, value in found.items() if value is not None}
