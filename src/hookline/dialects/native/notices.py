"""`log:` and `notify:`: actions that tell people something."""

from __future__ import annotations

from typing import Any, Final

from hookline.config.node import Node
from hookline.dialects.native.keys import (
    NOT_WRITTEN,
    TEXT,
    ActionKey,
    HookInfo,
    choice_key,
    compile_template,
    key_table,
    mapping_schema,
    read_mapping,
    read_template,
    template_key,
    text_key,
    write_mapping,
)
from hookline.hooks.actions.notify import LEVELS, Log, Notify
from hookline.hooks.protocols import Action


def _parse_log(value: Node, info: HookInfo, options: dict[str, Any]) -> Action | None:
    if isinstance(value.value, str):
        text = read_template(value, info.vocabulary)
        return None if text is None else Log(text)
    values = read_mapping(value, _LOG_KEYS, "log", info, hint="Write log: {message: …, level: info}.")
    return None if values is None else Log(values["message"], values.get("level", "info"))


_LOG_KEYS: Final = key_table(
    template_key(
        "message",
        required=True,
        help="the line",
        write=lambda log: log.text.source,
        example="message: '{{tool.name}} was called'",
    ),
    choice_key(
        "level",
        LEVELS,
        default="`info`",
        help="`debug`, `info`, `warning` or `error`",
        write=lambda log: log.level,
    ),
)
_LOG: Final = ActionKey(
    "log",
    read=_parse_log,
    write=lambda action, _: write_mapping(_LOG_KEYS, action) if isinstance(action, Log) else NOT_WRITTEN,
    schema=lambda: {"anyOf": [TEXT, mapping_schema(_LOG_KEYS)]},
    mapping=_LOG_KEYS,
    help="a line in the log",
    example="{log: '{{tool.name}} was called'}",
)


def _parse_notify(value: Node, info: HookInfo, options: dict[str, Any]) -> Action | None:
    values: dict[str, Any] | None
    if isinstance(value.value, str):
        text = read_template(value, info.vocabulary)
        values = None if text is None else {"message": text}
    else:
        values = read_mapping(value, _NOTIFY_KEYS, "notify", info, hint="Write notify: {message: …, title: …}.")
    return None if values is None else Notify(**{"title": compile_template(value, "", info.vocabulary), **values})


_NOTIFY_KEYS: Final = key_table(
    template_key(
        "message",
        required=True,
        help="the text",
        write=lambda notify: notify.message.source or NOT_WRITTEN,
        example="message: The build is done.",
    ),
    template_key(
        "title",
        default="nothing",
        help="a title",
        write=lambda notify: notify.title.source or NOT_WRITTEN,
        example="title: Build",
    ),
    choice_key(
        "level",
        ("info", "warning", "error"),
        default="`info`",
        help="`info`, `warning` or `error`",
        write=lambda notify: notify.level or NOT_WRITTEN,
    ),
    text_key(
        "tag",
        default="nothing",
        help="a word by which a host groups notifications",
        write=lambda notify: notify.tag or NOT_WRITTEN,
        example="tag: build",
    ),
)
_NOTIFY: Final = ActionKey(
    "notify",
    read=_parse_notify,
    write=lambda action, _: write_mapping(_NOTIFY_KEYS, action) if isinstance(action, Notify) else NOT_WRITTEN,
    schema=lambda: {"anyOf": [TEXT, mapping_schema(_NOTIFY_KEYS)]},
    mapping=_NOTIFY_KEYS,
    help="a notification for the people who watch the agent",
    example="{notify: {message: Done, level: info}}",
)

NOTICE_KEYS: Final = (_LOG, _NOTIFY)
