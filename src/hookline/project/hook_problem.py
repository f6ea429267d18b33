"""A problem of a hook, at the line where the hook begins. Once its file is at hand, `about` says which line it is."""

from __future__ import annotations

from hookline.config.problem import Problem, Severity
from hookline.hooks.hook import Hook


def hook_problem(
    code: str, hook: Hook, what: str, hint: str = "", severity: Severity = Severity.WARNING, *, about: str = ""
) -> Problem:
    return Problem(code, hook.origin.file, hook.origin.line, what, hint, severity, about=about)
