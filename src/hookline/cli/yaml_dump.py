"""Writes plain data as readable YAML: keys in order, block style, `on:` without quotes."""

from __future__ import annotations

from typing import Any, Final

import yaml

from hookline.config.scalars import NumberTooLargeError, parse_core_scalar

_NEVER_FOLD: Final = 2**31 - 1
# YAML 1.1 reads these as true; hookline, like every YAML 1.2 reader, as text.
_ON_WORDS: Final = {"on", "On", "ON"}


class _Dumper(yaml.SafeDumper):
    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _represent_mapping(dumper: yaml.SafeDumper, value: dict[str, Any]) -> yaml.MappingNode:
    node = dumper.represent_mapping("tag:yaml.org,2002:map", value.items())
    for key, _ in node.value:
        if key.value in _ON_WORDS:
            key.tag, key.style = _PLAIN_TAG, ""
    return node


def _represent_text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=_scalar_style(value))


def _scalar_style(value: str) -> str | None:
    if not value.replace("\n", "").isprintable():
        return '"'
    if "\n" in value.strip("\n") and all(line == line.rstrip() for line in value.split("\n")):
        return "|"
    return None if _is_text(value) else "'"


def _is_text(word: str) -> bool:
    """Whether YAML 1.2 reads it as text. What YAML 1.1 reads otherwise, the emitter quotes by itself."""
    try:
        return isinstance(parse_core_scalar(word), str)
    except NumberTooLargeError:
        return False


_PLAIN_TAG: Final = "tag:yaml.org,2002:bool"  # the emitter resolves a bare `on` to this tag, so it leaves it bare

_Dumper.add_representer(dict, _represent_mapping)
_Dumper.add_representer(str, _represent_text)


def dump_yaml(value: Any) -> str:
    return yaml.dump(
        value, Dumper=_Dumper, sort_keys=False, width=_NEVER_FOLD, allow_unicode=True, default_flow_style=False
    )
