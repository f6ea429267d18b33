"""A project that the user has cloned and does not trust yet."""

import asyncio
from pathlib import Path

from hookline.config.problem import Severity
from hookline.engine.book import Book
from hookline.engine.decision import Decision
from hookline.hooks.event import Event
from hookline.hooks.outcome import Verdict
from hookline.project import Source, Trust, load_all

CALL = Event("tool.before", {"tool": {"name": "bash", "input": {"command": "ls"}}})


class Project:
    """A cloned repository, and a user who has not looked at it yet."""

    def __init__(self, path: Path) -> None:
        self.root, self.home = path / "app", path / "home"
        (self.root / ".git").mkdir(parents=True)
        self.home.mkdir()
        self.trust = Trust(path / "state" / "hookline" / "trust.json")

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def hooks(self, *hooks: str, file: str = "hookline.yaml") -> None:
        self.write(file, "hooks:\n" + "".join(f"  - {{on: tool.before, {hook}}}\n" for hook in hooks))

    @property
    def sources(self) -> tuple[Source, ...]:
        return self.trust.sources(self.root, self.home)

    def accept(self) -> None:
        self.trust.accept(self.sources)

    @property
    def accepted(self) -> bool:
        return not self.trust.untrusted_sources(self.sources)

    def decide(self, event: Event = CALL) -> Decision:
        """In a process of its own, so to speak: everything is read again."""
        book = load_all(self.sources, self.trust)
        assert all(problem.severity is Severity.WARNING for problem in book.problems), book.problems
        return asyncio.run(book.decide(event))


def user_file(home: Path) -> Path:
    """The user's own file of hooks."""
    return home / ".config/hookline/hookline.yaml"


def verdict(book: Book, event: Event) -> Verdict:
    return book.decide_now(event).verdict
