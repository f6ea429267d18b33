r"""Finds conditions that can never hold, or that hold for something else than their author means.

Patterns that no text matches, `"\b"` in double quotes, globs that look like regular expressions and the reverse, tools
and fields with a typo, placeholders in a pattern.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from hookline.config.problem import Problem, Severity
from hookline.formatting import closest_match, is_typo
from hookline.hooks.conditions.logic import All, AnyOf, Not
from hookline.hooks.conditions.text import Fact, Matches, ShellCommands
from hookline.hooks.conditions.tool import ToolKindIs
from hookline.hooks.hook import Hook
from hookline.hooks.protocols import Condition, TextPattern
from hookline.hooks.tool_input import ToolField
from hookline.hooks.tool_name import ToolName
from hookline.hooks.tools import (
    FIELD_NAMES,
    NATIVE,
    VOCABULARIES,
    ToolKind,
    Vocabulary,
    is_known_name,
    is_path_field,
    kind_of_name,
)
from hookline.lazy_imports import lazy_pattern
from hookline.patterns.matchers import Shorthand
from hookline.patterns.pattern import Pattern, can_match
from hookline.project.hook_problem import hook_problem

_CONTROL_CHARACTERS: Final = {
    "\x08": ("a backspace", r"\b"),
    "\x07": ("a bell", r"\a"),
    "\x0b": ("a vertical tab", r"\v"),
    "\x0c": ("a form feed", r"\f"),
    "\x1b": ("an escape", r"\e"),
    "\x00": ("a null", r"\0"),
}
_PLACEHOLDER: Final = lazy_pattern(r"\{\{\s*([a-zA-Z_][\w.]*)\s*(?:\|[^{}]*)?\}\}")
_LOOKS_LIKE_REGEX: Final = lazy_pattern(r"^\^|\$$|\.\*|\.\+|\\[wdsb.]|\(\?|\[\^")
_ANY_SUFFIX: Final = lazy_pattern(r"(?<=\w)\.\*(?=/|$)")  # .env.*
_MODULE_STAR: Final = lazy_pattern(r"([\w.]+)\.\*")
_LOOKS_LIKE_GLOB: Final = lazy_pattern(r"[\w./-]*\w\*(?:\.\w+)?")
_PLAIN_NAMES: Final = lazy_pattern(r"\^?\(?(?:\?:)?([\w.]+(?:\|[\w.]+)*)\)?\$?")
_GLOB_WORDS: Final = ("glob", "tool", "like")
_MINOR_FIELDS: Final = frozenset(
    (
        "description", "run_in_background", "is_background", "replace_all", "edits", "cell_id", "cell_type", "edit_mode",
        "output_mode", "head_limit", "multiline", "type", "glob", "include", "exclude", "case_sensitive", "recursive",
        "allowed_domains", "blocked_domains", "prompt", "method", "headers", "body", "format", "encoding", "mode",
        "patch", "input", "commands", "args", "argv", "env", "stdin", "shell", "justification", "view_range",
        "insert_line", "insert_text", "create", "append", "ignore", "max_results", "model", "name", "paths", "files",
        "with_escalated_permissions", "sandbox_permissions", "expected_replacements", "instruction", "diff", "line",
        "session_id", "yield_time_ms", "explanation", "requires_approval", "tty", "login", "workspace",
    )
)  # fmt: skip
"""Fields that tools of known agents have besides the main ones."""


def lint_condition(hook: Hook) -> Iterator[Problem]:
    for match, kinds in _matches(hook.when, frozenset()):
        yield from _check_text(hook, match)
        yield from _check_name(hook, match)
        yield from _check_field(hook, match, kinds)


def _matches(when: Condition, kinds: frozenset[ToolKind]) -> Iterator[tuple[Matches, frozenset[ToolKind]]]:
    """Each text condition, with the kinds of tools that the conditions beside it leave; empty: any."""
    match when:
        case Matches():
            yield when, kinds
        case All(parts):
            beside = next((found for part in parts if (found := _kinds_of(part))), kinds)
            for part in parts:
                yield from _matches(part, beside)
        case AnyOf(parts):
            for part in parts:
                yield from _matches(part, kinds)
        case Not(part):
            yield from _matches(part, kinds)


def _kinds_of(when: Condition) -> frozenset[ToolKind]:
    """The kinds of the tools for which this may hold; empty if it may be any."""
    match when:
        case ToolKindIs(kind):
            return frozenset((kind,)) - {ToolKind.OTHER}
        case Matches(ToolName(), compiled):
            return _all_known([kind_of_name(name) for name in _plain_names(compiled)])
        case AnyOf(parts):
            found = [_kinds_of(part) for part in parts]
            return frozenset(kind for each in found for kind in each) if all(found) else frozenset()
        case _:
            return frozenset()


def _all_known(kinds: list[ToolKind]) -> frozenset[ToolKind]:
    return frozenset() if ToolKind.OTHER in kinds else frozenset(kinds)


def _plain_names(compiled: TextPattern) -> list[str]:
    """The names that a pattern of tools lists; empty if it has wildcards."""
    found = _PLAIN_NAMES.fullmatch(_source(compiled).replace(" ", ""))
    return found[1].split("|") if found else []


def _source(compiled: TextPattern) -> str:
    if isinstance(compiled, Shorthand):
        return compiled.text
    return compiled.source if isinstance(compiled, Pattern) else ""


def _check_text(hook: Hook, match: Matches) -> Iterator[Problem]:
    text = _source(match.pattern)
    compiled = match.pattern.pattern if isinstance(match.pattern, Shorthand) else match.pattern
    control = next((each for each in text if each in _CONTROL_CHARACTERS), None)
    placeholder = _PLACEHOLDER.search(text)
    if control is not None:
        yield _control_character_problem(hook, text, control)
    elif isinstance(compiled, Pattern) and not can_match(compiled):
        what = f"{hook.id} can never match: no text matches {_quote(text)}."
        hint = "^ is the start of the text and $ is its end. Write \\^ or \\$ for the characters."
        yield hook_problem("never-matches", hook, what, hint, Severity.ERROR)
    elif placeholder is not None:
        yield _placeholder_problem(hook, match, text, placeholder[1])
    else:
        yield from _check_syntax(hook, match, text)


def _control_character_problem(hook: Hook, text: str, character: str) -> Problem:
    name, written = _CONTROL_CHARACTERS[character]
    what = f"{hook.id} can never match: its pattern {_quote(text)} has {name} character."
    if hook.origin.file.endswith((".json", ".jsonc")):
        hint = f"In JSON, write the backslash twice: \\{written}."
    else:
        hint = (
            f"In double quotes, {written} is that character. Use single quotes: '{text.replace(character, written)}'."
        )
    return hook_problem("never-matches", hook, what, hint, Severity.ERROR)


def _placeholder_problem(hook: Hook, match: Matches, text: str, name: str) -> Problem:
    what = f"{hook.id} can never match: a pattern has no placeholders, so {{{{{name}}}}} is plain text."
    is_glob = isinstance(match.pattern, Shorthand) and match.pattern.word in ("glob", "begins", "exactly")
    if is_glob and name in ("workspace", "sandbox", "cwd", "project"):
        rest = text[text.index("}}") + 2 :].lstrip("/") or "**"
        return hook_problem(
            "never-matches", hook, what, f"Paths are relative to the workspace: write {rest}.", Severity.ERROR
        )
    return hook_problem(
        "never-matches", hook, what, "Write the text itself.", Severity.ERROR if is_glob else Severity.WARNING
    )


def _check_syntax(hook: Hook, match: Matches, text: str) -> Iterator[Problem]:
    """A glob that looks like a regular expression, or the reverse."""
    is_name = isinstance(match.subject, ToolName)
    field = _field_of(match)
    is_path = field is not None and is_path_field(field)
    if isinstance(match.pattern, Shorthand):
        searched = _MODULE_STAR.sub(_keep_after_tool, text) if is_name else _ANY_SUFFIX.sub("", text)
        if match.pattern.word in _GLOB_WORDS and _LOOKS_LIKE_REGEX.search(searched):
            what = f"{hook.id} takes {_quote(text)} for a glob, but it looks like a regular expression."
            yield hook_problem("glob-or-regex", hook, what, _glob_hint(hook, text, is_name))
    elif isinstance(match.pattern, Pattern) and (is_name or is_path) and _LOOKS_LIKE_GLOB.fullmatch(text):
        what = f"{hook.id} takes {_quote(text)} for a regular expression, in which * repeats the character before it."
        yield hook_problem("glob-or-regex", hook, what, f"Write {text.replace('*', '.*')} if * should match any text.")


def _keep_after_tool(found: re.Match[str]) -> str:
    """`filesystem.*` is every tool of a module, `Edit.*` is a regular expression."""
    return found[0] if is_known_name(found[1]) else ""


def _glob_hint(hook: Hook, text: str, is_name: bool) -> str:
    plain = text.removeprefix("^").removesuffix("$").replace(".*", "*").replace(".+", "?*").replace("\\.", ".")
    words = hook.origin.wording
    if is_name:
        regex = f", or a regular expression as {words.regex_of_name.format(text)}" if words.regex_of_name else ""
        return f"Write {plain}{regex}."
    return f"Write {words.regex_of_field.format(text) or 'a glob, such as src/**/*.py'}."


def _check_name(hook: Hook, match: Matches) -> Iterator[Problem]:
    if not isinstance(match.subject, ToolName):
        return
    for name in _plain_names(match.pattern):
        vocabulary = match.subject.vocabulary
        is_part = isinstance(match.pattern, Pattern) and any(name in each for each in vocabulary.known_names)
        meant = None if is_part else _misspelled_tool(name, vocabulary)
        if meant is not None:
            why = f"{vocabulary.name} has no such tool" if is_known_name(name) else "no known agent has such a tool"
            yield hook_problem("unknown-tool", hook, f"{hook.id} matches {name}, but {why}.", f"Did you mean {meant}?")


@lru_cache(maxsize=4096)
def _misspelled_tool(name: str, vocabulary: Vocabulary) -> str | None:
    """The tool that was probably meant, if the name is one letter from it."""
    known = vocabulary.known_names
    if name in known or len(name) < 3 or name.startswith("mcp"):
        return None
    if is_known_name(name):  # of another agent, where only the case may be a typo
        alike = (each for each in sorted(known) if each.lower() == name.lower())
        return None if vocabulary == NATIVE else next(alike, None)
    candidates = [*sorted(known), *sorted(_all_names() - known)]
    return next((each for each in candidates if len(each) > 2 and is_typo(name, each)), None)


@lru_cache(maxsize=1)
def _all_names() -> frozenset[str]:
    return frozenset(name for vocabulary in VOCABULARIES.values() for name in vocabulary.known_names)


def _check_field(hook: Hook, match: Matches, kinds: frozenset[ToolKind]) -> Iterator[Problem]:
    """A field that no tool of these kinds has."""
    field = _field_of(match)
    if not kinds or field is None or field in _MINOR_FIELDS or any(field in _fields(kind) for kind in kinds):
        return
    main = list(dict.fromkeys(name for kind in sorted(kinds) for name in FIELD_NAMES[kind]))
    is_other_field = any(field in _fields(kind) for kind in FIELD_NAMES)
    guess = None if is_other_field else closest_match(field, [name for kind in kinds for name in _fields(kind)])
    what = f"{hook.id} reads the field {field}, which no known {' or '.join(sorted(kinds))} tool has."
    hint = f"Did you mean {guess}?" if guess else f"Its fields are {', '.join(main)}."
    yield hook_problem("unknown-field", hook, what, hint)


def _field_of(match: Matches) -> str | None:
    subject = match.subject.subject if isinstance(match.subject, ShellCommands) else match.subject
    if isinstance(subject, ToolField) and subject.path:
        return str(subject.path[0])
    if isinstance(subject, Fact) and subject.path[:2] == ("tool", "input") and len(subject.path) > 2:
        return str(subject.path[2])
    return None


@lru_cache(maxsize=64)
def _fields(kind: ToolKind) -> frozenset[str]:
    return frozenset(name for ours, others in FIELD_NAMES[kind].items() for name in (ours, *others))


def _quote(text: str) -> str:
    return f"'{text}'"
