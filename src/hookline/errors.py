"""Every error of ours, and how the command line ends because of it.

HooklineError                 something the user can mend; exit code 1
├── ConfigError               a config that cannot be used: carries every problem found
├── MustWait                  decide_now() was asked, but a hook has to wait; await decide() instead
├── UnavailableError          an action needs something that this host does not have
├── MissingExtraError         a feature needs an extra that is not installed; an ImportError too
├── ToolFailed                a guarded tool failed, and hooks changed what is told of it
└── Denied                    hooks, or a person whom they had asked, did not let a tool or a prompt pass
    └── Halted                hooks want the agent to stop

Undecided and InDoubt are not among them: whoever asks a pattern or a condition has an answer for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class HooklineError(Exception):
    exit_code = 1


class ConfigError(HooklineError):
    """`problems` are config.problem.Problem values; typed as objects because this module is everyone's."""

    def __init__(self, problems: Iterable[object]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class MustWait(HooklineError):
    pass


class UnavailableError(HooklineError):
    pass


class MissingExtraError(HooklineError, ImportError):
    """`need` begins the sentence: "hookline run needs our agent"."""

    def __init__(self, need: str, extra: str) -> None:
        super().__init__(f"{need}, which is an extra. Install it: pip install 'hookline[{extra}]'")


@contextmanager
def extra_required(need: str, extra: str) -> Iterator[None]:
    """Raises MissingExtraError if an import inside fails because a package is not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "hookline":
            raise
        raise MissingExtraError(need, extra) from error


class ToolFailed(HooklineError):
    """Its text is what the hooks left; the tool's own error, which they kept back, is nowhere in it."""


class Denied(HooklineError):
    """Its text is the reason, in words that an agent may read."""

    exit_code = 2

    def __init__(self, reason: str, by: str | None = None) -> None:
        super().__init__(reason)
        self.reason, self.by = reason, by


class Halted(Denied):
    pass


class UndecidedError(Exception):
    """A pattern could not be decided on a text before the deadline; its text says what stood in the way."""

    def __init__(self, why: str = "it took too long") -> None:
        super().__init__(why)


class AmbiguousField(Exception):
    """An event can be read in several ways, which lead to different answers; its text says which."""


class BadTemplate(ValueError):
    """A text that cannot be rendered safely; `what` and `hint` are words for its author."""

    def __init__(self, what: str, hint: str, position: int) -> None:
        super().__init__(f"{what}. {hint}" if hint else what)
        self.what = what
        self.hint = hint
        self.position = position
