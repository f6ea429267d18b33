"""`when:` is a mapping of conditions that must all be true, or a list of such mappings."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from hookline.config.node import Node, enclosing_hook_id
from hookline.dialects.native.key_hints import KIND_HINTS, condition_hints
from hookline.dialects.native.keys import (
    CUSTOM,
    FACT,
    FLAG,
    NOT_WRITTEN,
    NUMBER,
    SOME_TEXTS,
    TEXT,
    HookInfo,
    Key,
    LazyKeys,
    Schema,
    enum_schema,
    flag_key,
    integer_key,
    integer_schema,
    key_table,
    list_schema,
    mapping_schema,
    read_mapping,
    text_key,
    write_mapping,
)
from hookline.dialects.native.value_tests import (
    LONG_TEST,
    TEST,
    TEST_MAPPING,
    TESTS,
    any_of,
    match_any,
    parse_test,
    require_all,
    write_pattern,
)
from hookline.dialects.tool_names import resolve_tool_names
from hookline.hooks.conditions.logic import ALWAYS, NEVER_HOLDS, All, Always, AnyOf, Never, Not, all_of
from hookline.hooks.conditions.text import Equals, Exists, Fact, Matches, RecentMessagesContain, ShellCommands
from hookline.hooks.conditions.tool import ToolKindIs
from hookline.hooks.event import FactPath, fact_path, path_source
from hookline.hooks.events import EVENTS
from hookline.hooks.protocols import Condition, Subject, TextPattern
from hookline.hooks.tool_input import ToolField, tool_field
from hookline.hooks.tool_name import ToolName
from hookline.hooks.tools import VOCABULARIES, ToolKind
from hookline.lazy_imports import lazy_class, lazy_pattern
from hookline.patterns.matchers import Shorthand, shorthand
from hookline.patterns.pattern import BadPattern, pattern

if TYPE_CHECKING:
    from hookline.hooks.conditions.numbers import Comparison, CustomCondition, ExpressionCondition
else:
    Comparison = lazy_class("hookline.hooks.conditions.numbers", "Comparison")
    CustomCondition = lazy_class("hookline.hooks.conditions.numbers", "CustomCondition")
    ExpressionCondition = lazy_class("hookline.hooks.conditions.numbers", "ExpressionCondition")

EXPRESSION_NAMES: Final[dict[str, FactPath]] = {
    "turn": ("turn", "number"),
    "tools": ("session", "tool_calls"),
    "messages": ("messages",),
    "pressure": ("context", "pressure"),
    "tokens": ("context", "tokens"),
    "max_turns": ("turn", "max"),
}
_PLAIN_NAME: Final = lazy_pattern(r"[\w.:-]+")  # means the same as a glob

_KIND: Final[Schema] = enum_schema(ToolKind)

_CONDITION_HINTS: Final = condition_hints()


def parse_condition(at: Node | None, info: HookInfo) -> Condition | None:
    """None after a problem. Without `when`, a hook's condition is always true."""
    if at is None:
        return ALWAYS
    if isinstance(at.value, list):
        return _parse_all(at, info)
    if at.value == "always" or at.value == "never":
        return ALWAYS if at.value == "always" else NEVER_HOLDS
    at.check_keys(CONDITIONS, "when", _CONDITION_HINTS)
    if at.mapping() is None:
        return None
    parts = require_all([CONDITIONS[key].read(place, info) for key, place in at.entries() if key in CONDITIONS])
    known = all(key in CONDITIONS for key in at.value)
    return all_of(parts) if parts is not None and known else None


def write_condition(condition: Condition) -> Any:
    """A mapping, or `never`. An empty mapping is always true."""
    match condition:
        case Always():
            return {}
        case Never():
            return "never"
        case All(parts):
            return _write_all(parts)
    for key in CONDITIONS.values():
        value = key.write(condition)
        if value is not NOT_WRITTEN:
            return {key.name: value}
    from hookline.dialects.conversion import NotExpressible

    raise NotExpressible(condition=condition)


def _write_all(parts: tuple[Condition, ...]) -> Any:
    """One mapping where no two parts need the same key, else a list."""
    values = [write_condition(part) for part in parts]
    merged: dict[str, Any] = {}
    for value in values:
        if not isinstance(value, dict) or not _merge_keys(merged, value):
            return {"all": values}
    return merged


def _merge_keys(into: dict[str, Any], value: dict[str, Any]) -> bool:
    for key, written in value.items():
        if key in ("input", "fact") and key in into:
            if set(into[key]) & set(written):
                return False
            into[key] = {**into[key], **written}
        elif key in into:
            return False
        else:
            into[key] = written
    return True


def _parse_all(at: Node, info: HookInfo) -> Condition | None:
    parts = require_all([parse_condition(place, info) for place in at.items()])
    return None if parts is None else all_of(parts)


def _parse_any(at: Node, info: HookInfo) -> Condition | None:
    parts = require_all([parse_condition(place, info) for place in at.items()])
    return AnyOf(tuple(parts)) if parts is not None and at.sequence() is not None else None


def _write_any(condition: Condition) -> Any:
    return [write_condition(part) for part in condition.parts] if isinstance(condition, AnyOf) else NOT_WRITTEN


def _parse_not(at: Node, info: HookInfo) -> Condition | None:
    part = parse_condition(at, info)
    return None if part is None else Not(part)


def _write_not(condition: Condition) -> Any:
    return write_condition(condition.part) if isinstance(condition, Not) else NOT_WRITTEN


def _parse_tool(at: Node, info: HookInfo) -> Condition | None:
    """Names, in which `*` and `?` are wildcards, and /patterns/; the long form is a test of the name."""
    if type(at.value) is str and (known := _named_tool(at.value, info.vocabulary.name)) is not None:
        return known
    subject = ToolName(info.vocabulary)
    if isinstance(at.value, dict):
        parsed = parse_test(at, subject, ("tool", "name"))
        return None if parsed is None else resolve_tool_names(parsed)
    names = at.some_texts()
    if names is None:
        return None
    for name in names:
        if "/" in name and not (len(name) > 2 and name.startswith("/") and name.endswith("/")):
            at.add_problem("bad-pattern", f"{at.location}: {name} is not a tool's name.", "Write a pattern as /…/.")
            return None
    if not any(name.startswith("/") for name in names):
        names = ("|".join(names),)
    matched = match_any(at, subject, _tool_pattern, names)
    return None if matched is None else resolve_tool_names(matched)


@lru_cache(maxsize=1024)
def _named_tool(name: str, vocabulary: str) -> Condition | None:
    """Of a plain name or /pattern/: thousands of rules of one file name the same few tools. None if it needs a closer look."""
    if not _PLAIN_NAME.fullmatch(name) and not (len(name) > 2 and name[0] == name[-1] == "/"):
        return None
    try:
        return resolve_tool_names(Matches(ToolName(VOCABULARIES[vocabulary]), _tool_pattern(name)))
    except BadPattern:
        return None


def _tool_pattern(name: str) -> TextPattern:
    return pattern(name[1:-1]) if name.startswith("/") else shorthand("tool", name)


def _write_tool(condition: Condition) -> Any:
    match condition:
        case Matches(ToolName(), compiled):
            return _write_tool_pattern(compiled)
    return NOT_WRITTEN


def _write_tool_pattern(compiled: TextPattern) -> Any:
    """Names where they are enough, else the long form."""
    if isinstance(compiled, Shorthand) and compiled.word == "tool":
        names = [name.strip() for name in compiled.text.split("|")]
        if all(names) and not any("/" in name for name in names):
            return names[0] if len(names) == 1 else names
        if all(name and not set(name) & set("?[") for name in names):
            return {"like": names[0] if len(names) == 1 else names}
    if isinstance(compiled, Shorthand) and compiled.word == "exactly" and _PLAIN_NAME.fullmatch(compiled.text):
        return compiled.text
    written = write_pattern(compiled)
    return {"matches": written} if isinstance(written, str) else written


def _parse_kind(at: Node, info: HookInfo) -> Condition | None:
    kinds = require_all([_parse_kind_name(place) for place in at.items(one_or_many=True)])
    return None if kinds is None else any_of([ToolKindIs(ToolKind(kind)) for kind in kinds])


def _parse_kind_name(at: Node) -> str | None:
    hint = KIND_HINTS.get(at.value.lower(), "") if isinstance(at.value, str) else ""
    return at.one_of([str(kind) for kind in ToolKind], hint=hint)


def _write_kind(condition: Condition) -> Any:
    return str(condition.kind) if isinstance(condition, ToolKindIs) else NOT_WRITTEN


def _parse_input(at: Node, info: HookInfo) -> Condition | None:
    return _parse_each(at, info, _parse_field)


def _parse_field(name: str, at: Node, info: HookInfo) -> Condition | None:
    path = _field_path(name)
    return parse_test(at, tool_field(path[2:], info.vocabulary.name), path)


@lru_cache(maxsize=1024)
def _field_path(name: str) -> FactPath:
    return fact_path(f"input.{name}") or ("tool", "input", name)


def _write_input(condition: Condition) -> Any:
    match condition:
        case Matches(ToolField(path, _, only_text) | ShellCommands(ToolField(path, _, only_text)), compiled):
            written = write_pattern(compiled)
            if only_text:
                written = {**(written if isinstance(written, dict) else {"matches": written}), "only_text": True}
            return {path_source(path): written}
    return NOT_WRITTEN


def _parse_facts(at: Node, info: HookInfo) -> Condition | None:
    return _parse_each(at, info, _parse_fact)


def _parse_fact(name: str, at: Node, info: HookInfo) -> Condition | None:
    path = fact_path(name)
    if path is None:
        facts = ", ".join(EVENTS[info.event].facts) or "only the facts that every event has"
        at.add_problem("unknown-fact", f"{name} is not a fact.", f"{info.event} has {facts}.", at_key=True)
        return None
    is_input = path[:2] == ("tool", "input") and path[2:]
    subject: Subject = tool_field(path[2:], info.vocabulary.name) if is_input else Fact(path)
    return parse_test(at, subject, path)


def _parse_each(at: Node, info: HookInfo, parse: Callable[[str, Node, HookInfo], Condition | None]) -> Condition | None:
    if at.mapping() is None:
        return None
    parts = require_all([parse(name, place, info) for name, place in at.entries()])
    return None if parts is None else all_of(parts)


def _write_fact(condition: Condition) -> Any:
    from hookline.hooks.conditions.numbers import Comparison, MultipleOf

    match condition:
        case Matches(Fact(("error", "code")), Shorthand("tool")):
            return NOT_WRITTEN
        case Matches(Fact(path) | ShellCommands(Fact(path)), compiled):
            return {path_source(path): write_pattern(compiled)}
        case Equals(path) | Exists(path) | Comparison(path) | MultipleOf(path):
            return {path_source(path): write_mapping(TESTS, condition)}
    return NOT_WRITTEN


def _fact_parser(path: FactPath) -> Callable[[Node, HookInfo], Condition | None]:
    return lambda at, info: parse_test(at, Fact(path), path)


def _number_parser(path: FactPath) -> Callable[[Node, HookInfo], Condition | None]:
    """A bare number means: more than this."""

    def parse(at: Node, info: HookInfo) -> Condition | None:
        if isinstance(at.value, dict):
            return parse_test(at, Fact(path), path)
        number = at.number(hint="Write a number, or {at_least: …}, {below: …}, {every: …}.")
        return None if number is None else Comparison(path, "above", number)

    return parse


def _parse_turn(at: Node, info: HookInfo) -> Condition | None:
    """A bare number means exactly this turn."""
    path = ("turn", "number")
    if isinstance(at.value, dict):
        return parse_test(at, Fact(path), path)
    number = at.integer(least=0, hint="Write a turn's number, or {every: 5}, {above: 10}.")
    return None if number is None else Comparison(path, "equals", number)


def _parse_failed(at: Node, info: HookInfo) -> Condition | None:
    flag = at.flag()
    return None if flag is None else Equals(("tool", "ok"), not flag)


def _parse_says(at: Node, info: HookInfo) -> Condition | None:
    if isinstance(at.value, str):
        word = at.text()
        return None if word is None else RecentMessagesContain(word)
    values = read_mapping(at, _SAYS_KEYS, "says", info, hint="Write says: {keyword: text, last: 5}.")
    return None if values is None else RecentMessagesContain(**values)


def _write_says(condition: Condition) -> Any:
    return write_mapping(_SAYS_KEYS, condition) if isinstance(condition, RecentMessagesContain) else NOT_WRITTEN


def _parse_error_code(at: Node, info: HookInfo) -> Condition | None:
    codes = at.some_texts()
    if codes is None:
        return None
    return match_any(at, Fact(("error", "code")), lambda code: shorthand("tool", code), codes)


def _write_error_code(condition: Condition) -> Any:
    match condition:
        case Matches(Fact(("error", "code")), Shorthand("tool", text)):
            return text
    return NOT_WRITTEN


def _parse_expr(at: Node, info: HookInfo) -> Condition | None:
    """The expression, or `{formula: expression, false_on_error: true}`."""
    from hookline.patterns.expressions import BadExpression, expression  # imports ast, and few files have one

    values = read_mapping(at, _EXPR_KEYS, "expr", info) if isinstance(at.value, dict) else {"formula": at.text()}
    text = None if values is None else values.get("formula")
    if values is None or text is None:
        return None
    names = EXPRESSION_NAMES
    try:
        formula = expression(text, names)
        false_on_error = formula.may_fail and values.get("false_on_error") is True
        return ExpressionCondition(formula, tuple(names.items()), enclosing_hook_id(at), false_on_error)
    except BadExpression as bad:
        hint = f"Use {', '.join(names)}, numbers, comparisons, `in (1, 2)`, arithmetic, and/or/not, `a if b else c`."
        at.add_problem("bad-expression", f"{at.location}: {bad}.", hint)
        return None


def _write_expr(condition: Condition) -> Any:
    if not isinstance(condition, ExpressionCondition) or dict(condition.variables) != EXPRESSION_NAMES:
        return NOT_WRITTEN
    return write_mapping(_EXPR_KEYS, condition) if condition.false_on_error else condition.formula.source


def _parse_custom(at: Node, info: HookInfo) -> Condition | None:
    return _parse_each(at, info, _parse_custom_condition)


def _parse_custom_condition(name: str, at: Node, info: HookInfo) -> Condition | None:
    from hookline.dialects import custom

    params = {} if at.value is None else at.mapping()
    entry = custom.find_or_report(custom.CONDITION_REGISTRY, name, at)
    return None if entry is None or params is None else custom.build_registered_condition(entry, at, params)


def _write_custom(condition: Condition) -> Any:
    return {condition.name: condition.params} if isinstance(condition, CustomCondition) else NOT_WRITTEN


_SAYS_KEYS: Final = key_table(
    text_key(
        "keyword",
        required=True,
        help="the keyword",
        write=lambda condition: condition.keyword,
        example="keyword: deploy",
    ),
    integer_key(
        "last",
        least=1,
        default="`5`",
        help="how many messages to look at",
        write=lambda condition: condition.last,
        example="last: 3",
    ),
)
_EXPR_KEYS: Final = key_table(
    text_key(
        "formula",
        required=True,
        help="the expression",
        write=lambda condition: condition.formula.source,
        example="formula: pressure > 0.5",
    ),
    flag_key(
        "false_on_error",
        default="`false`",
        help="if it cannot be computed, it is false instead of undecided",
        write=lambda condition: condition.false_on_error,
    ),
)
_CALL_CONDITIONS: Final = key_table(
    Key(
        "tool",
        read=_parse_tool,
        write=_write_tool,
        schema={"anyOf": [SOME_TEXTS, LONG_TEST]},
        help="the tool's name: text with `*`, `?`, `[…]` and `\\|`, or `/pattern/`, or a list of which one must match",
        example="tool: [write_file, edit_file]",
    ),
    Key(
        "kind",
        read=_parse_kind,
        write=_write_kind,
        schema={"anyOf": [_KIND, {"type": "array", "items": _KIND}]},
        help="the tool's [kind](tools.md), or a list of which one must match",
        example="kind: shell",
    ),
    Key(
        "input",
        read=_parse_input,
        write=_write_input,
        schema=TEST_MAPPING,
        help="fields of the tool's input, each with a [test](#tests); all must match",
        example=r"input: {path: '\.env$'}",
    ),
)
_EVENT_CONDITIONS: Final = key_table(
    Key(
        "fact",
        read=_parse_facts,
        write=_write_fact,
        schema={**TEST_MAPPING, "propertyNames": FACT},
        help="any facts by their paths, each with a test; all must match",
        example="fact: {agent.name: '^reviewer$'}",
    ),
    Key(
        "prompt",
        read=_fact_parser(("prompt",)),
        schema=TEST,
        help="a test of the user's prompt",
        example="prompt: '(?i)deploy'",
        example_event="prompt.submit",
    ),
    Key(
        "result",
        read=_fact_parser(("tool", "result")),
        schema=TEST,
        help="a test of the tool's result",
        example="result: Traceback",
        example_event="tool.after",
    ),
    Key(
        "error",
        read=_fact_parser(("tool", "error")),
        schema=TEST,
        help="a test of the tool's error",
        example="error: {contains: timed out}",
        example_event="tool.after",
    ),
    Key(
        "failed",
        read=_parse_failed,
        schema=FLAG,
        help="whether the tool failed",
        example="failed: true",
        example_event="tool.after",
    ),
    Key(
        "pressure",
        read=_number_parser(("context", "pressure")),
        schema={"anyOf": [NUMBER, LONG_TEST]},
        help="how full the context is, from 0 to 1; a number means more than that",
        example="pressure: 0.8",
    ),
    Key(
        "tokens",
        read=_number_parser(("context", "tokens")),
        schema={"anyOf": [NUMBER, LONG_TEST]},
        help="tokens in the context; a number means more than that",
        example="tokens: {above: 50000}",
    ),
    Key(
        "tool_calls",
        read=_number_parser(("session", "tool_calls")),
        schema={"anyOf": [NUMBER, LONG_TEST]},
        help="tool calls of the session so far; a number means more than that",
        example="tool_calls: 100",
    ),
    Key(
        "messages",
        read=_number_parser(("messages",)),
        schema={"anyOf": [NUMBER, LONG_TEST]},
        help="the number of messages; a number means more than that",
        example="messages: {at_least: 40}",
    ),
    Key(
        "turn",
        read=_parse_turn,
        schema={"anyOf": [integer_schema(0), LONG_TEST]},
        help="the turn's number, from 0; a number means exactly that turn",
        example="turn: {every: 5}",
    ),
    Key(
        "says",
        read=_parse_says,
        write=_write_says,
        schema=lambda: {"anyOf": [TEXT, mapping_schema(_SAYS_KEYS)]},
        help="a keyword in one of the last 5 messages, in upper or lower case",
        example="says: {keyword: deploy, last: 3}",
        mapping=_SAYS_KEYS,
    ),
    Key(
        "error_code",
        read=_parse_error_code,
        write=_write_error_code,
        schema=SOME_TEXTS,
        help="the code of a failed model call, or a list of which one must match",
        example="error_code: [rate_limit, timeout]",
        example_event="model.error",
    ),
    Key(
        "expr",
        read=_parse_expr,
        write=_write_expr,
        schema=lambda: {"anyOf": [TEXT, mapping_schema(_EXPR_KEYS)]},
        mapping=_EXPR_KEYS,
        help="arithmetic with [six numbers](#says-error_code-expr)",
        example="expr: pressure > 0.5 and turn % 10 == 0",
    ),
    Key(
        "custom",
        read=_parse_custom,
        write=_write_custom,
        schema={**CUSTOM, "examples": [{"office_hours": {"zone": "Europe/Paris"}}]},
        help="conditions that a Python package registers; all must be true",
    ),
    Key(
        "all",
        read=_parse_all,
        schema=list_schema("when"),
        help="a list of conditions that must all be true",
        example="all: [{tool: bash}, {turn: 0}]",
    ),
    Key(
        "any",
        read=_parse_any,
        write=_write_any,
        schema=list_schema("when"),
        help="a list of conditions of which one must be true",
        example="any: [{tool: bash}, {turn: 0}]",
    ),
    Key(
        "not",
        read=_parse_not,
        write=_write_not,
        schema={"$ref": "#/$defs/when"},
        help="a condition that must be false",
        example=r"not: {input: {path: '^docs/'}}",
    ),
)
CONDITIONS: Final[LazyKeys[Key]] = LazyKeys(
    {
        **_CALL_CONDITIONS,
        "runs": "shell_conditions.RUNS",
        "pipes": "shell_conditions.PIPES",
        "outside": "path_conditions.OUTSIDE",
        "inside": "path_conditions.INSIDE",
        "secrets": "secrets.SECRETS",
        "count": "history_conditions.COUNT",
        "after": "history_conditions.AFTER",
        **_EVENT_CONDITIONS,
    }
)
