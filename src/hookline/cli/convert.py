"""`hookline convert`"""

from __future__ import annotations

import click

from hookline.cli.options import DialectName, Verb, dialect_option
from hookline.cli.output import err, out_as_is


@click.command(cls=Verb, short_help="Convert hooks files to another dialect.")
@click.argument("files", type=click.Path(), nargs=-1, required=True, metavar="FILE...")
@click.option("--to", "to", type=DialectName(), required=True, metavar="DIALECT", help="The dialect to write.")
@dialect_option
def verb(files: tuple[str, ...], to: str, dialect: str | None) -> int:
    """Print hooks files as one file of another dialect. What that dialect cannot express is listed on stderr and makes
    the exit code 1; the rest is still printed. It runs nothing of the project.

    \b
    hookline convert .microai/settings.json --to native > hookline.yaml
    """
    from hookline.cli.converted_file import convert_files
    from hookline.config.problem import errors_of
    from hookline.errors import ConfigError
    from hookline.project.parsed_file import read_source
    from hookline.project.sources import named_source

    parsed = [read_source(named_source(file, dialect)) for file in files]
    unreadable = [problem for each in parsed if each.dialect is None for problem in each.problems]
    if unreadable:
        raise ConfigError(unreadable)
    problems = [problem for each in parsed for problem in each.problems]
    for problem in problems:
        err(str(problem))
    converted = convert_files(parsed, to)
    for line in converted.not_about_hooks:
        err(line)
    for missing in converted.not_expressible:
        err(f"not expressible in {to}: {missing}")
    out_as_is(converted.text.rstrip("\n"))
    return 1 if errors_of(problems) or converted.not_expressible else 0
