"""The public import path of the registration decorators."""

from __future__ import annotations

from hookline import extensions, register


def test_it_exports_the_objects_of_extensions() -> None:
    for name in register.__all__:
        assert getattr(register, name) is getattr(extensions, name)
    assert {"register_action", "register_condition"} <= set(register.__all__)
