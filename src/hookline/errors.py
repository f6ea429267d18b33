"""Every error of hookline, and the exit code of each.

HooklineError                 something you can fix; exit code 1
├── ConfigError               a config that cannot be used; has every problem found
├── InvalidEvent              the facts of an event do not have the shape that hooks read
├── MustWait                  decide_now() was called, but a hook has to wait; await decide() instead
├── UnavailableError          an action needs something that this host does not have
├── MissingExtraError         a feature needs an extra that is not installed; also an ImportError
├── ToolFailed                a guarded tool failed, and hooks changed its error
└── Denied                    hooks, or the person they asked, denied a tool or a prompt; exit code 2
    └── Halted                hooks stopped the agent

UndecidedError, ConditionError and AmbiguousField are internal: the code that evaluates conditions handles them.
BadTemplate becomes a problem of the config.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager
from typing import Final


class HooklineError(Exception):
    exit_code = 1


class ConfigError(HooklineError):
    """`problems` are config.problem.Problem values, typed as objects because this module imports nothing."""

    def __init__(self, problems: Iterable[object]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class InvalidEvent(HooklineError):
    """The message names the fact."""


class MustWait(HooklineError):
    pass


class UnavailableError(HooklineError):
    pass


class MissingExtraError(HooklineError, ImportError):
    """`need` begins the sentence: "hookline run needs hookline's agent"."""

    def __init__(self, need: str, extra: str) -> None:
        from hookline.extras import install_command  # reads what the installer has recorded

        super().__init__(f"{need}, which is an extra. Install it: {install_command(extra)}")


@contextmanager
def extra_required(need: str, extra: str) -> Iterator[None]:
    """Raises MissingExtraError if an import inside fails because a package is not installed."""
    try:
        yield
    except ImportError as error:  # also of a package that is broken
        if (error.name or "").partition(".")[0] == "hookline":
            raise
        raise MissingExtraError(need, extra) from error


class ToolFailed(HooklineError):
    """The message is the error as the hooks changed it. It never contains the tool's original error."""


class Denied(HooklineError):
    """The message is the reason, in words that an agent may read, with the hook and its place in a file."""

    exit_code = 2

    def __init__(self, reason: str, by: str | None = None, source: str = "") -> None:
        super().__init__(reason + source)
        self.reason, self.by = reason, by


class Halted(Denied):
    pass


class UndecidedError(Exception):
    """A pattern could not be matched before the deadline. The message says why."""

    def __init__(self, why: str = "it took too long") -> None:
        super().__init__(why)


class ConditionError(Exception):
    """A condition cannot be computed. The message says why, without a text that may contain a secret."""


UNANSWERED: Final = (UndecidedError, ConditionError)
"""Raised if the texts that conditions read cannot be found out. The index must then keep every hook that reads them."""


class AmbiguousField(Exception):
    """A field can be read in several ways, with different answers.

    `source` is a key of Event.choices, and `count` the number of ways. hookline.hooks.readings tries each of them. The last
    `doubts` of them count for an allow only: that a guess about the tool is wrong, that `$x` is an option. `unsure` is the
    condition in words as it is and as it may be, if only the shell can know.
    """

    def __init__(
        self, why: str, source: Hashable, count: int, *, doubts: int = 0, unsure: tuple[str, str] | None = None
    ) -> None:
        super().__init__(why)
        self.source, self.count, self.doubts, self.unsure = source, count, doubts, unsure


class BadTemplate(ValueError):
    """A template that cannot be rendered safely. `what` and `hint` are for its author."""

    def __init__(self, what: str, hint: str, position: int) -> None:
        super().__init__(f"{what}. {hint}" if hint else what)
        self.what = what
        self.hint = hint
        self.position = position
