"""The `runjs` tool."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from hookline.errors import UnavailableError
from hookline.hooks.host import NullHost, ScriptCall, ToolResult
from hookline.hooks.outcome import ActionError
from hookline.hooks.tools import ToolKind
from hookline.runtime.tools.tool_definition import BuiltInTool, ToolContext, failed_result, object_schema, string_schema

_TIMEOUT: Final = timedelta(seconds=5)
_BROWSER_GLOBALS: Final = ("document", "window", "navigator", "location", "localStorage", "alert")

# Log lines are returned with the result, so that the model sees them.
_WRAPPER_SCRIPT: Final = r"""
const lines = [], code = source;
const errorAsText = (key, value) => value instanceof Error ? String(value) : value;
const format = value => typeof value === "string" ? value : value instanceof Error ? String(value) : JSON.stringify(value, errorAsText) ?? String(value);
const log = (...values) => { if (lines.length < 200) lines.push(values.map(format).join(" ").slice(0, 4000)); };
globalThis.log = log;
globalThis.console = {log, info: log, warn: log, error: log, debug: log};
delete globalThis.source; delete globalThis.callTool;
try {
  const value = await new (Object.getPrototypeOf(async () => {}).constructor)(code)();
  return {value: value === undefined ? null : value, lines};
} catch (error) {
  return {error: String(error?.message ?? error), name: String(error?.name ?? ""), lines};
}
"""


class _NoToolsHost(NullHost):
    async def call_tool(self, name: str, input: dict[str, Any]) -> ToolResult:
        raise UnavailableError("runjs code cannot call tools")


async def _run_javascript(input: dict[str, Any], context: ToolContext) -> ToolResult:
    from hookline.runners import javascript

    try:
        answer = await javascript.run_script(
            ScriptCall(_WRAPPER_SCRIPT, {"source": input["code"]}, _TIMEOUT), _NoToolsHost()
        )
    except ActionError as error:
        return failed_result(f"the code {error}" if str(error).startswith("did ") else str(error))
    return format_runjs_answer(answer)


def format_runjs_answer(answer: Any) -> ToolResult:
    """The code's value; if it logged anything, an object with `value` and `log`."""
    if not isinstance(answer, dict) or not isinstance(answer.get("lines"), list):
        return failed_result("the code returned an unreadable result")
    log = "\n".join(str(line) for line in answer["lines"])
    if "error" in answer:
        return failed_result("\n".join(part for part in (_describe_error(answer), log) if part), log or None)
    value = answer.get("value")
    return ToolResult({"value": value, "log": log} if log else value)


def _describe_error(answer: dict[str, Any]) -> str:
    name, message = str(answer.get("name") or "Error"), str(answer["error"])
    if name == "ReferenceError" and message.split(" ")[0].strip("'") in _BROWSER_GLOBALS:
        return f"{name}: {message}; there is no browser here"
    return f"{name}: {message}"


runjs = BuiltInTool(
    "runjs",
    "Runs JavaScript as the body of an async function. Its return value is the result; log(…) adds a line to the output. "
    "The code cannot use a browser, the network or files.",
    object_schema(
        "code",
        code=string_schema("The body of the function. Use return to give the result.", maxLength=1_000_000),
        context=string_schema("Not used."),
    ),
    ToolKind.OTHER,
    _run_javascript,
)
