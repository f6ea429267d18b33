"""Hooks as a text that somebody sent: nothing is imported, and no file is read."""

from __future__ import annotations

from pathlib import Path

from hookline.config.problem import Problem, refuse_errors
from hookline.config.reader import salvage_text
from hookline.engine.book import Book, Layer
from hookline.errors import ConfigError
from hookline.hooks.hook_files import HookFile, HookFiles
from hookline.lazy_dataclasses import replace
from hookline.project.parsed_file import ParsedFile, parse_document
from hookline.project.sources import Source, SourceLayer


def parse_given_hooks(text: str, dialect: str, name: str = "rules") -> ParsedFile:
    """With its problems, which name the lines of the text."""
    source = Source(Path("/nowhere") / name, name, dialect, SourceLayer.NAMED)
    document, problems = salvage_text(text, name)
    if document is None:
        return ParsedFile(source, problems=problems)
    return replace(parse_document(document, source, must_exist=False, pack_texts={}), document=document)


def load_given_hooks(text: str, dialect: str, name: str = "rules") -> Book:
    """Raises ConfigError if the text has errors."""
    parsed = parse_given_hooks(text, dialect, name)
    problems: tuple[Problem, ...] = tuple(parsed.problems)
    refuse_errors(problems)
    if parsed.dialect is None:
        raise ConfigError(problems)
    file = HookFile(str(parsed.source.path), name, dialect, SourceLayer.NAMED, text)
    return Book([Layer(SourceLayer.NAMED, parsed.hooks)], problems=problems, files=HookFiles((file,)))
