"""Prints problems: sorted by file and line, each once, warnings marked."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from hookline.cli.output import Colour, err
from hookline.config.problem import Problem, Severity


def show_problems(problems: Iterable[Problem], show: Callable[[str, Colour], None] = err) -> None:
    for problem in sorted(set(problems)):
        if problem.severity is Severity.WARNING:
            show(f"{problem} (warning)", Colour.YELLOW)
        else:
            show(str(problem), Colour.RED)
