import asyncio
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import pytest

from hookline.hooks.actions.answer import FixedAnswer
from hookline.hooks.actions.failing import InvalidAction
from hookline.hooks.actions.verified import FileChangedError, FileState, VerifiedAction
from hookline.hooks.event import Event
from hookline.hooks.host import NO_HOST, Host, bytecode_directory
from hookline.hooks.outcome import ALLOW, ActionError, FailureKind, Outcome, Verdict
from hookline.hooks.protocols import May

CALL = Event("tool.before", {"tool": {"name": "bash", "input": {}}})


class States:
    """Answers with each state in turn."""

    def __init__(self, *states: FileState | str, bytecode: Path | None = None) -> None:
        self.states = list(states)
        self.bytecode = bytecode

    def read(self, working_directories: Iterable[str] = ()) -> FileState:
        state = self.states.pop(0)
        if isinstance(state, str):
            raise FileChangedError(state)
        return state


SAME, OTHER = FileState(("a",)), FileState(("b",))


def _run(action: VerifiedAction, event: Event = CALL) -> Verdict:
    return asyncio.run(action.run(event, NO_HOST)).verdict


def test_an_action_whose_files_are_as_accepted_runs() -> None:
    action = VerifiedAction(FixedAnswer(ALLOW), States(SAME, SAME), holds=True)
    assert _run(action) is Verdict.ALLOW
    assert (action.instant, action.constant, action.may, action.label) == (
        True,
        None,
        May.ALLOW,
        "an answer of its own (allow)",
    )
    assert (list(action.describe()), action.changes(), action.reads()) == ([("allow", "")], (), ())


@pytest.mark.parametrize("states", [("the file x was changed",), (SAME, "the file x was changed"), (SAME, OTHER)])
def test_a_change_before_or_after_holds(states: tuple[FileState | str, ...]) -> None:
    with pytest.raises(ActionError) as raised:
        _run(VerifiedAction(FixedAnswer(ALLOW), States(*states), holds=True))
    failure = raised.value.failure
    assert failure.kind is FailureKind.NOT_TRUSTED
    assert failure.answer is not None
    assert failure.answer.verdict is Verdict.ASK
    assert "hookline trust" in failure.answer.reason


class Compile(FixedAnswer):
    """Stands for a Python program: it leaves a compiled module where it is told to."""

    async def run(self, event: Event, host: Host) -> Outcome:
        directory = Path(bytecode_directory.get() or "")
        directory.mkdir()
        (directory / "module.pyc").touch()
        return await super().run(event, host)


@pytest.mark.parametrize(("after", "is_kept"), [(SAME, True), (OTHER, False), ("the file x was changed", False)])
def test_what_was_compiled_from_a_changed_file_is_not_kept(
    tmp_path: Path, after: FileState | str, is_kept: bool
) -> None:
    private = tmp_path / "bytecode"
    with suppress(ActionError):
        _run(VerifiedAction(Compile(ALLOW), States(SAME, after, bytecode=private), holds=True))
    assert (private / "module.pyc").exists() is is_kept
    assert bytecode_directory.get() is None


def test_an_event_that_cannot_be_asked_about_is_denied() -> None:
    with pytest.raises(ActionError) as raised:
        _run(VerifiedAction(FixedAnswer(ALLOW), States("x"), holds=True), Event("prompt.submit", {}))
    assert raised.value.failure.answer is not None
    assert raised.value.failure.answer.verdict is Verdict.DENY


def test_a_hook_that_could_not_stop_anything_only_fails() -> None:
    with pytest.raises(ActionError) as raised:
        _run(VerifiedAction(FixedAnswer(ALLOW), States("x"), holds=False))
    assert raised.value.failure.answer is None


def test_a_failure_does_not_hide_a_change() -> None:
    with pytest.raises(ActionError, match="changed while it ran"):
        _run(VerifiedAction(InvalidAction("broken"), States(SAME, OTHER), holds=True))
    with pytest.raises(ActionError, match="broken"):
        _run(VerifiedAction(InvalidAction("broken"), States(SAME, SAME), holds=True))
