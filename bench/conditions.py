"""What the conditions cost that read more than one text: commands, places, secrets and counts, and a whole pack of them.

Each decision is about a call that is new, so that no cached answer helps, and no hook stops it. Beside it stands the same
guard as a loop over `re` patterns, which knows neither quotes nor links. Times are the processor's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import count
from time import process_time
from typing import Any, Final, NamedTuple

from bench.goals import Goal, goal_rows
from bench.timing import format_seconds, seconds_each

_SHELL: Final = {"name": "bash", "kind": "shell"}
_WRITE: Final = {"name": "write_file", "kind": "write"}
_TEXT: Final = "the quick brown fox jumps over the lazy dog; " * 45


class Row(NamedTuple):
    name: str
    hooks: str  # a native file
    call: Callable[[int], dict[str, Any]]
    patterns: tuple[str, ...]
    limit: float
    unit: str = "× a pattern"


def _hook(when: str) -> str:
    return f"hooks: [{{id: x, on: tool.before, when: {{{when}}}, then: {{deny: 'no'}}}}]\n"


def _command(number: int) -> dict[str, Any]:
    return {**_SHELL, "input": {"command": f"git add src/a{number}.py && git commit -m 'Change {number}'"}}


_EVERYDAY: Final = (
    "git add src/a{0}.py && git commit -m 'Change {0}'",
    "git log --oneline -n {0}",
    "python -m pytest tests/test_{0}.py -q 2>&1 | tail -20",
    "rm -f build/a{0}.o",
    "npm run build --workspace=a{0}",
    'grep -rn "name{0}" src | head -20',
    "cp -r examples/a{0} scratch",
    "ls -la src/a{0}",
)


def _everyday_command(number: int) -> dict[str, Any]:
    command = _EVERYDAY[number % len(_EVERYDAY)].format(number)
    return {**_SHELL, "input": {"command": command}}


def _write(number: int) -> dict[str, Any]:
    return {**_WRITE, "input": {"path": f"src/a{number}.py", "content": f"{number} {_TEXT}"}}


_TOKENS: Final = (
    *(r"AKIA[A-Z0-9]{16}", r"gh[opusr]_[A-Za-z0-9]{16,}", r"sk-[A-Za-z0-9_-]{16,}", r"xox[a-z]-[A-Za-z0-9-]{8,}"),
    *(r"-----BEGIN [A-Z ]*PRIVATE KEY", r"(?i)(?:password|secret|token|api_key)\s*[=:]\s*\S{8,}"),
)
_WRITERS: Final = r"\b(?:rm|mv|cp|tee|ln|install|truncate|chmod|chown|sed|perl|dd|rsync|unlink)\b[^;|&]*"
_RECOMMENDED: Final = (
    *_TOKENS,
    *(r"\brm\s+(?:-\w+\s+)*-\w*[rR]", r"\bfind\b.*-delete\b", r"\bgit\s+clean\b(?!.*-n).*-\w*f"),
    r"\bgit\s+push\b.*(?:--force|-f\b).*\b(?:main|master|trunk|develop|production|release)",
    *(r"\bgit\s+push\s+(?:--force\S*|-f)\s*$", r"\bgit\s+push\b.*(?:--delete|-d\b)", r"\bgit\s+push\b.*--mirror"),
    *(r"\bgit[ -]filter-(?:branch|repo)|\bbfg\b", r"\b(?:curl|wget)\b.*\|\s*(?:sudo\s+)?(?:sh|bash|zsh|python3?|perl|node)\b"),
    *(_WRITERS + r"\.git/", r">\s*\S*\.git/"),
    *(_WRITERS + r"\.(?:bashrc|zshrc|profile|ssh)", r">\s*\S*\.(?:bashrc|zshrc|profile|ssh)", r"\b(?:crontab|visudo|chsh|passwd)\b"),
    *(_WRITERS + r"(?:hookline|\.claude|\.codex|\.cursor)", r">\s*\S*(?:hookline|\.claude|\.codex|\.cursor)"),
    *(r"\bchmod\s+.*(?:[0-7]?[0-7][0-7][2367]\b|o\+w)", r"\b(?:mkfs|fdisk|parted|wipefs|zpool)\b", r"/dev/(?:sd|hd|nvme|disk)"),
    r"\b(?:shutdown|reboot|halt|poweroff)\b",
)  # fmt: skip
_PLAIN: Final = "a pattern"
ROWS: Final = (
    Row(_PLAIN, _hook("input: {content: SECRET_7}"), _write, ("SECRET_7",), 1),
    Row("runs", _hook("runs: {program: rm, flags: [r, f]}"), _command, (r"\brm\s+-(?:rf|fr)\b",), 25),
    Row("outside, a shell line", _hook("outside: workspace"), _command, (r"(?:^|[\s=])(?:/|~|\.\./)",), 170),
    Row("outside, a path", _hook("outside: workspace"), _write, (r"^(?:/|~|\.\./)",), 20),
    Row("secrets, 2 KB", _hook("secrets: true"), _write, _TOKENS, 20),
    Row("count", _hook("kind: write, count: {more_than: 1000000000}"), _write, (), 12),
    Row("the recommended pack", "extends: [hookline:recommended]\n", _everyday_command, _RECOMMENDED, 60, "µs"),
)


def condition_times() -> dict[str, tuple[float, float]]:
    """Seconds of one decision: hookline's and the loop's, for each row."""
    return {row.name: _times(row) for row in ROWS}


def _times(row: Row) -> tuple[float, float]:
    from hookline import Event
    from hookline.project import load_text

    book, numbers = load_text(row.hooks, "hookline.yaml"), count()
    assert not book.problems
    compiled = [re.compile(pattern) for pattern in row.patterns]
    place = {"cwd": "/tmp", "workspace": "/tmp", "session": {"id": "s"}}

    def decide() -> None:
        assert not book.decide_now(Event("tool.before", {"tool": row.call(next(numbers)), **place})).denied

    def loop() -> None:
        texts = row.call(next(numbers))["input"].values()
        assert not any(pattern.search(text) for pattern in compiled for text in texts)

    times = seconds_each(
        {"hookline": decide, "loop": loop, "nothing": lambda: row.call(next(numbers))}, clock=process_time
    )
    made = times["nothing"]
    return max(times["hookline"] - made, 1e-9), max(times["loop"] - made, 1e-9)


def rows(times: dict[str, tuple[float, float]]) -> list[dict[str, str]]:
    return [
        {"one hook, or a pack": name, "hookline": format_seconds(ours), "re loop": format_seconds(loop)}
        for name, (ours, loop) in times.items()
    ]


def goals(times: dict[str, tuple[float, float]]) -> Iterator[Goal]:
    for row in ROWS:
        ours = times[row.name][0]
        if row.unit == "µs":
            yield Goal(f"{row.name}, a shell command", ours * 1e6, row.limit, row.unit)
        elif row.name != _PLAIN:
            yield Goal(f"one hook: {row.name}", ours / times[_PLAIN][0], row.limit, row.unit)


if __name__ == "__main__":
    from bench.table import table

    measured = condition_times()
    print(table(rows(measured)), table(goal_rows(goals(measured))), sep="\n\n")
