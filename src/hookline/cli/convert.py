"""`hookline convert`"""

from __future__ import annotations

import click

from hookline.cli.options import DialectName, Verb, dialect_option
from hookline.cli.output import err, format_json, out_as_is


@click.command(cls=Verb, short_help="Convert a hooks file to another dialect.")
@click.argument("file", type=click.Path())
@click.option("--to", "to", type=DialectName(), required=True, metavar="DIALECT", help="The dialect to write.")
@dialect_option
def verb(file: str, to: str, dialect: str | None) -> int:
    """Print a hooks file as another dialect. What that dialect cannot express is listed on stderr and makes the exit
    code 1; the rest is still printed. It runs nothing of the project.

    \b
    hookline convert .microai/settings.json --to native > hookline.yaml
    """
    from hookline.config.problem import Severity
    from hookline.dialects.conversion import with_vocabulary
    from hookline.dialects.dialect import get_dialect
    from hookline.project import load_file

    book = load_file(file, dialect, importing=False)
    errors = [each for each in book.problems if each.severity is Severity.ERROR or each.code == "not-imported"]
    for problem in book.problems:
        err(str(problem))
    written = get_dialect(to).write(with_vocabulary(to, (hook for layer in book.layers for hook in layer.hooks)))
    for missing in written.not_expressible:
        err(f"not expressible in {to}: {missing}")
    out_as_is(_format_output(written.value, written.kind).rstrip("\n"))
    return 1 if errors or written.not_expressible else 0


def _format_output(value: object, kind: str) -> str:
    if kind == "json":
        return format_json(value)
    from hookline.cli.yaml_dump import dump_yaml

    return dump_yaml(value)
