from __future__ import annotations

import pytest

from hookline.standard_agents.definitions import (
    AgentDefinition,
    DefinitionError,
    Definitions,
    HookDefinition,
    ModelDefinition,
    NotDefined,
    PromptDefinition,
    SourceLocation,
    ToolDefinition,
    collecting,
    current_definitions,
)


def test_each_kind_has_names_of_its_own() -> None:
    definitions = Definitions()
    for each in (
        AgentDefinition("x"),
        PromptDefinition("x"),
        ModelDefinition("x", "openai", "gpt"),
        ToolDefinition("x", "does x", print),
        HookDefinition("filter_messages", "x", print),
    ):
        definitions.add(each)
    assert definitions.agent("x").name == definitions.prompt("x").name == definitions.model("x").name == "x"
    assert (list(definitions.tools), list(definitions.hooks)) == (["x"], ["x"])


def test_a_name_that_is_taken_says_where() -> None:
    definitions = Definitions()
    definitions.add(HookDefinition("filter_messages", "x", print, SourceLocation("a.py", 3)))
    with pytest.raises(DefinitionError, match=r"the hook x is defined twice, first in a\.py:3\. .* another id"):
        definitions.add(HookDefinition("filter_messages", "x", print))


def test_the_same_definition_may_be_added_again() -> None:
    definitions, agent = Definitions(), AgentDefinition("x")
    definitions.add(agent)
    definitions.add(agent)
    assert list(definitions.agents) == ["x"]


def test_anything_else_is_refused() -> None:
    with pytest.raises(DefinitionError, match="SourceLocation is not a definition"):
        Definitions().add(SourceLocation())  # type: ignore[arg-type]


def test_a_missing_name_lists_the_known_ones() -> None:
    definitions = Definitions()
    with pytest.raises(NotDefined, match="Defined: none"):
        definitions.agent("y")
    definitions.add(AgentDefinition("x"))
    with pytest.raises(NotDefined, match="Defined: x"):
        definitions.agent("y")


def test_collecting_nests_and_ends_with_its_block() -> None:
    outside = current_definitions()
    with collecting() as outer:
        with collecting() as inner:
            assert current_definitions() is inner
        assert current_definitions() is outer
    assert current_definitions() is outside
