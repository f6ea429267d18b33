"""What is read of Python types and JSON schemas is what a framework puts into a call."""

from __future__ import annotations

import dataclasses
import enum
import functools
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, Literal, NewType, NotRequired, Optional

import pydantic
import pydantic.v1
import pytest
from pydantic import AliasChoices, AliasPath, BaseModel, ConfigDict, Field
from typing_extensions import TypeAliasType, TypedDict

from hookline.frameworks.tool_defaults import function_defaults, model_defaults, schema_defaults


class Colour(enum.Enum):
    RED = "red"


class Options(BaseModel):
    force: bool = True
    path: Path = Path("/etc/.env")
    names: list[str] = Field(default_factory=list)


OPTIONS = Options()


class Folder(BaseModel):
    name: str = "root"
    folders: list[Folder] = []


class Remove(BaseModel):
    kind: Literal["remove"]
    force: bool = True


class Keep(BaseModel):
    kind: Literal["keep"]
    days: int = 7


@dataclasses.dataclass
class Limits:
    size: int
    count: int = 3
    made: list[int] = dataclasses.field(default_factory=list)
    later: int = dataclasses.field(default=0, init=False)


class Target(TypedDict):
    host: str
    options: NotRequired[Options]


Named = NewType("Named", Options)


class Everything(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)

    command: str
    shell: str = "/bin/sh"
    nothing: int | None = None
    colour: Colour = Colour.RED
    options: Options | None = None
    nested: Options = Field(default_factory=Options)
    listed: list[Options] = []
    mapped: dict[str, Options] = {}
    several: tuple[Options, ...] = ()
    chosen: Remove | Keep | None = None
    limits: Limits = Limits(1)
    target: Target | None = None
    named: Named | None = None
    folder: Folder | None = None


class OldOptions(pydantic.v1.BaseModel):
    force: bool = True


class Old(pydantic.v1.BaseModel):
    command: str
    path: str = pydantic.v1.Field(".env", alias="filePath")
    names: list[str] = pydantic.v1.Field(default_factory=list)
    inner: Optional[OldOptions]  # noqa: UP045
    maybe: Optional[int] = None  # noqa: UP045


GIVEN_EMPTY: dict[str, Any] = {
    "shell": "/bin/sh",
    "nothing": None,
    "colour": "red",
    "options": None,
    "nested": {"force": True, "path": "/etc/.env", "names": []},
    "listed": [],
    "mapped": {},
    "several": [],
    "chosen": None,
    "limits": {"size": 1, "count": 3, "made": [], "later": 0},
    "target": None,
    "named": None,
    "folder": None,
}


FORCED = {"force": True, "path": "/etc/.env", "names": []}


def fill(given: dict[str, Any], model: Any = Everything) -> dict[str, Any]:
    return model_defaults(model).fill(given)


def test_the_defaults_of_a_model() -> None:
    assert fill({"command": "ls"}) == {"command": "ls", **GIVEN_EMPTY}
    assert fill({"command": "ls", "shell": "zsh", "nothing": 1}) == {
        "command": "ls",
        **GIVEN_EMPTY,
        "shell": "zsh",
        "nothing": 1,
    }


@pytest.mark.parametrize(
    ("name", "given", "filled"),
    [
        ("options", {}, FORCED),
        ("options", {"force": False}, {**FORCED, "force": False}),
        ("options", None, None),
        ("options", "not an object", "not an object"),
        ("listed", [{}, {"force": False}], [FORCED, {**FORCED, "force": False}]),
        ("mapped", {"a": {}}, {"a": FORCED}),
        ("several", [{}], [FORCED]),
        ("chosen", {"kind": "remove"}, {"kind": "remove", "force": True}),
        ("chosen", {"kind": "keep"}, {"kind": "keep", "days": 7}),
        ("chosen", {"kind": "other"}, {"kind": "other"}),
        ("limits", {"size": 2}, {"size": 2, "count": 3, "made": []}),
        ("target", {"host": "a", "options": {}}, {"host": "a", "options": FORCED}),
        ("named", {}, FORCED),
        (
            "folder",
            {"folders": [{"folders": [{}]}]},
            {"name": "root", "folders": [{"name": "root", "folders": [{"name": "root", "folders": []}]}]},
        ),
    ],
)
def test_the_defaults_inside_of_an_argument(name: str, given: Any, filled: Any) -> None:
    """As the framework does when it validates the argument."""
    assert fill({"command": "ls", name: given})[name] == filled


def test_they_are_what_pydantic_puts_in() -> None:
    given: dict[str, Any] = {"command": "ls", "options": {}, "listed": [{}], "chosen": {"kind": "keep"}, "folder": {}}
    assert fill(given) == Everything.model_validate(given).model_dump(mode="json")


def test_no_code_of_the_program_makes_a_default() -> None:
    def refuse(*_: Any) -> Any:
        raise AssertionError("it was called")

    def check_text(value: Any) -> Any:
        return refuse()

    class Checked(BaseModel):
        made: str = Field(default_factory=refuse)
        checked: Annotated[str, pydantic.BeforeValidator(check_text)] = "a"
        of_a_class: Path = Field(default_factory=Path.cwd)

        @pydantic.model_validator(mode="before")
        @classmethod
        def check(cls, value: Any) -> Any:
            raise AssertionError("it was called")

    assert fill({}, Checked) == {"made": "<function>", "checked": "a", "of_a_class": "<method>"}
    assert function_defaults(lambda path=refuse, kind=Checked: None).fill({}) == {
        "path": "<function>",
        "kind": "<ModelMetaclass>",
    }


def test_the_defaults_of_a_function() -> None:
    def tool(a: int, /, b: int = 2, *more: int, c: str = "c", d: Options = OPTIONS, **rest: Any) -> None: ...

    assert function_defaults(tool).fill({"a": 1}) == {"a": 1, "b": 2, "c": "c", "d": FORCED}
    assert function_defaults(tool).fill({"a": 1, "d": {}})["d"] == {}
    assert function_defaults(tool, validates=True).fill({"a": 1, "d": {}})["d"] == FORCED
    assert function_defaults(functools.partial(tool, 1, b=5)).fill({}) == {"b": 5, "c": "c", "d": FORCED}
    assert function_defaults(print).fill({})["sep"] == " "
    assert function_defaults(42).fill({}) == {}
    assert function_defaults(type).fill({}) == {}


def test_fields_as_the_defaults_of_a_function() -> None:
    def tool(
        a: int = Field(...),
        b: int = Field(2, description="two"),
        c: list[int] = Field(default_factory=list),  # noqa: B008
        d: int = pydantic.v1.Field(4),
        e: int = pydantic.v1.Field(...),
    ) -> None: ...

    assert function_defaults(tool).fill({}) == {"b": 2, "c": [], "d": 4}


def test_fields_in_the_annotations_of_a_function() -> None:
    def tool(
        a: Annotated[int, Field(alias="A")] = 1, b: Annotated[int, Field(2)] = 3, c: Annotated[int, Field(4)] = 5
    ) -> None: ...

    assert function_defaults(tool, validates=True).fill({}) == {"A": 1, "b": 3, "c": 5}
    assert function_defaults(tool).fill({}) == {"a": 1, "b": 3, "c": 5}


def test_annotations_that_cannot_be_read_hide_no_default() -> None:
    def tool(a: Unknown = 1, b: Options | None = None) -> None:  # type: ignore[name-defined]  # noqa: F821
        ...

    assert function_defaults(tool, validates=True).fill({}) == {"a": 1, "b": None}


Recursive = TypeAliasType("Recursive", "dict[str, Recursive] | list[Recursive] | Options | None")


def test_an_alias_that_contains_itself() -> None:
    alias: Any = TypeAliasType("Alias", Options)
    looped = SimpleNamespace()
    kind = type("TypeAliasType", (), {"__value__": property(lambda self: list[looped.alias] | Options)})  # as in 3.12
    looped.alias = kind()

    def tool(a: Any = 1, b: Any = None, c: Any = None) -> None: ...

    tool.__annotations__ = {"a": looped.alias, "b": alias, "c": Recursive}
    assert function_defaults(tool, validates=True).fill({"b": {}}) == {"a": 1, "b": FORCED, "c": None}
    assert function_defaults(tool, validates=True).fill({"a": {}})["a"] == FORCED


def test_an_annotation_that_fails_hides_no_other(caplog: pytest.LogCaptureFixture) -> None:
    def tool(a: Any = 1, b: Any = None) -> None: ...

    tool.__annotations__ = {"a": type("TypeAliasType", (), {"__value__": property(lambda self: 1 / 0)})(), "b": Options}
    assert function_defaults(tool, validates=True).fill({"b": {}}) == {"a": 1, "b": FORCED}
    assert "hooks do not see the defaults inside of a" in caplog.text


def test_the_names_under_which_a_field_can_be_given() -> None:
    class Renamed(BaseModel):
        path: str = Field(".env", alias="filePath")
        mode: str = Field("w", validation_alias=AliasChoices("fileMode", "m", AliasPath("more", "mode")))
        deep: str = Field("x", validation_alias=AliasPath("more", "deep"))

    class ByName(Renamed):
        model_config = ConfigDict(populate_by_name=True)

    assert fill({}, Renamed) == {"filePath": ".env", "fileMode": "w"}
    assert fill({"m": "a", "path": "b"}, Renamed) == {"m": "a", "path": "b", "filePath": ".env"}
    assert fill({"path": "b", "mode": "a"}, ByName) == {"path": "b", "mode": "a", "deep": "x"}


def test_models_of_the_first_version_of_pydantic() -> None:
    assert fill({"command": "ls", "inner": {}}, Old) == {
        "command": "ls",
        "filePath": ".env",
        "names": [],
        "inner": {"force": True},
        "maybe": None,
    }


SCHEMA = {
    "type": "object",
    "properties": {
        "command": {"type": "string"},
        "path": {"type": "string", "default": ".env"},
        "nothing": {"default": None},
        "options": {"$ref": "#/$defs/Options"},
        "listed": {"type": "array", "items": {"$ref": "#/$defs/Options"}},
        "pairs": {"prefixItems": [{"type": "string"}, {"$ref": "#/$defs/Options"}]},
        "mapped": {"additionalProperties": {"$ref": "#/$defs/Options"}},
        "chosen": {"oneOf": [{"$ref": "#/$defs/Remove"}, {"$ref": "#/$defs/Keep"}, {"type": "null"}]},
        "all": {"allOf": [{"$ref": "#/$defs/Options"}], "properties": {"own": {"default": 1}}},
        "lost": {"$ref": "#/$defs/Lost"},
        "remote": {"$ref": "https://example.com/schema"},
        "loop": {"$ref": "#/$defs/Loop"},
        "odd": True,
        "given": {"type": "object", "default": {}, "properties": {"force": {"default": True}}},
    },
    "required": ["command"],
    "$defs": {
        "Options": {"properties": {"force": {"default": True}, "options": {"$ref": "#/$defs/Options"}}},
        "Remove": {"properties": {"kind": {"const": "remove"}, "force": {"default": True}}, "required": ["kind"]},
        "Keep": {"properties": {"kind": {"enum": ["keep"]}, "days": {"default": 7}}, "required": ["kind"]},
        "Loop": {"$ref": "#/$defs/Loop"},
    },
}


def test_the_defaults_of_a_schema() -> None:
    defaults = schema_defaults(SCHEMA)
    plain = {"path": ".env", "nothing": None, "given": {"force": True}}
    assert defaults.fill({"command": "ls"}) == {"command": "ls", **plain}
    nested: dict[str, Any] = {
        "options": {"options": {}},
        "listed": [{}],
        "pairs": ["a", {}],
        "mapped": {"a": {}},
        "chosen": {"kind": "keep"},
        "all": {},
        "lost": {},
        "remote": {},
        "loop": {},
        "odd": {},
    }
    assert defaults.fill(nested) == {
        **nested,
        **plain,
        "options": {"force": True, "options": {"force": True}},
        "listed": [{"force": True}],
        "pairs": ["a", {"force": True}],
        "mapped": {"a": {"force": True}},
        "chosen": {"kind": "keep", "days": 7},
        "all": {"own": 1, "force": True},
    }
    bad: Any
    for bad in (None, True, [], {"properties": []}, {"properties": {"a": 1}, "required": "a", "anyOf": 1}):
        assert schema_defaults(bad).fill({"a": 1}) == {"a": 1}


def test_a_schema_that_contains_itself_ends() -> None:
    node = {
        "properties": {
            "left": {"$ref": "#/$defs/Node", "default": {}},
            "right": {"$ref": "#/$defs/Node", "default": {}},
        }
    }
    defaults = schema_defaults({"$ref": "#/$defs/Node", "$defs": {"Node": node}})
    shown = defaults.fill({})
    assert shown["left"]["right"] == {"left": {}, "right": {}}
    assert defaults.leave_out(shown, {}) == {}
    assert defaults.fill({"left": {"left": {"left": {}}}})["left"]["left"]["left"]["left"] == {
        "left": {"left": {}, "right": {}},
        "right": {"left": {}, "right": {}},
    }


LEFT: list[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    # what is given, what hooks left of it, what the tool is given
    ({"command": "ls"}, {"command": "ls", **GIVEN_EMPTY}, {"command": "ls"}),
    ({"command": "ls"}, {"command": "pwd", **GIVEN_EMPTY}, {"command": "pwd"}),
    ({"command": "ls"}, {"command": "ls", **GIVEN_EMPTY, "shell": "zsh"}, {"command": "ls", "shell": "zsh"}),
    ({"shell": "/bin/sh"}, {**GIVEN_EMPTY}, {"shell": "/bin/sh"}),
    ({}, {**GIVEN_EMPTY, "new": 1}, {"new": 1}),
    ({"shell": "zsh"}, {**GIVEN_EMPTY}, {"shell": "/bin/sh"}),
    ({}, {**GIVEN_EMPTY, "nested": {**FORCED, "force": False}}, {"nested": {**FORCED, "force": False}}),
    ({"options": {}}, {**GIVEN_EMPTY, "options": FORCED}, {"options": {}}),
    ({"options": {}}, {**GIVEN_EMPTY, "options": {**FORCED, "force": 1}}, {"options": {"force": 1}}),
    ({"options": {}}, {**GIVEN_EMPTY, "options": None}, {"options": None}),
    ({"listed": [{}, {}]}, {**GIVEN_EMPTY, "listed": [FORCED, {**FORCED, "names": ["a"]}]}, {"listed": [{}, {"names": ["a"]}]}),
    ({"listed": [{"force": False}, {}]}, {**GIVEN_EMPTY, "listed": [FORCED]}, {"listed": [{}]}),
    ({"listed": [{}]}, {**GIVEN_EMPTY, "listed": [FORCED, 1]}, {"listed": [{}, 1]}),
]  # fmt: skip


@pytest.mark.parametrize(("given", "left", "run"), LEFT)
def test_the_tool_is_not_given_the_defaults_that_hooks_left_alone(
    given: dict[str, Any], left: dict[str, Any], run: dict[str, Any]
) -> None:
    defaults = model_defaults(Everything)
    assert defaults.leave_out(left, given) == run
    assert defaults.fill(run) == left, "it runs with what hooks left"
