"""A problem of a hook, on the hook's first line. hookline.project.problem_lines moves it to the line of `about`."""

from __future__ import annotations

from hookline.config.problem import Problem, Severity
from hookline.hooks.hook import Hook


def hook_problem(
    code: str, hook: Hook, what: str, hint: str = "", severity: Severity = Severity.WARNING, *, about: str = ""
) -> Problem:
    return Problem(code, hook.origin.file, hook.origin.line, what, hint, severity, about=about)
