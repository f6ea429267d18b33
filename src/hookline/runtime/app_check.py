"""The tool `app.check`, with which hooks check a file that describes an app, as `hookline check` does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from hookline.config.problem import Problem, Severity
from hookline.config.reader import read_text
from hookline.errors import HooklineError
from hookline.hooks.host import ToolResult
from hookline.hooks.tools import ToolKind
from hookline.lazy_dataclasses import replace
from hookline.project.lint import lint_hooks
from hookline.project.parsed_file import parse_document
from hookline.project.problem_lines import add_linted
from hookline.project.sources import Source, SourceLayer
from hookline.runtime.apps.app_loader import app_problems
from hookline.runtime.tools.blocking import Deadline, run_blocking
from hookline.runtime.tools.file_content import read_content
from hookline.runtime.tools.tool_definition import ToolContext, object_schema, string_schema

_SECONDS: Final = 10.0


class CheckAppTool:
    """Only hooks find it; it is not offered to models. Nothing of the file is imported or run."""

    name = "app.check"
    kind = ToolKind.READ
    description = "Checks a file with hooks or an app, and returns its errors."
    schema: Final = object_schema("path", path=string_schema("The file.", minLength=1))

    async def perform(self, input: dict[str, Any], context: ToolContext) -> ToolResult:
        try:
            problems = await run_blocking(lambda until: _find_problems(input["path"], context, until), _SECONDS)
        except HooklineError as error:
            return ToolResult(None, False, str(error))
        errors = [str(problem) for problem in problems if problem.severity is Severity.ERROR]
        return ToolResult({"errors": list(dict.fromkeys(errors))})


def _find_problems(path: str, context: ToolContext, until: Deadline) -> Sequence[Problem]:
    with context.files.resolve(path) as target:
        text, _ = read_content(target, until)
    document, problems = read_text(text, path)
    if document is None:
        return problems
    parsed = parse_document(document, Source(context.workspace / path, path, None, SourceLayer.NAMED))
    parsed = replace(parsed, document=document)
    return (*add_linted(parsed.problems, lint_hooks(parsed.hooks), document, parsed.hooks), *app_problems([parsed]))
