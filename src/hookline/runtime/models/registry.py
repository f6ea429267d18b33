"""Creates a model from its name: `provider:model`, `script:FILE`, or a name from `models`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

from hookline.errors import HooklineError
from hookline.formatting import closest_match, printable, shorten
from hookline.runtime.apps.app import App, NamedModel
from hookline.runtime.models.fallback import FallbackModel
from hookline.runtime.models.model import Model
from hookline.runtime.models.providers import parse_address
from hookline.runtime.models.remote_model import RemoteModel
from hookline.runtime.models.scripted import ScriptedModel, read_script

ModelChoice: TypeAlias = tuple[str, int | None]
"""A full name, and the context limit that the app sets."""


def create_model(name: str, app: App, env: Mapping[str, str], directory: Path) -> Model:
    """Raises HooklineError; for a script, a ConfigError with every problem. Keys come only from `env`.

    directory: the path of a script is relative to it.
    """
    choices: dict[str, int | None] = {}
    for each, limit in _resolve_names(name, app.models, ()):
        choices.setdefault(each, limit)
    models = [_create_single_model(each, limit, env, directory) for each, limit in choices.items()]
    return models[0] if len(models) == 1 else FallbackModel(models)


def _resolve_names(name: str, named: Mapping[str, NamedModel], above: tuple[str, ...]) -> Iterator[ModelChoice]:
    """The model and its fallbacks in order; each may be a name from `models` too."""
    given = named.get(name)
    if given is None:
        if ":" not in name:
            raise HooklineError(_describe_unknown_model(name, named))
        yield name, None
        return
    if name in above:
        raise HooklineError(f"models: {' → '.join((*above, name))} refers to itself; write provider:model")
    (first, limit), *others = _resolve_names(given.model, named, (*above, name))
    yield first, given.context_limit or limit
    yield from others
    for fallback in given.fallbacks:
        yield from _resolve_names(fallback, named, (*above, name))


def _create_single_model(name: str, context_limit: int | None, env: Mapping[str, str], directory: Path) -> Model:
    word, _, file = name.partition(":")
    if word != "script":
        return RemoteModel(parse_address(name, env), context_limit)
    return ScriptedModel(read_script(directory / file, file), name=name, context_limit=context_limit)


def _describe_unknown_model(name: str, named: Mapping[str, NamedModel]) -> str:
    guess = closest_match(name, named)
    hint = f"did you mean {guess}?" if guess else "write provider:model, such as openai:gpt-5 or script:demo.yaml"
    return f"model {shorten(printable(name))}: this model does not exist; {hint}"
