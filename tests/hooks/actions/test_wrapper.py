from __future__ import annotations

from collections.abc import Iterable

from hookline.hooks.actions.change import ChangeFacts, Remove
from hookline.hooks.actions.failing import UntrustedAction
from hookline.hooks.actions.verified import FileState, VerifiedAction


class NoFiles:
    def read(self, working_directories: Iterable[str] = ()) -> FileState:
        return FileState(())


def test_a_wrapper_speaks_for_its_action() -> None:
    action = ChangeFacts((Remove(("tool", "input", "x")),))
    for wrapper in (UntrustedAction(action), VerifiedAction(action, NoFiles(), holds=False)):
        assert (wrapper.label, wrapper.may) == (action.label, action.may)
        assert wrapper.changes() == (("tool", "input", "x"),)
        assert list(wrapper.reads()) == list(action.reads())
        assert list(wrapper.describe()) == list(action.describe())
        assert wrapper.constant is None
