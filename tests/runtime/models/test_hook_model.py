"""The model that hooks of a coding agent ask: which file names it, and what it may not be told by the environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from hookline.errors import HooklineError, UnavailableError
from hookline.runtime.models import hook_model
from runtime.models.provider_stub import KEY, StubResponse, chunk, encode_sse, run_async, serving

YES = StubResponse(encode_sse([chunk({"content": '{"ok": '}), chunk({"content": "true}"}, "stop")], done=True))


async def complete(prompt: str, home: Path, config_home: Path | None, env: dict[str, str]) -> str:
    async with hook_model.open_hook_model(home, config_home, env) as model:
        return await hook_model.complete(model, prompt)


def write_models(home: Path, text: str) -> None:
    file = home / ".config/hookline/hookline.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"models:\n  {text}\n")


def test_the_users_file_names_the_model(tmp_path: Path) -> None:
    async def work() -> None:
        async with serving(YES) as loopback:
            write_models(tmp_path, f"prompt_hooks: {{model: 'openai-chat:small', base_url: '{loopback.url}/v1'}}")
            assert await complete("Is it safe?", tmp_path, None, {"HOOKLINE_KEY_127_0_0_1": KEY}) == '{"ok": true}'
            (got,) = loopback.got
            assert (got.body["model"], got.headers["authorization"]) == ("small", f"Bearer {KEY}")
            assert "Is it safe?" in str(got.body["messages"])

    run_async(work)


def test_a_name_of_another_model_and_a_moved_config_directory_count(tmp_path: Path) -> None:
    async def work() -> None:
        async with serving(YES) as loopback:
            write_models(tmp_path, f"{{prompt_hooks: small, small: 'openai-chat:tiny@{loopback.url}/v1'}}")
            assert await complete("?", tmp_path / "elsewhere", tmp_path / ".config", {}) == '{"ok": true}'

    run_async(work)


@pytest.mark.parametrize("text", ["other: openai:gpt-5", "prompt_hooks:"])
def test_without_a_model_the_user_reads_what_to_write(tmp_path: Path, text: str) -> None:
    async def work() -> None:
        write_models(tmp_path, text)
        with pytest.raises(
            UnavailableError, match=r"needs a model; write `models: {prompt_hooks: provider:model}` in ~/.config"
        ):
            await complete("?", tmp_path, None, {})

    run_async(work)


def test_the_environment_does_not_move_the_model(tmp_path: Path) -> None:
    """A project's settings may set variables of the agent."""

    async def work() -> None:
        async with serving(YES) as loopback:
            write_models(tmp_path, "prompt_hooks: openai:gpt-5")
            with pytest.raises(HooklineError, match="no API key"):
                await complete("?", tmp_path, None, {"OPENAI_BASE_URL": f"{loopback.url}/v1"})
            assert loopback.got == []

    run_async(work)
