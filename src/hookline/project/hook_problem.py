"""A problem of a hook as a whole, at the line where it is written."""

from __future__ import annotations

from hookline.config.problem import Problem, Severity
from hookline.hooks.hook import Hook


def hook_problem(code: str, hook: Hook, what: str, hint: str = "", severity: Severity = Severity.WARNING) -> Problem:
    return Problem(code, hook.origin.file, hook.origin.line, what, hint, severity)
