from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import pytest
from sqlalchemy import Boolean, Column, Connection, Integer, MetaData, Table, bindparam, create_engine, insert, update

from hookline.errors import HooklineError
from hookline.runtime.storage.columns import AnyText, JsonText, KeyText, encode_json
from hookline.runtime.storage.prepared_statement import PreparedStatement

TABLE = Table(
    "things",
    MetaData(),
    Column("id", KeyText, primary_key=True),
    Column("text", AnyText),
    Column("data", JsonText),
    Column("flag", Boolean),
    Column("number", Integer),
)
INSERT = PreparedStatement(lambda _: insert(TABLE).values(number=bindparam("of_number") + 1).returning(TABLE.c.number))
UPDATE = PreparedStatement(lambda _: update(TABLE).where(TABLE.c.id == bindparam("of_id")))


@pytest.fixture
def connection() -> Iterator[Connection]:
    with create_engine("sqlite://").connect() as opened:
        TABLE.metadata.create_all(opened)
        yield opened


def test_values_are_stored_as_their_columns_store_them(connection: Connection) -> None:
    values = {"id": "a\0", "text": "\ud800", "data": encode_json({"x": [1]}), "flag": True, "of_number": 6}
    assert [tuple(row) for row in INSERT.execute(connection, values).fetchall()] == [(7,)]
    assert connection.execute(TABLE.select()).one() == ("a\0", "\ud800", {"x": [1]}, True, 7)


def test_each_set_of_keys_has_its_own_form(connection: Connection) -> None:
    INSERT.execute(connection, {"id": "a", "of_number": 0})
    INSERT.execute(connection, {"id": "b", "text": "first", "of_number": 1})
    assert UPDATE.execute(connection, {"of_id": "b", "text": "second"}).rowcount == 1
    assert UPDATE.execute(connection, {"of_id": "b", "flag": False, "number": None}).rowcount == 1
    assert UPDATE.execute(connection, {"of_id": "c", "text": "nobody"}).rowcount == 0
    assert connection.execute(TABLE.select()).all() == [
        ("a", None, None, None, 1),
        ("b", "second", None, False, None),
    ]


def test_it_belongs_to_the_transaction_of_the_connection(connection: Connection) -> None:
    connection.commit()
    with connection.begin() as transaction:
        connection.execute(TABLE.insert(), {"id": "a"})
        INSERT.execute(connection, {"id": "b", "of_number": 0}).fetchall()
        transaction.rollback()
    assert connection.execute(TABLE.select()).all() == []


def test_its_errors_are_those_of_the_driver_and_of_the_columns(connection: Connection) -> None:
    INSERT.execute(connection, {"id": "a", "of_number": 0}).fetchall()
    with pytest.raises(sqlite3.IntegrityError, match="UNIQUE"):
        INSERT.execute(connection, {"id": "a", "of_number": 0})
    with pytest.raises(HooklineError, match="too long for an id"):
        INSERT.execute(connection, {"id": "a" * 2000, "of_number": 0})
