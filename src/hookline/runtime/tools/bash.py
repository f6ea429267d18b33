from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from hookline.hooks.host import Command, Finished, ToolResult
from hookline.hooks.outcome import Failed
from hookline.hooks.tools import Kind
from hookline.runtime.tools.aside import Until, aside
from hookline.runtime.tools.built_in import BuiltIn, failed, takes, text
from hookline.runtime.tools.environment import run_for
from hookline.runtime.tools.tool import Place
from hookline.runtime.tools.workspace import Refused, Workspace

LONGEST_TOLD: Final = 100_000  # characters of output
_USUAL: Final = 120  # seconds
_MOST: Final = 600  # seconds


async def _bash(input: dict[str, Any], place: Place) -> ToolResult:
    where = input.get("cwd", ".")

    def find(until: Until) -> str:
        return str(Workspace(place.workspace).real(where))

    command = Command(
        input["command"],
        cwd=await aside(find),
        timeout=timedelta(seconds=input.get("timeout", _USUAL)),
    )
    try:
        return _told(await run_for(place, command, supervised=True))
    except Failed as error:
        raise Refused(f"the command {error}") from None


def _told(finished: Finished) -> ToolResult:
    """A command that fails is a result that is not ok, with all that it said."""
    parts = [cut(part.rstrip("\n")) for part in (finished.stdout, finished.stderr) if part.strip("\n")]
    if finished.dropped:
        parts.append(f"[{finished.dropped:,} more bytes were not kept]")
    output = "\n".join(parts)
    if finished.exit_code == 0:
        return ToolResult(output)
    return failed("\n".join(part for part in (f"exit code {finished.exit_code}", output) if part), output)


def cut(output: str, longest: int = LONGEST_TOLD) -> str:
    """The beginning and the end of what is too long."""
    if len(output) <= longest:
        return output
    half = longest // 2
    return f"{output[:half]}\n[{len(output) - 2 * half:,} characters left out]\n{output[-half:]}"


bash = BuiltIn(
    "bash",
    "Runs a shell command in the workspace. What it leaves running in the background ends with it.",
    takes(
        "command",
        command=text("The command line, for bash."),
        cwd=text("The directory to run it in, relative to the workspace."),
        timeout={"type": "number", "description": f"Seconds, {_USUAL} if not given.", "minimum": 1, "maximum": _MOST},
    ),
    Kind.SHELL,
    _bash,
)
