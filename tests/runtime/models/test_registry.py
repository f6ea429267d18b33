from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from hookline.errors import ConfigError, HooklineError
from hookline.runtime.apps.app import App, NamedModel
from hookline.runtime.models.fallback import FallbackModel
from hookline.runtime.models.model import CompletionRequest, TextChunk
from hookline.runtime.models.registry import create_model
from hookline.runtime.models.remote_model import RemoteModel

pytestmark = pytest.mark.slow


ENV = {"OPENAI_API_KEY": "o", "ANTHROPIC_API_KEY": "a"}


def app(**models: NamedModel) -> App:
    return App(agents=(), models=models)


def test_a_provider_and_a_model() -> None:
    model = create_model("anthropic:claude-sonnet-4-5", app(), ENV, Path())
    assert isinstance(model, RemoteModel)
    assert (model.name, model.context_limit) == ("anthropic:claude-sonnet-4-5", 200_000)


def test_a_name_of_the_app_with_its_limit_and_fallbacks() -> None:
    given = app(
        main=NamedModel("openai:gpt-5", ("cheap", "openai:gpt-5"), 50_000),
        cheap=NamedModel("anthropic:claude-haiku-4-5"),
    )
    model = create_model("main", given, ENV, Path())
    assert isinstance(model, FallbackModel)
    assert (model.name, model.context_limit) == ("openai:gpt-5", 50_000)
    assert [each.name for each in model._models] == ["openai:gpt-5", "anthropic:claude-haiku-4-5"]


def test_names_that_lead_in_a_circle() -> None:
    given = app(a=NamedModel("b"), b=NamedModel("a"))
    with pytest.raises(HooklineError, match="a → b → a refers to itself"):
        create_model("a", given, ENV, Path())


def test_a_fallback_without_a_key_is_told_at_once() -> None:
    with pytest.raises(HooklineError, match="GROQ_API_KEY"):
        create_model("main", app(main=NamedModel("openai:gpt-5", ("groq:llama-3.3-70b",))), ENV, Path())


@pytest.mark.parametrize(("name", "text"), [("mian", "did you mean main"), ("gpt-5", "write provider:model")])
def test_a_name_that_nobody_gave(name: str, text: str) -> None:
    with pytest.raises(HooklineError, match=text):
        create_model(name, app(main=NamedModel("openai:gpt-5")), ENV, Path())


def test_a_script_is_found_from_the_directory(tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "demo.yaml").write_text("- Hello.\n")
    model = create_model("script:scripts/demo.yaml", app(), {}, tmp_path)

    async def work() -> list[object]:
        return [piece async for piece in model.stream(CompletionRequest(()))]

    assert (model.name, asyncio.run(work())[0]) == ("script:scripts/demo.yaml", TextChunk("Hello."))


def test_a_script_with_problems_names_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "demo.yaml").write_text("steps:\n  - sey: Hello.\n")
    with pytest.raises(ConfigError) as error:
        create_model("script:demo.yaml", app(), {}, tmp_path)
    assert "demo.yaml:2" in str(error.value)
    assert "Did you mean say?" in str(error.value)
    with pytest.raises(ConfigError, match="does not exist"):
        create_model("script:none.yaml", app(), {}, tmp_path)


def test_naming_a_model_loads_no_providers_library() -> None:
    code = (
        "import sys; from pathlib import Path; from hookline.runtime.apps.app import App\n"
        "from hookline.runtime.models.registry import create_model\n"
        "create_model('openai:gpt-5', App(()), {'OPENAI_API_KEY': 'k'}, Path())\n"
        "print(sorted({'pydantic_ai', 'openai', 'httpx', 'httpx2', 'anthropic'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "[]\n"
