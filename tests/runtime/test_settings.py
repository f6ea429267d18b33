from __future__ import annotations

from pathlib import Path

from hookline.runtime.apps.app import App
from hookline.runtime.runtime import Runtime
from hookline.runtime.settings import Settings
from runtime.scripted_runtime import make_agent, run_async


def test_the_store_is_in_the_users_state_directory(tmp_path: Path) -> None:
    assert Settings(home=tmp_path, env={}).default_store.endswith(f"{tmp_path}/.local/state/hookline/sessions.db")
    other = tmp_path / "state"
    assert Settings(home=tmp_path, env={"XDG_STATE_HOME": str(other)}).default_store.endswith(
        f"{other}/hookline/sessions.db"
    )


def test_a_relative_path_counts_as_unset(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, env={"A": "relative/path", "B": "", "C": "/absolute"})
    assert [settings.env_path(name) for name in "ABCD"] == [None, None, Path("/absolute"), None]


def test_trust_is_stored_beside_the_sessions(tmp_path: Path) -> None:
    state = tmp_path / "state"
    trust = Settings(home=tmp_path, env={"XDG_STATE_HOME": str(state)}).trust
    trust.accept(())
    assert all(path.is_relative_to(state) for path in tmp_path.rglob("trust*"))


def test_the_environment_is_a_copy(monkeypatch) -> None:
    settings = Settings()
    monkeypatch.setenv("HOOKLINE_TEST_LATER", "1")
    assert "HOOKLINE_TEST_LATER" not in settings.env


def test_what_the_users_own_file_says_about_recording_holds_for_a_named_one(tmp_path: Path) -> None:
    own, named = tmp_path / ".config" / "hookline" / "hookline.yaml", tmp_path / "named.yaml"
    own.parent.mkdir(parents=True)
    own.write_text("record: off\nhooks: []\n")
    named.write_text("record: {facts: full}\nhooks: []\n")

    async def is_recording() -> bool:
        settings = Settings(home=tmp_path, env={}, app=App((make_agent(),)), config=named, store="sqlite://")
        async with Runtime.open(tmp_path, settings) as runtime:
            return runtime.book.record.enabled

    assert run_async(is_recording) is False
