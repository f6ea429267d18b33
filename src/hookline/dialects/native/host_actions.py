"""`call:`, `pipe:`, `judge:`, `compact:` and `diagnose:`: actions that the host performs."""

from __future__ import annotations

from typing import Any, Final

from hookline.config.node import Node
from hookline.dialects.native.answers import ROLES
from hookline.dialects.native.keys import (
    NOT_WRITTEN,
    OBJECT,
    TEXT,
    ActionKey,
    HookInfo,
    Key,
    add_template_problem,
    choice_key,
    data_key,
    event_template,
    flag_key,
    integer_key,
    key_table,
    mapping_schema,
    read_data_template,
    read_mapping,
    text_key,
    texts_key,
    write_data,
    write_mapping,
    write_unless_event,
)
from hookline.dialects.native.programs import may_by_format
from hookline.errors import BadTemplate
from hookline.hooks.actions.answer import FixedAnswer
from hookline.hooks.actions.ask_model import AskModel
from hookline.hooks.actions.call_tool import CallTool, TellWhen, quote_commands
from hookline.hooks.actions.diagnose import Diagnose
from hookline.hooks.actions.program_result import ResultFormat, ResultParser
from hookline.hooks.outcome import Compact, NotePlace, Outcome
from hookline.hooks.placeholders import PlaceholderResolver
from hookline.hooks.protocols import Action, May
from hookline.hooks.templates import DataTemplate


def _parse_call(value: Node, info: HookInfo, options: dict[str, Any]) -> Action | None:
    tool = value.text()
    if tool is None:
        return None
    reads = options.get("reads")
    input = _read_input(value, tool, options.get("with"), info)
    if input is None:
        return None
    return CallTool(
        tool,
        input,
        tuple(options.get("literal", {}).items()),
        options.get("tell", TellWhen.NEVER),
        options.get("prefix", ""),
        options.get("place", NotePlace.CONTEXT),
        options.get("role", "user"),
        None if reads in (None, ResultFormat.NEVER) else ResultParser(reads),
        options.get("quiet", False),
    )


_CALL: Final = ActionKey(
    "call",
    read=_parse_call,
    write=lambda action, _: action.tool if isinstance(action, CallTool) else NOT_WRITTEN,
    schema=TEXT,
    options=key_table(
        data_key(
            "with",
            default="`{}`",
            help="the tool's input, with placeholders",
            write=lambda action, _: write_data(action.input),
            example="with: {path: '{{input.path}}'}",
        ),
        Key(
            "literal",
            read=lambda at, _: at.mapping(),
            write=lambda action, _: dict(action.literal) or NOT_WRITTEN,
            schema=OBJECT,
            default="`{}`",
            help="more input, without placeholders",
            example="literal: {fix: true}",
        ),
        choice_key(
            "tell",
            TellWhen,
            default="`never`",
            help="when the agent gets the tool's result: `never`, `errors`, `always`",
            write=lambda action, _: NOT_WRITTEN if action.tell is TellWhen.NEVER else str(action.tell),
        ),
        text_key(
            "prefix",
            empty=True,
            default="`''`",
            help="text before what the agent gets",
            write=lambda action, _: action.prefix or NOT_WRITTEN,
            example="prefix: 'Lint: '",
        ),
        choice_key(
            "place",
            NotePlace,
            default="`context`",
            help="where the agent gets it, as for `tell`",
            write=lambda action, _: NOT_WRITTEN if action.place is NotePlace.CONTEXT else str(action.place),
        ),
        choice_key(
            "role",
            ROLES,
            default="`user`",
            help="of a `message`: `user`, `assistant`, `system`",
            write=lambda action, _: NOT_WRITTEN if action.role == "user" else action.role,
        ),
        flag_key(
            "quiet",
            default="`false`",
            help="a failure of the call is only logged, as debug output, and counts as nothing",
            write=lambda action, _: action.is_quiet or NOT_WRITTEN,
        ),
        choice_key(
            "reads",
            ResultFormat,
            default="`never`",
            help="how the tool's result is read, as if it were stdout after exit code 0",
            write=lambda action, _: NOT_WRITTEN if action.result_parser is None else str(action.result_parser.format),
        ),
    ),
    intended=may_by_format(lambda info: ResultFormat.NEVER),
    help="call a tool of the host",
    example="{call: linter, with: {path: '{{input.path}}'}, tell: errors}",
)


def _parse_pipe(value: Node, info: HookInfo, options: dict[str, Any]) -> Action | None:
    values = read_mapping(value, _PIPE_KEYS, "pipe", info, hint="Write pipe: {to: a tool, map: {field: …}}.")
    if values is None:
        return None
    input = _read_input(value, values["to"], values.get("map"), info)
    return None if input is None else CallTool(values["to"], input, tuple(values.get("extra", {}).items()))


def _read_input(at: Node, tool: str, given: DataTemplate | None, info: HookInfo) -> DataTemplate | None:
    """The input of a call; None after a problem."""
    try:
        return quote_commands(tool, given or DataTemplate({}), PlaceholderResolver(info.vocabulary))
    except BadTemplate as bad:
        add_template_problem(at, bad)
        return None


_PIPE_KEYS: Final = key_table(
    text_key("to", required=True, help="the tool", example="to: indexer"),
    data_key("map", default="`{}`", help="its input, with placeholders", example="map: {text: '{{prompt}}'}"),
    Key(
        "extra",
        read=lambda at, _: at.mapping(),
        schema=OBJECT,
        default="`{}`",
        help="more input, without placeholders",
        example="extra: {limit: 10}",
    ),
)
_PIPE: Final = ActionKey(  # a call, and written as one
    "pipe",
    read=_parse_pipe,
    schema=lambda: mapping_schema(_PIPE_KEYS),
    mapping=_PIPE_KEYS,
    help="hand facts to another tool",
    example="{pipe: {to: indexer, map: {text: '{{prompt}}'}}}",
    example_event="prompt.submit",
)


def _parse_judge(value: Node, info: HookInfo, options: dict[str, Any]) -> Action | None:
    prompt = value.text()
    if prompt is None:
        return None
    return AskModel(prompt, options.get("with") or event_template(info.vocabulary), bool(options.get("investigate")))


_JUDGE: Final = ActionKey(
    "judge",
    read=_parse_judge,
    write=lambda action, _: action.prompt if isinstance(action, AskModel) else NOT_WRITTEN,
    schema=TEXT,
    options=key_table(
        Key(
            "with",
            read=lambda at, info: read_data_template(at, info.vocabulary),
            write=lambda action, _: write_unless_event(action.arguments),
            schema={},
            null_is_value=True,
            default="the event",
            help="what replaces `$ARGUMENTS` in the prompt, or follows the prompt if that has none",
            example="with: '{{input.command}}'",
        ),
        flag_key(
            "investigate",
            default="`false`",
            help="`true`: the model may read files of the workspace before it answers",
            write=lambda action, _: action.investigates or NOT_WRITTEN,
        ),
    ),
    intended=lambda at, info: May.DENY,
    help="ask the host's model",
    example="{judge: 'Does this command delete anything? $ARGUMENTS'}",
)


def _parse_compact(value: Node, info: HookInfo, options: dict[str, Any]) -> Action | None:
    if value.value is True or value.value is None:
        return FixedAnswer(Outcome(requests=(Compact(),)))
    values = read_mapping(value, _COMPACT_KEYS, "compact", info)
    return None if values is None else FixedAnswer(Outcome(requests=(Compact(**values),)))


def _write_compact(action: Action, info: HookInfo) -> Any:
    match action:
        case FixedAnswer(Outcome(requests=(request,)) as outcome) if outcome == Outcome(requests=(request,)):
            return write_mapping(_COMPACT_KEYS, request)
    return NOT_WRITTEN


_COMPACT_KEYS: Final = key_table(
    choice_key(
        "strategy",
        ("summarize", "truncate"),
        default="`summarize`",
        help="`summarize` or `truncate`",
        write=lambda request: request.strategy,
    ),
    integer_key(
        "keep_recent",
        least=0,
        default="`10`",
        help="how many of the latest messages to keep",
        write=lambda request: request.keep_recent,
        example="keep_recent: 20",
    ),
    integer_key(
        "summary_max_tokens",
        least=1,
        default="`1024`",
        help="how long a summary may be",
        write=lambda request: request.summary_max_tokens,
        example="summary_max_tokens: 2000",
    ),
    text_key(
        "summary_prompt",
        default="the host's",
        help="the prompt for the model",
        write=lambda request: NOT_WRITTEN if request.summary_prompt is None else request.summary_prompt,
        example="summary_prompt: Keep every file name.",
    ),
    Key(
        "target_pressure",
        read=lambda at, _: at.number(least=0, most=1),
        write=lambda request: NOT_WRITTEN if request.target_pressure is None else request.target_pressure,
        schema={"type": "number", "minimum": 0, "maximum": 1},
        default="none",
        help="how far to shorten, from 0 to 1",
        example="target_pressure: 0.5",
    ),
)
_COMPACT: Final = ActionKey(
    "compact",
    read=_parse_compact,
    write=_write_compact,
    schema=lambda: {"anyOf": [{"const": True}, {"type": "null"}, mapping_schema(_COMPACT_KEYS)]},
    mapping=_COMPACT_KEYS,
    help="ask the host to shorten the history once all hooks are done",
    example="{compact: {keep_recent: 20}}",
    example_event="turn.start",
)


def _parse_diagnose(value: Node, info: HookInfo, options: dict[str, Any]) -> Action | None:
    if value.value is True:
        return Diagnose()
    values = read_mapping(value, _DIAGNOSE_KEYS, "diagnose", info)
    return None if values is None else Diagnose(**{_DIAGNOSE_FIELDS.get(name, name): values[name] for name in values})


def _write_diagnose(action: Action, info: HookInfo) -> Any:
    if not isinstance(action, Diagnose):
        return NOT_WRITTEN
    return True if action == Diagnose() else write_mapping(_DIAGNOSE_KEYS, action)


_DIAGNOSE_FIELDS: Final = {"path": "path_fields", "content": "content_fields"}
_DIAGNOSE_KEYS: Final = key_table(
    texts_key(
        "path",
        default="`[path, file_path]`",
        help="input fields; the first one that is text is the path",
        write=lambda action: list(action.path_fields),
        example="path: file_path",
    ),
    texts_key(
        "content",
        default="`[content]`",
        help="input fields; the first one that is text is the content",
        write=lambda action: list(action.content_fields),
        example="content: [content, text]",
    ),
    flag_key("publish", default="`true`", help="notify the people who watch", write=lambda action: action.publish),
    flag_key(
        "inject",
        default="`true`",
        help="add the diagnostics to the tool's result",
        write=lambda action: action.inject,
    ),
    flag_key(
        "read_from_disk",
        default="`true`",
        help="read the file if no field has its content, inside the workspace only",
        write=lambda action: action.read_from_disk,
    ),
)
_DIAGNOSE: Final = ActionKey(
    "diagnose",
    read=_parse_diagnose,
    write=_write_diagnose,
    schema=lambda: {"anyOf": [{"const": True}, mapping_schema(_DIAGNOSE_KEYS)]},
    mapping=_DIAGNOSE_KEYS,
    help="let the language server check a file that a tool wrote",
    example="{diagnose: true}",
    example_event="tool.after",
)

HOST_KEYS: Final = (_CALL, _PIPE, _JUDGE, _COMPACT, _DIAGNOSE)
