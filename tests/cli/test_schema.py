from __future__ import annotations

import json

import jsonschema
import pytest

from hookline.dialects.dialect import DIALECT_NAMES, get_dialect


@pytest.mark.parametrize("dialect", DIALECT_NAMES)
def test_every_dialect_has_a_valid_schema(hookline, dialect):
    result = hookline("schema", dialect)
    assert result.exit_code == 0
    schema = json.loads(result.stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema == get_dialect(dialect).schema()


def test_without_a_name_it_is_the_schema_of_hookline_yaml(hookline):
    assert hookline("schema").stdout == hookline("schema", "native").stdout


def test_an_unknown_dialect_gets_a_suggestion(hookline):
    result = hookline("schema", "digitron")
    assert result.exit_code != 0
    assert "Did you mean digitorn?" in result.stderr
