from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from hookline.errors import Unavailable
from hookline.hooks.host import Nobody, Script, ToolResult
from hookline.hooks.outcome import Failed
from hookline.hooks.tools import Kind
from hookline.runtime.tools.built_in import BuiltIn, failed, takes, text
from hookline.runtime.tools.tool import Place

_TIMEOUT: Final = timedelta(seconds=5)
_BROWSERS_OWN: Final = ("document", "window", "navigator", "location", "localStorage", "alert")

# What is logged comes back with the result, so that the model sees it.
_AROUND: Final = r"""
const said = [], code = source;
const shown = value => typeof value === "string" ? value : JSON.stringify(value) ?? String(value);
const log = (...values) => { if (said.length < 200) said.push(values.map(shown).join(" ").slice(0, 4000)); };
globalThis.log = log;
globalThis.console = {log, info: log, warn: log, error: log, debug: log};
delete globalThis.source; delete globalThis.callTool;
try {
  const value = await new (Object.getPrototypeOf(async () => {}).constructor)(code)();
  return {value: value === undefined ? null : value, said};
} catch (error) {
  return {error: String(error?.message ?? error), name: String(error?.name ?? ""), said};
}
"""


class _NoTools(Nobody):
    async def call_tool(self, name: str, input: dict[str, Any]) -> ToolResult:
        raise Unavailable("code of runjs calls no tools")


async def _run(input: dict[str, Any], place: Place) -> ToolResult:
    from hookline.runners import javascript

    try:
        answer = await javascript.run(Script(_AROUND, {"source": input["code"]}, _TIMEOUT), _NoTools())
    except Failed as error:
        return failed(f"the code {error}" if str(error).startswith("did ") else str(error))
    return _told(answer)


def _told(answer: Any) -> ToolResult:
    """The code's value; with what it logged around it, if it did."""
    if not isinstance(answer, dict) or not isinstance(answer.get("said"), list):
        return failed("the code left nothing that can be read")
    said = "\n".join(str(line) for line in answer["said"])
    if "error" in answer:
        return failed("\n".join(part for part in (_error(answer), said) if part), said or None)
    value = answer.get("value")
    return ToolResult({"value": value, "log": said} if said else value)


def _error(answer: dict[str, Any]) -> str:
    name, message = str(answer.get("name") or "Error"), str(answer["error"])
    if name == "ReferenceError" and message.split(" ")[0].strip("'") in _BROWSERS_OWN:
        return f"{name}: {message}; there is no browser here"
    return f"{name}: {message}"


runjs = BuiltIn(
    "runjs",
    "Runs JavaScript: the body of an async function, whose returned value is the result. log(…) writes a line. "
    "There is no browser, no network and no file in there.",
    takes(
        "code",
        code=text("The function's body; return what you want to see.", maxLength=1_000_000),
        context=text("Not used: there is one place to run in."),
    ),
    Kind.OTHER,
    _run,
)
