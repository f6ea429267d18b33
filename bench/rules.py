"""The rules of the benchmark: tool regex + path regex + content regex → deny."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

TOOL = "^write_file$"
_BEGINNING = 'SECRET_KEY = "in no rule"  # 0123456789\n'
_LINE = 'def jumps_over(the_quick_brown_fox, lazy_dog): return "/p/app.py"\n'
"""A body has every character that the rules need, and the beginning of their words, so that no test of one helps."""


@dataclass(frozen=True)
class Workload:
    name: str
    rules: int
    body: int  # characters
    every_path_matches: bool = False  # else each rule has a path of its own
    matches: bool = False  # the last rule matches

    def path_pattern(self, number: int) -> str:
        return rf"(?:/p{number}/.*|/src/.*)\.py$" if self.every_path_matches else rf"/p{number}/.*\.py$"

    def content_pattern(self, number: int) -> str:
        return rf"SECRET_{number}\b"

    def input(self) -> dict[str, str]:
        last = self.rules - 1
        path = "/home/me/src/app.py" if not self.matches or self.every_path_matches else f"/home/p{last}/app.py"
        body = (_BEGINNING + _LINE * (self.body // len(_LINE) + 1))[: self.body]
        return {"path": path, "content": f"{body} SECRET_{last} " if self.matches else body}


def fresh_input(input: dict[str, str], number: int) -> dict[str, str]:
    """The same call on another path with another body, so that no cached answer helps."""
    path = input["path"].replace("/home/", f"/home/{number}/")
    return {"path": path, "content": f"{number} {input['content']}"}


def rules_yaml(load: Workload, numbers: range | None = None) -> str:
    """The rules as a native file; only those with these numbers."""
    rows = [
        f"  - id: rule-{n}\n    on: tool.before\n    when: {{tool: '/{TOOL}/', input: {{path: '{load.path_pattern(n)}',"
        f" content: '{load.content_pattern(n)}'}}}}\n    then: {{deny: no secrets}}\n"
        for n in (range(load.rules) if numbers is None else numbers)
    ]
    return "hooks:\n" + "".join(rows)


Decide = Callable[[str, dict[str, Any]], bool]  # tool's name and input → denied?
