from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest

from hookline import lazy_dataclasses

FIELDS = ["name", "items", "hidden", "late"]


def make(dataclass: Callable[..., Any], field: Callable[..., Any], **options: bool) -> Any:
    """The same class by either implementation."""

    @dataclass(**options)
    class Point:
        kind: ClassVar[str] = "point"
        name: str
        items: list[int] = field(default_factory=list, kw_only=True)
        hidden: int = field(default=3, repr=False, compare=False)
        late: int = field(init=False, default=9)

    return Point


def both(**options: bool) -> tuple[Any, Any]:
    ours = make(lazy_dataclasses.dataclass, lazy_dataclasses.field, **options)
    return ours, make(dataclasses.dataclass, dataclasses.field, **options)


@pytest.mark.parametrize("slots", [False, True])
@pytest.mark.parametrize("frozen", [False, True])
def test_classes_behave_like_standard_dataclasses(frozen: bool, slots: bool) -> None:
    for cls in both(frozen=frozen, slots=slots):
        value = cls("a", items=[1])
        assert (value.name, value.items, value.hidden, value.late, value.kind) == ("a", [1], 3, 9, "point")
        assert cls("a").items is not cls("a").items
        assert repr(value).endswith("Point(name='a', items=[1], late=9)")
        assert value == cls("a", hidden=7, items=[1]) != cls("b", items=[1])
        assert value != object()
        assert cls.__match_args__ == ("name", "hidden")
        assert str(inspect.signature(cls)).startswith("(name")
        assert hasattr(value, "__dict__") is not slots
        assert [each.name for each in dataclasses.fields(cls)] == FIELDS
        assert dataclasses.is_dataclass(cls)
        assert dataclasses.asdict(value) == {"name": "a", "items": [1], "hidden": 3, "late": 9}
        assert dataclasses.replace(value, name="b") == cls("b", items=[1])
        for wrong in ({}, {"name": "a", "late": 1}, {"name": "a", "other": 1}):
            with pytest.raises(TypeError):
                cls(**wrong)


@pytest.mark.parametrize("frozen", [False, True])
def test_the_first_objects_are_like_the_later_ones(frozen: bool) -> None:
    ours, _ = both(frozen=frozen, slots=True)
    made = [ours("a", n, items=[n]) for n in range(50)]
    assert [(each.name, each.hidden, each.items, each.late) for each in made] == [("a", n, [n], 9) for n in range(50)]
    assert "__init__" in vars(ours)
    assert inspect.isfunction(vars(ours)["__init__"])


@pytest.mark.parametrize(
    "call",
    [
        lambda cls: cls(),
        lambda cls: cls("a", 1, 2),
        lambda cls: cls("a", name="b"),
        lambda cls: cls("a", late=1),
        lambda cls: cls("a", other=1),
        lambda cls: cls("a", 3, hidden=4),
    ],
)
def test_wrong_arguments_are_refused_from_the_first_object_on(call: Callable[[Any], Any]) -> None:
    messages = []
    for cls in both(frozen=True, slots=True):
        with pytest.raises(TypeError) as refused:
            call(cls)
        messages.append(str(refused.value))
    assert messages[0] == messages[1]


def test_a_frozen_object_refuses_changes_and_has_a_hash() -> None:
    for cls in both(frozen=True, slots=True):
        value = cls("a", items=())
        with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'name'"):
            value.name = "b"
        with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'name'"):
            del value.name
        assert hash(value) == hash(cls("a", items=(), hidden=8)) == hash(("a", (), 9))


def test_an_object_that_can_change_has_no_hash() -> None:
    for cls in both(slots=True):
        value = cls("a")
        value.name = "b"
        assert value == cls("b")
        with pytest.raises(TypeError, match="unhashable"):
            hash(value)


def test_without_eq_objects_are_compared_by_identity() -> None:
    for cls in both(eq=False, frozen=True):
        assert cls("a") != cls("a")
        assert isinstance(hash(cls("a")), int)


@lazy_dataclasses.dataclass(frozen=True, slots=True)
class Base:
    name: str
    size: int = 1

    def __post_init__(self) -> None:
        if self.size < 0:
            raise ValueError("too small")


@lazy_dataclasses.dataclass(frozen=True, slots=True)
class Derived(Base):
    size: int = 2
    parts: tuple[Base, ...] = ()

    def __str__(self) -> str:
        return self.name


def test_fields_are_inherited_and_post_init_is_called() -> None:
    assert Derived("a") == Derived("a", 2, ()) != Base("a", 2)
    assert str(Derived("a")) == "a"
    assert repr(Derived("a", parts=(Base("b"),))) == "Derived(name='a', size=2, parts=(Base(name='b', size=1),))"
    with pytest.raises(ValueError, match="too small"):
        Derived("a", -1)
    with pytest.raises(AttributeError):
        object.__setattr__(Derived("a"), "other", 1)


def test_a_plain_subclass_inherits_the_methods() -> None:
    class Plain(Derived):
        pass

    value = Plain("a")
    value.note = "set"  # type: ignore[attr-defined]
    assert value == Plain("a") != Derived("a")
    assert value.note == "set"  # type: ignore[attr-defined]
    with pytest.raises(dataclasses.FrozenInstanceError):
        value.name = "b"  # type: ignore[misc]


def test_a_standard_dataclass_may_inherit_from_one() -> None:
    @dataclasses.dataclass(frozen=True)
    class Standard(Derived):
        more: int = 5

    assert Standard("a", more=6).more == 6
    assert [each.name for each in dataclasses.fields(Standard)] == ["name", "size", "parts", "more"]


def test_frozen_objects_can_be_copied_and_pickled() -> None:
    value = Derived("a", parts=(Base("b"),))
    assert pickle.loads(pickle.dumps(value)) == copy.deepcopy(value) == copy.copy(value) == value


def test_a_field_without_init_cannot_be_replaced() -> None:
    ours, _ = both(frozen=True)
    assert lazy_dataclasses.replace(ours("a"), name="b") == ours("b")
    with pytest.raises(ValueError, match="late"):
        lazy_dataclasses.replace(ours("a"), late=1)


def test_a_mutable_default_is_refused() -> None:
    with pytest.raises(ValueError, match="default_factory"):

        @lazy_dataclasses.dataclass
        class Wrong:
            items: list[int] = []  # noqa: RUF012


def test_field_names_of_both_kinds_of_dataclasses() -> None:
    for cls in both(frozen=True):
        assert lazy_dataclasses.field_names(cls("a")) == tuple(FIELDS)
        assert lazy_dataclasses.field_names(cls) == ()
    assert lazy_dataclasses.field_names({"a": 1}) == ()


def test_a_recursive_value_can_be_shown() -> None:
    ours, _ = both()
    value = ours("a")
    value.items.append(value)
    assert "..." in repr(value)


def test_declaring_and_using_one_does_not_import_dataclasses() -> None:
    code = (
        "import sys\n"
        "from hookline.lazy_dataclasses import dataclass, replace\n"
        "@dataclass(frozen=True, slots=True)\n"
        "class P:\n    x: 'int'\n"
        "assert replace(P(1), x=2) == P(2) and hash(P(1)) and repr(P(1))\n"
        "print(sorted({'dataclasses', 'inspect', 'ast'} & set(sys.modules)))\n"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


def test_the_package_uses_no_other_dataclass() -> None:
    root = Path(lazy_dataclasses.__file__).parent
    found = [
        str(file.relative_to(root))
        for file in root.rglob("*.py")
        if file.name != "lazy_dataclasses.py"
        and re.search(r"^from dataclasses import .*\b(dataclass|field|replace)\b", file.read_text(), re.MULTILINE)
    ]
    assert found == []
