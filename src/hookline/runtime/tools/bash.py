"""The `bash` tool."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from hookline.hooks.host import Command, ProgramResult, ToolResult
from hookline.hooks.outcome import ActionError
from hookline.hooks.tools import ToolKind
from hookline.runtime.tools.blocking import Deadline, run_blocking
from hookline.runtime.tools.program_environment import run_without_model_keys
from hookline.runtime.tools.tool_definition import BuiltInTool, ToolContext, failed_result, object_schema, string_schema
from hookline.runtime.tools.workspace import ToolError

MAX_OUTPUT_LENGTH: Final = 100_000  # characters of output
_DEFAULT_SECONDS: Final = 120  # seconds
_MAX_SECONDS: Final = 600  # seconds


async def _run_bash(input: dict[str, Any], context: ToolContext) -> ToolResult:
    directory = input.get("cwd", ".")

    def find(_: Deadline) -> str:
        return str(context.files.real_path(directory))

    command = Command(
        context.shell_prefix + input["command"],
        cwd=await run_blocking(find),
        timeout=timedelta(seconds=input.get("timeout", _DEFAULT_SECONDS)),
    )
    try:
        return _format_result(await run_without_model_keys(context, command, supervised=True))
    except ActionError as error:
        raise ToolError(f"the command {error}") from None


def _format_result(finished: ProgramResult) -> ToolResult:
    """A command that fails gives a failed result that includes its output."""
    parts = [shorten_output(part.rstrip("\n")) for part in (finished.stdout, finished.stderr) if part.strip("\n")]
    if finished.dropped:
        parts.append(f"[{finished.dropped:,} more bytes were dropped]")
    output = "\n".join(parts)
    if finished.exit_code == 0:
        return ToolResult(output)
    return failed_result("\n".join(part for part in (f"exit code {finished.exit_code}", output) if part), output)


def shorten_output(output: str, max_length: int = MAX_OUTPUT_LENGTH) -> str:
    """Keeps the start and the end of long output."""
    if len(output) <= max_length:
        return output
    half = max_length // 2
    return f"{output[:half]}\n[{len(output) - 2 * half:,} characters left out]\n{output[-half:]}"


bash = BuiltInTool(
    "bash",
    "Runs a shell command in the workspace. Background processes are stopped when it ends.",
    object_schema(
        "command",
        command=string_schema("The bash command line to run."),
        cwd=string_schema("The directory to run it in, relative to the workspace."),
        timeout={
            "type": "number",
            "description": f"The time limit in seconds; default: {_DEFAULT_SECONDS}.",
            "minimum": 1,
            "maximum": _MAX_SECONDS,
        },
    ),
    ToolKind.SHELL,
    _run_bash,
)
