"""Statements that run in every turn: SQLAlchemy compiles them once, and SQLite's driver runs them.

To run a statement that it has already compiled, SQLAlchemy takes several times as long as SQLite needs for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Protocol, cast

from sqlalchemy import Connection, Delete, Dialect, Insert, Select, Update
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.types import TypeEngine

from hookline.lazy_dataclasses import dataclass
from hookline.runtime.storage.columns import AnyText

Statement = Select[Any] | Insert | Update | Delete
BindProcessor = Callable[[Any], Any] | None
"""How a value that is not None is stored in its column; None: as it is."""


class Executed(Protocol):
    """A cursor of SQLite's driver, or the same of SQLAlchemy. Column types do not decode its rows: select raw columns."""

    @property
    def rowcount(self) -> int: ...
    def fetchall(self) -> Any: ...


@dataclass(frozen=True, slots=True)
class _SqliteForm:
    """The statement for values with certain keys."""

    text: str
    parameters: tuple[tuple[str, Any, BindProcessor], ...]  # name, default and processor, in the order of the text

    def bind(self, values: Mapping[str, Any]) -> list[Any]:
        bound = []
        for name, default, processor in self.parameters:
            value = values.get(name, default)
            bound.append(value if value is None or processor is None else processor(value))
        return bound


class PreparedStatement:
    """Runs on any database. `build` returns the statement for a dialect of SQLAlchemy."""

    def __init__(self, build: Callable[[str], Statement]) -> None:
        self._build = cache(build)  # one object each, so that SQLAlchemy finds its own compiled form quickly
        self._forms: dict[tuple[str, ...], _SqliteForm] = {}

    def execute(self, connection: Connection, values: Mapping[str, Any]) -> Executed:
        """In the transaction of the connection. Raises sqlite3.Error, or SQLAlchemyError for another database."""
        dialect = connection.dialect
        if dialect.name != "sqlite":
            return cast("Executed", connection.execute(self._build(dialect.name), values))
        keys = tuple(values)
        form = self._forms.get(keys)
        if form is None:
            form = self._forms[keys] = self._compile(dialect, keys)
        driver: Any = connection.connection.driver_connection
        executed: Executed = driver.execute(form.text, form.bind(values))
        return executed

    def _compile(self, dialect: Dialect, keys: tuple[str, ...]) -> _SqliteForm:
        compiled = self._build(dialect.name).compile(dialect=dialect, column_keys=list(keys))
        assert isinstance(compiled, SQLCompiler)
        types = {name: bound.type for name, bound in compiled.binds.items()}
        names = compiled.positiontup or []
        defaults = compiled.params
        return _SqliteForm(
            str(compiled), tuple((name, defaults.get(name), _bind_processor(types[name], dialect)) for name in names)
        )


def _bind_processor(column_type: TypeEngine[Any], dialect: Dialect) -> BindProcessor:
    if isinstance(column_type, AnyText):
        return column_type.encode  # without the two calls that SQLAlchemy makes around it
    return column_type.dialect_impl(dialect).bind_processor(dialect)
