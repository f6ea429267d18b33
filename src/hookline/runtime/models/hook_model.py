"""The model that hooks ask in a coding agent, which has none for them: `prompt_hooks` in `models` of the user's own file."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from hookline.errors import UnavailableError, extra_required
from hookline.project import SourceLayer, find_sources
from hookline.runtime.apps.app import App, NamedModel
from hookline.runtime.apps.app_loader import named_models
from hookline.runtime.models.model import CompletionRequest, Model, TextChunk
from hookline.runtime.models.providers import PROVIDERS
from hookline.runtime.models.registry import create_model

HOOK_MODEL: Final = "prompt_hooks"


async def complete(model: Model, prompt: str) -> str:
    pieces = model.stream(CompletionRequest(({"role": "user", "content": prompt},)))
    return "".join([piece.text async for piece in pieces if isinstance(piece, TextChunk)])


@asynccontextmanager
async def open_hook_model(home: Path, config_home: Path | None, env: Mapping[str, str]) -> AsyncIterator[Model]:
    """Raises UnavailableError if the user's file names no model.

    Only keys count from `env`, never addresses: a project's settings may set variables of the agent, and must not
    choose who judges its calls.
    """
    models, directory = _user_models(home, config_home)
    if HOOK_MODEL not in models:
        raise UnavailableError(
            f"needs a model; write `models: {{{HOOK_MODEL}: provider:model}}` in ~/.config/hookline/hookline.yaml"
        )
    addresses = {provider.url_variable for provider in PROVIDERS.values()}
    keys = {name: value for name, value in env.items() if name not in addresses}
    with extra_required("A model for hooks needs hookline's agent", "agent"):
        model = create_model(HOOK_MODEL, App(agents=(), models=models), keys, directory)
        try:
            yield model
        finally:
            await model.close()


def _user_models(home: Path, config_home: Path | None) -> tuple[Mapping[str, NamedModel], Path]:
    """The models by name, and the directory of their file."""
    for source in find_sources(home, home, config_home):
        if source.layer is SourceLayer.USER and (models := named_models(source)):
            return models, source.path.parent
    return {}, home
