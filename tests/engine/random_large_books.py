"""Large books of patterns that an index could get wrong, and events with values of every shape.

Words in other cases, letters with unusual cases, empty alternatives, long texts, lists, objects, bytes, links and detours.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hookline.hooks.event import Event
from hookline.hooks.hook import Hook
from hookline.project import load_text

WORDS = [
    "rm", "RM", "git", "push", "kill", "key", "ski", "é", "É", "ß", "K\u212aelvin", "\u017fecret", "secret", "env", ".env",
    "src", "a.py", "main", "curl", "http", "://", "=", "--force", "-rf", "ﬁ", "İ", "i", "x",
]  # fmt: skip
TEMPLATE_WORDS = ["drop_a", "drop_b", "drop_ab", "drop_a2", "my_drop_a", "drop_a-b", "Drop_a"]
FIELDS = [
    "command",
    "path",
    "content",
    "url",
    "old_string",
    "pattern",
    "x",
    "paths",
    "nested.a",
    "list.*.a",
    "file_path",
]
GIVEN = [*FIELDS[:8], "nested", "list", "file_path", "cmd", "commands", "args", "script"]
TOOLS = [
    "bash",
    "write_file",
    "read_file",
    "Bash",
    "Write",
    "edit_file",
    "mcp__s__t",
    "odd",
    "run_terminal",
    "shell.run",
]
SIZES = [1, 3, 6, 12, 40, 80]


def make_project(root: Path) -> None:
    (root / "src").mkdir()
    for name in (".env", "src/a.py"):
        (root / name).write_text("")
    (root / "link").symlink_to(".env")
    (root / "there").symlink_to("src")


class LargeChance(random.Random):
    def __init__(self, seed: int, root: Path) -> None:
        super().__init__(seed)
        self.root = root

    def word(self) -> str:
        return re.escape(self.choice(WORDS))

    def pattern(self) -> str:
        word, other = self.word(), self.word()
        return self.choice(
            [
                word, word, rf"{word}\s+{other}", f"({word}|{other})", f"({word}|{other})?", f"({word}|).*{other}", f"(?i){word}",
                f"(?i:{word}){other}", f"^{word}$", f"(?<!x){word}", f"[kK]ey|{word}", f"a*{word}", f"x{{0}}{word}",
                f"{word}{{1,2}}", rf"\b{word}\b", f"{word}(?={other})", r"\.env$", r"(?i)\bsecret\b", "(a|)(rm)?",
            ]
        )  # fmt: skip

    def value_test(self) -> Any:
        return self.choice(
            [
                self.pattern(), self.pattern(), {"contains": self.choice(WORDS)}, {"exactly": self.choice(WORDS)},
                {"begins": self.choice(WORDS)}, {"like": f"*{self.choice(WORDS)}*"}, {"command": self.choice(["rm", "git push"])},
                {"glob": self.choice(["src/**", "**/.env", ".env", "*.py", "link", "there/*"])}, {"starts": "git push *"},
                [self.pattern(), self.pattern()],
            ]
        )  # fmt: skip

    def condition(self, depth: int = 2) -> dict[str, Any]:
        if depth and self.random() < 0.25:
            word = self.choice(["all", "any", "not"])
            parts = [self.condition(depth - 1) for _ in range(self.randint(1, 3))]
            return {word: parts[0] if word == "not" else parts}
        found: dict[str, Any] = {
            "input": {self.choice(FIELDS): self.value_test() for _ in range(self.choice([1, 1, 2]))}
        }
        if self.random() < 0.5:
            found["tool"] = self.choice(["bash", "write_file", "*_file", "mcp*", "/^b/", "Bash", "edit_file", "*"])
        return found

    def hooks(self, name: str, count: int, make_condition: Callable[[], dict[str, Any]]) -> tuple[Hook, ...]:
        made = [
            {
                "id": f"{name}-{number}",
                "on": self.choice(["tool.before"] * 5 + ["tool.after"]),
                "when": make_condition(),
                "then": self.choice(
                    [{"deny": "No."}] * 5
                    + [{"ask": "?"}, "allow", {"log": "x"}, {"set": {"input.command": "rm -rf a"}}]
                ),
                **({"order": self.choice([-1, 1])} if self.random() < 0.2 else {}),
                **({"group": self.choice("ab")} if self.random() < 0.1 else {}),
            }
            for number in range(count)
        ]
        return load_text(json.dumps({"hooks": made}), "hookline.yaml", "native").hooks

    def template_condition(self) -> dict[str, Any]:
        """On one field, with words that differ little, as of rules that a program has written."""
        word, edges = self.choice(self.template_words), (self.choice(["", r"\b"]), self.choice(self.template_ends))
        other = {"x": self.pattern()} if self.random() < 0.3 else {}
        return {"input": {"command": f"{edges[0]}{word}{edges[1]}"} | other}

    def layers(self) -> list[tuple[Hook, ...]]:
        self.template_words = self.sample(TEMPLATE_WORDS, self.randint(1, len(TEMPLATE_WORDS)))
        self.template_ends = self.choice([[r"\b"], ["", r"\b"]])
        makers = [self.condition, self.condition, self.template_condition]
        return [
            self.hooks(str(number), self.choice(SIZES), self.choice(makers)) for number in range(self.choice([1, 1, 2]))
        ]

    def text(self) -> str:
        text = self.choice([" ", "", "/", "\n"]).join(
            self.choice(self.choice([WORDS, TEMPLATE_WORDS])) for _ in range(self.randint(0, 4))
        )
        change = self.choice(["", "", "upper", "swap", "long", "shell", "half"])
        if change == "upper":
            return text.upper()
        if change == "swap":
            return text.swapcase()
        if change == "long":
            return text + "y" * self.choice([300, 9_000, 20_000, 70_000]) + self.choice(WORDS)
        return {"shell": f"bash -c '{text}'", "half": f"{text}\ud800{self.choice(WORDS)}"}.get(change, text)

    def path(self) -> str:
        inside = str(self.root)
        return self.choice(
            [
                ".env", "./.env", ".env/.", "src/a.py", "src/../.env", f"{inside}/.env", "link", "there/a.py", f"{inside}//src/./a.py",
                f"file://{inside}/.env", "SRC/A.PY", "", "/proc/self/cwd/.env", self.text(),
            ]
        )  # fmt: skip

    def value(self, field: str) -> Any:
        base = self.path() if "path" in field else self.text()
        if self.random() < 0.7:
            return base
        return self.choice(
            [
                [base, self.text()], ["bash", "-c", base], {"a": base}, [{"a": base}, {"a": self.text()}], (base,), [[base]],
                base.encode("utf-8", "replace"), Path(base), 3, None, True, {"command": base},
            ]
        )  # fmt: skip

    def event(self) -> Event:
        given = {field: self.value(field) for field in self.sample(GIVEN, self.randint(0, 4))}
        facts: dict[str, Any] = {"tool": {"name": self.choice(TOOLS), "input": given}, "workspace": str(self.root)}
        facts |= {"cwd": str(self.root)} if self.random() < 0.9 else {}
        facts |= {"host": {"name": self.choice(["claude-code", "codex", "gemini-cli"])}} if self.random() < 0.2 else {}
        name = self.choice(["tool.before"] * 4 + ["tool.after"])
        if name == "tool.after":
            facts["tool"] |= {"ok": True, "result": self.value("x")}
        return Event(name, facts)
