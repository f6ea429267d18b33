"""`run:`, `post:` and `script:`: actions that hand the event to a program, a URL or JavaScript and read its answer."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final

from hookline.config.node import Node
from hookline.dialects.conversion import NotExpressible
from hookline.dialects.native.keys import (
    ANY_TEXT,
    BAD_TEMPLATE,
    FLAG,
    NOT_WRITTEN,
    TEXT,
    TEXTS,
    ActionKey,
    HookInfo,
    Key,
    Schema,
    choice_key,
    compile_template,
    data_key,
    event_template,
    flag_key,
    key_table,
    object_schema,
    read_arguments,
    read_data_template,
    read_shell_template,
    read_template,
    template_key,
    text_key,
    texts_key,
    write_data,
    write_unless_event,
)
from hookline.hooks.actions.post import URL_PATTERN, PostEvent
from hookline.hooks.actions.program_result import DEFAULT_REASON, ResultFormat, ResultParser
from hookline.hooks.actions.run_program import CommandTemplate, RunProgram
from hookline.hooks.actions.script import RunScript
from hookline.hooks.events import EVENTS
from hookline.hooks.outcome import Audience
from hookline.hooks.protocols import Action, May
from hookline.hooks.templates import DOUBLE_BRACES, DataTemplate, ShellTemplate, Template
from hookline.lazy_dataclasses import replace

_STOPPING: Final = May.DENY | May.ASK
_ONLY_IF_TIMEOUT: Final = timedelta(seconds=1)
_COMMAND: Final[Schema] = {
    "anyOf": [
        TEXT,
        {"type": "array", "items": ANY_TEXT, "minItems": 1},
        object_schema(
            {"literal": {"description": "a shell command without placeholders", "examples": ["echo '{{x}}'"], **TEXT}},
            ("literal",),
        ),
    ]
}


def _parse_run(value: Node, info: HookInfo, options: dict[str, Any]) -> Action | None:
    command = _parse_command(value, info)
    if command is None:
        return None
    stdin = options["stdin"] if "stdin" in options else event_template(info.vocabulary)
    given = {
        "stdin": None if stdin.value is None else stdin,
        "env": options.get("env", ()),
        "inherit_env": options.get("inherit_env", True),
        "cwd": options.get("cwd"),
    }
    only_if = options.get("only_if")
    return RunProgram(
        replace(command, **given),
        _result_parser(options, default_result_format(info), info),
        info.timeout,
        None if only_if is None else replace(only_if, **given),
        _ONLY_IF_TIMEOUT,
        options.get("hold_if_broken", False),
        options.get("timeout_blocks", False),
    )


def _write_run(action: Action, info: HookInfo) -> Any:
    if not isinstance(action, RunProgram):
        return NOT_WRITTEN
    if action.total_timeout != info.timeout:
        raise NotExpressible("a program with a timeout other than its hook's")
    return _write_command(action.program)


def default_result_format(info: HookInfo) -> ResultFormat:
    """If the event can be denied, an exit code other than 0 denies it. After a tool it is a failure, if the author wrote
    that failures withhold the result; else it is ignored.
    """
    if EVENTS[info.event].accepts & May.DENY:
        return ResultFormat.NONZERO
    return ResultFormat.ERROR if info.withholds else ResultFormat.NEVER


def _post_result_format(info: HookInfo) -> ResultFormat:
    """Nothing can come of an answer to an event that only tells what happened."""
    return ResultFormat.JSON if EVENTS[info.event].accepts else ResultFormat.NEVER


def _parse_post(value: Node, info: HookInfo, options: dict[str, Any]) -> Action | None:
    url = value.text()
    if url is None:
        return None
    if not URL_PATTERN.fullmatch(url):
        value.add_problem("bad-url", f"{value.location}: this is not a URL to post to.", "Write http://… or https://….")
        return None
    body = options["body"] if "body" in options else event_template(info.vocabulary)
    parser = _result_parser(options, _post_result_format(info), info)
    return PostEvent(url, body, parser, info.timeout, options.get("headers", ()), options.get("variables", ()))


def _write_post(action: Action, info: HookInfo) -> Any:
    if not isinstance(action, PostEvent):
        return NOT_WRITTEN
    if action.timeout != info.timeout:
        raise NotExpressible("a URL with a timeout other than its hook's")
    return action.url


def _result_parser(options: dict[str, Any], default: ResultFormat, info: HookInfo) -> ResultParser:
    return ResultParser(
        options.get("reads", default),
        options.get("tell"),
        options.get("reason", DEFAULT_REASON),
        block_is_deny=info.fails_closed and not EVENTS[info.event].accepts & May.DENY,
    )


def may_by_format(default: Callable[[HookInfo], ResultFormat]) -> Callable[[Node, HookInfo], May]:
    """For an action whose result is read as `reads` says: whether it may deny or ask."""

    def intended(at: Node, info: HookInfo) -> May:
        reads = at.get("reads")
        if reads is None:
            return ResultParser(default(info)).may & _STOPPING
        known = reads.value in list(ResultFormat)
        return ResultParser(ResultFormat(reads.value)).may & _STOPPING if known else _STOPPING

    return intended


def _parse_command(at: Node, info: HookInfo) -> CommandTemplate | None:
    """A shell command, or a list of arguments. `{literal: …}` is a shell command without placeholders."""
    if isinstance(at.value, list):
        arguments = parse_program(at, info)
        return None if arguments is None else CommandTemplate(argv=arguments)
    if not isinstance(at.value, dict):
        shell = read_shell_template(at, info.vocabulary)
        return None if shell is None else CommandTemplate(shell)
    at.check_keys(("literal",), "a command")
    literal = at.get("literal")
    if literal is None:
        at.add_problem("missing-key", f"{at.location}: literal is missing.", "Write {literal: the command}.")
        return None
    text = literal.text()
    return None if text is None else CommandTemplate(ShellTemplate(text, (), (text,)))


def parse_program(at: Node, info: HookInfo) -> tuple[Template | ShellTemplate, ...] | None:
    places = list(at.items())
    texts = [place.text(empty=True) for place in places]
    if not places:
        at.add_problem("empty", f"{at.location}: a program's name is missing.", "Write [program, argument, …].")
        return None
    arguments = [text for text in texts if text is not None]
    return read_arguments(places, arguments, info.vocabulary) if len(arguments) == len(places) else None


def _write_command(command: CommandTemplate) -> Any:
    if command.shell is None:
        return [argument.source for argument in command.argv]
    has_braces = DOUBLE_BRACES.search(command.shell.source)
    return {"literal": command.shell.source} if has_braces and not command.shell.names else command.shell.source


def _parse_event_data(at: Node, info: HookInfo) -> DataTemplate | None:
    """`event` is the whole event, `none` is nothing."""
    if at.value == "event":
        return event_template(info.vocabulary)
    return DataTemplate(None) if at.value == "none" else read_data_template(at, info.vocabulary)


def _parse_env(at: Node, info: HookInfo) -> tuple[tuple[str, Template | None], ...]:
    from hookline.shell.code_arguments import is_code_variable  # its tables take time to load

    variables = tuple((name, _parse_variable(place, info), place) for name, place in at.entries())
    for name, text, place in variables:
        if text is not None and text.reads() and is_code_variable(name):
            what = f"{place.location}: a placeholder in {name}, which decides what programs run or load."
            place.add_problem(BAD_TEMPLATE, what, "Use a variable of your own.")
    return tuple((name, text) for name, text, _ in variables)


def _parse_variable(at: Node, info: HookInfo) -> Template | None:
    """null removes the variable from the environment that the program inherits."""
    if at.value is None:
        return None
    if isinstance(at.value, (int, float)) and not isinstance(at.value, bool):
        return compile_template(at, str(at.value), info.vocabulary)
    return read_template(at, info.vocabulary, empty=True)


def _write_env(action: RunProgram, info: HookInfo) -> Any:
    return {name: None if text is None else text.source for name, text in action.program.env} or NOT_WRITTEN


def _parse_inherit_env(at: Node, info: HookInfo) -> bool | tuple[str, ...] | None:
    return at.value if isinstance(at.value, bool) else at.texts()


def _write_inherit_env(action: RunProgram, info: HookInfo) -> Any:
    inherit = action.program.inherit_env
    return NOT_WRITTEN if inherit is True else inherit if inherit is False else list(inherit)


def _parse_headers(at: Node, info: HookInfo) -> tuple[tuple[str, str], ...]:
    return tuple((name, place.text(empty=True) or "") for name, place in at.entries())


def _reads_key(usual: Callable[[HookInfo], ResultFormat], **rest: Any) -> Key:
    def write(action: RunProgram | PostEvent, info: HookInfo) -> Any:
        is_usual = action.result_parser.format is usual(info) and not info.withholds
        return NOT_WRITTEN if is_usual else str(action.result_parser.format)

    return choice_key("reads", ResultFormat, write=write, **rest)


def _tell_key(**rest: Any) -> Key:
    def write(action: RunProgram | PostEvent, info: HookInfo) -> Any:
        tell = action.result_parser.tell
        return NOT_WRITTEN if tell is None else str(Audience(tell))

    return choice_key("tell", Audience, default="nobody", write=write, **rest)


def _reason_key(**rest: Any) -> Key:
    def write(action: RunProgram | PostEvent, info: HookInfo) -> Any:
        return NOT_WRITTEN if action.result_parser.reason == DEFAULT_REASON else action.result_parser.reason

    return text_key("reason", default=f"`{DEFAULT_REASON}`", write=write, **rest, example="reason: The check failed.")


def _hold_key(what: str) -> Key:
    return flag_key(
        "hold_if_broken",
        default="`false`",
        help=f"{what} stops the event, also if `on_error` lets other failures pass",
        write=lambda action, _: action.hold_if_broken or NOT_WRITTEN,
    )


_RUN_OPTIONS: Final = key_table(
    Key(
        "stdin",
        read=_parse_event_data,
        write=lambda action, _: "none" if action.program.stdin is None else write_unless_event(action.program.stdin),
        schema={},
        default="`event`",
        help="what the program reads: `event`, `none`, or any value with placeholders, as JSON",
        example="stdin: {path: '{{input.path}}'}",
    ),
    Key(
        "env",
        read=_parse_env,
        write=_write_env,
        schema={"type": "object", "additionalProperties": {"type": ["string", "number", "null"]}},
        default="`{}`",
        help="variables to add; `null` removes one",
        example="env: {CI: '1'}",
    ),
    Key(
        "inherit_env",
        read=_parse_inherit_env,
        write=_write_inherit_env,
        schema={"anyOf": [FLAG, TEXTS]},
        default="`true`",
        help="hookline's own environment: all of it, nothing (`false`), or a list of names",
        example="inherit_env: [PATH, HOME]",
    ),
    template_key(
        "cwd",
        write=lambda action, _: NOT_WRITTEN if action.program.cwd is None else action.program.cwd.source,
        default="the event's `cwd`",
        help="the working directory, with placeholders; a relative one is below the event's `cwd`",
        example="cwd: '{{cwd}}/tools'",
    ),
    Key(
        "only_if",
        read=_parse_command,
        write=lambda action, _: NOT_WRITTEN if action.only_if is None else _write_command(action.only_if),
        schema=_COMMAND,
        default="always",
        help="a program that must exit with 0 first, within 1 s",
        example="only_if: git diff --quiet",
    ),
    _reads_key(
        default_result_format,
        default="`nonzero` if the event can be denied; `error` after a tool with `on_error: closed`; else `never`",
        help="[how its result is read](#how-its-result-is-read)",
    ),
    _tell_key(help="who gets stdout after exit code 0: `agent` or `user`"),
    _reason_key(help="the reason of a deny"),
    _hold_key("a program that cannot be found or started"),
    flag_key(
        "timeout_blocks",
        default="`false`",
        help="a program that does not end in time denies, also if `on_error` lets other failures pass",
        write=lambda action, _: action.timeout_blocks or NOT_WRITTEN,
    ),
)
_RUN: Final = ActionKey(
    "run",
    read=_parse_run,
    write=_write_run,
    schema=_COMMAND,
    options=_RUN_OPTIONS,
    intended=may_by_format(default_result_format),
    help="run a program",
    example="{run: 'ruff check -- {{input.path}}', reads: nonzero}",
)

_POST_OPTIONS: Final = key_table(
    Key(
        "body",
        read=_parse_event_data,
        write=lambda action, _: write_unless_event(action.body),
        schema={},
        null_is_value=True,
        default="`event`",
        help="what is posted: `event`, or any value with placeholders, as JSON",
        example="body: {text: '{{tool.name}}'}",
    ),
    Key(
        "headers",
        read=_parse_headers,
        write=lambda action, _: dict(action.headers) or NOT_WRITTEN,
        schema={"type": "object", "additionalProperties": ANY_TEXT},
        default="`{}`",
        help="headers, in which `$NAME` stands for an environment variable",
        example="headers: {Authorization: Bearer $TOKEN}",
    ),
    texts_key(
        "variables",
        write=lambda action, _: list(action.variables) or NOT_WRITTEN,
        default="`[]`",
        help="the environment variables that the headers and the URL after its host may name",
        example="variables: [TOKEN]",
    ),
    _reads_key(
        _post_result_format,
        default="`json`, or `never` if the event accepts no answer",
        help="how an answer with status 2xx is read, as if it were stdout after exit code 0",
    ),
    _tell_key(help="who gets an answer that is plain text: `agent` or `user`"),
    _reason_key(help="as for `run`"),
)
_POST: Final = ActionKey(
    "post",
    read=_parse_post,
    write=_write_post,
    schema={"type": "string", "pattern": f"^{URL_PATTERN.pattern}$"},
    options=_POST_OPTIONS,
    intended=may_by_format(_post_result_format),
    help="post the event to a URL",
    example="{post: 'http://127.0.0.1:8080/hook', headers: {X-From: hookline}}",
)


def _parse_script(value: Node, info: HookInfo, options: dict[str, Any]) -> Action | None:
    source = value.text()
    variables = options.get("variables") or DataTemplate({"event": event_template(info.vocabulary).value})
    hold = options.get("hold_if_broken", False)
    return None if source is None else RunScript(source, variables, info.timeout, hold)


_SCRIPT: Final = ActionKey(
    "script",
    read=_parse_script,
    write=lambda action, _: action.source if isinstance(action, RunScript) else NOT_WRITTEN,
    schema=TEXT,
    options=key_table(
        data_key(
            "variables",
            default="`{event: '{{event}}'}`",
            help="the variables that the script can use",
            write=lambda action, _: write_data(action.variables),
            example="variables: {command: '{{input.command}}'}",
        ),
        _hold_key("a script with a syntax error"),
    ),
    intended=lambda at, info: _STOPPING,
    help="run JavaScript",
    example='{script: \'if (event.tool.input.command === "ls") return {decision: "allow"}\'}',
)

PROGRAM_KEYS: Final = (_RUN, _POST, _SCRIPT)
