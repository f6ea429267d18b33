"""`hookline schema`"""

from __future__ import annotations

import click

from hookline.cli.options import DialectName, Verb
from hookline.cli.output import out_json


@click.command(cls=Verb, short_help="Print the JSON Schema of a dialect, for editors.")
@click.argument("dialect", type=DialectName(), default="native", metavar="[DIALECT]")
def verb(dialect: str) -> None:
    """Print the JSON Schema of a dialect's files, for editors. Without a name: of hookline.yaml.

    \b
    hookline schema > hookline.schema.json
    """
    from hookline.dialects.dialect import get_dialect

    out_json(get_dialect(dialect).schema())
