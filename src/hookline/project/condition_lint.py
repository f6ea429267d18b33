r"""Finds conditions that can never hold, or that hold for something else than their author means.

Patterns that no text matches, `"\b"` in double quotes, globs that look like regular expressions and the reverse, tools
and fields with a typo, placeholders in a pattern. What certainly switches a guard off is an error, so no session starts with
it; what only looks wrong is a warning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations
from typing import Final

from hookline.config.problem import Problem, Severity
from hookline.formatting import closest_match, fold_word, is_typo
from hookline.hooks.conditions.logic import All, Always, AnyOf, Never, Not
from hookline.hooks.conditions.text import Equals, Fact, Matches, ShellCommands
from hookline.hooks.conditions.tool import ToolKindIs
from hookline.hooks.event import FactPath
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
from hookline.hooks.wording import NATIVE_WORDING
from hookline.lazy_dataclasses import replace
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
_CONTROL: Final = lazy_pattern(f"[{''.join(map(re.escape, _CONTROL_CHARACTERS))}]")
_NOT_IN_PATHS: Final = {"\t": ("a tab", r"\t"), "\n": ("a line break", r"\n"), "\r": ("a carriage return", r"\r")}
r"""A command or a text may have them, but no path: `"C:\temp"` in double quotes."""
_CONTROL_IN_PATH: Final = lazy_pattern(r"[\t\r]|\n(?!\Z)")
_SURROGATE: Final = lazy_pattern("[\ud800-\udfff]")
_INVISIBLE_EDGE: Final = lazy_pattern(
    "^[\ufeff\u200b\u200c\u200d\u2060\u2028]+[^]]|[^[][\ufeff\u200b\u200c\u200d\u2060\u2028]+$|.\n$"
)
_MAY_NEVER_MATCH: Final = lazy_pattern(r".\^|\$.|\\[AzZ]|\[\]|\(\?<?!")
"""Cheaper than to look closely: a pattern without an anchor inside, an empty set or a negative look-around can match."""
_NOT_IN_NAMES: Final = lazy_pattern(r"[^\w.:/@ *?|!\[\]-]|(?<!\[)!|^\s|\s$|\[\]|\[(?!.*\])", re.DOTALL)
"""What no tool's name and no glob for one has."""
_NAME_SYNTAX: Final = lazy_pattern(
    r"\\[./:@wWdDsSbB-]|\[[^]]*\]|\{\d+(?:,\d*)?\}|\(\?(?:<?[=!]|:|P?<\w+>|[a-z-]+[:)])|\\[pP]\{\w+\}"
)
_NOT_IN_NAME_PATTERNS: Final = lazy_pattern(r"[^\w.:/@ *+?|()^$-]|^\^?/")
"""What no regular expression for a tool's name has, besides its syntax."""
_NOT_IN_EXACT_NAMES: Final = lazy_pattern(r"[^\w.:/@ |*+?()\[\]{}^$\\-]|^[\s/]|[\s/]$")
_CALL_RULE: Final = lazy_pattern(r"\^?[\w.]+\([^()|]*(?::\*?|\s)[^()|]*\)\$?")
"""`Bash(git push:*)`, which names a tool and tests its input."""
_SPACED_NAME: Final = lazy_pattern(r"^\s|\s$|\w\s+[|$)]|[|^(]\s+\w")
_PLACEHOLDER: Final = lazy_pattern(r"\{\{\s*([a-zA-Z_][\w.]*)\s*(?:\|[^{}]*)?\}\}")
_REGEX_LITERAL: Final = lazy_pattern(r"/(?=[^/]*(?:\\[sb]|\s-))([^/]+)/[dgimsuvy]*")
r"""`/rm\s+-rf/` with the slashes of JavaScript, which no command has; `/etc/` and `/[.]ssh/` are parts of paths."""
_LOOKS_LIKE_REGEX: Final = lazy_pattern(r"^\^|\$$|\.\*|\.\+|\\[wdsb.]|\(\?|\[\^")
_ANY_SUFFIX: Final = lazy_pattern(r"(?<=\w)\.\*(?=[/,}]|$)")  # .env.*
_HOME: Final = lazy_pattern(r"\^?(~(?=/)|\\?\$(?:HOME\b|\{HOME\\?\}|USERPROFILE\b)|%USERPROFILE%)")
_MODULE_STAR: Final = lazy_pattern(r"([\w.]+)\.\*")
_LOOKS_LIKE_GLOB: Final = lazy_pattern(r"[\w./-]*\w\*(?:\.\w+)?")
_PLAIN_NAMES: Final = lazy_pattern(r"\^?\(?(?:\?:)?([\w./-]+(?:\|[\w./-]+)*)\)?\$?")
_GLOB_WORDS: Final = ("glob", "tool", "like")
_NAME_WORDS: Final = ("tool", "like")
_WORDS: Final = lazy_pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_]+")
_INPUT: Final = ("tool", "input")
_FIELD_PATH: Final = lazy_pattern(
    r"(?:tool[._]?)?(?:[Ii]nput|[Pp]arams|[Aa]rgs|tool)\.(\w+)"
)  # a field is written without the way to it
_TEXT_FIELDS: Final = ("command", "path", "content", "old_string", "new_string", "url", "query", "pattern")
_SUSPICIOUS: Final = lazy_pattern("|".join((_MAY_NEVER_MATCH.pattern, r"\{\{|%USER")))
_SUSPICIOUS_CHARACTERS: Final = lazy_pattern(
    "|".join(each.pattern for each in (_CONTROL, _CONTROL_IN_PATH, _SURROGATE, _INVISIBLE_EDGE))
)
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
_REAL_WORDS: Final = frozenset(
    (
        "ask", "base", "bass", "bask", "cash", "dash", "hash", "lash", "mash", "push", "wash", "emit", "exit", "head",
        "lead", "load", "road", "ready", "real", "reap", "red", "thread", "tread", "spread", "white", "writ", "wrote", "lint",
        "last", "lost", "mist", "fist", "lift", "test", "text", "mask", "tank", "talk", "disk", "desk", "blob", "globe", "lob",
        "grip", "prep", "sketch", "stretch", "etch", "catch", "match", "watch", "latch", "hatch", "path", "math", "bath",
        "spell", "smell", "swell", "shelf", "skull", "still", "spill", "kill", "skim", "vie", "vies", "urgent", "agency",
        "fun", "ran", "rug", "sun", "ruin", "fill", "film", "fine", "fire", "mile", "tile", "pile", "title", "dim", "dome", "dot",
        "sql", "sqlite", "uri", "name", "content", "contest", "context", "contact", "comment", "commend", "query", "pattern",
        "prompt", "promote", "new", "now", "save", "wave", "use", "user", "pull", "plane", "plant", "send", "mend", "spend",
        "stop", "step", "line", "lines", "shop", "store", "story", "free", "three", "tree", "rule", "role", "mode", "node", "code", "act", "fact",
    )
)  # fmt: skip
"""Words one letter from a known name that are good names for a tool or a field of your own."""


def lint_condition(hook: Hook) -> Iterator[Problem]:
    for part, kinds in _parts(hook.when, frozenset()):
        if isinstance(part, Matches):
            found = (*_check_text(hook, part), *_check_name(hook, part), *_check_exact_command(hook, part))
            text = _source(part.pattern)
            yield from (each if each.about else replace(each, about=text) for each in found)
        else:
            yield from _check_type(hook, part)
        yield from _check_field(hook, part, kinds)
    yield from _check_other_fields(hook)


def errors_in_condition(hook: Hook) -> list[Problem]:
    """The errors among them. Cheap for a hook without any: it is called for every hook that is loaded."""
    if _is_clean(hook.when):
        return []
    found = (*lint_condition(hook), *check_never_holds(hook))
    return [problem for problem in found if problem.severity is Severity.ERROR]


def _is_clean(when: Condition) -> bool:
    """Without pattern matching, which costs several times as much."""
    kind = type(when)
    if kind is Matches:
        assert isinstance(when, Matches)
        subject, source = when.subject, when.pattern.source
        if type(subject) is ToolName:
            return _is_clean_name(source, _word_of(when.pattern), subject.vocabulary.name)
        if _is_suspicious(source):
            return False
        field = _field_of(subject)
        return field is None or (_is_clean_field(field) and not (field == "command" and _is_glob_of_command(when)))
    if isinstance(when, (All, AnyOf)):  # `All | AnyOf` would be made each time
        if not when.parts:
            return isinstance(when, All)
        for part in when.parts:
            if not _is_clean(part):
                return False
        return kind is AnyOf or not _contradict(when.parts)
    if isinstance(when, Not):
        return not isinstance(when.part, (Always, All)) and _is_clean(when.part)
    if isinstance(when, Never):
        return not when.is_mistake
    if isinstance(when, Equals):
        return when.path[:2] != _INPUT
    return kind is ToolKindIs or not any(map(_misspelled_path, when.reads()))


def _is_suspicious(source: str) -> bool:
    """Of printable ASCII, as almost every pattern is, no character needs a look."""
    if _SUSPICIOUS.search(source) is not None:
        return True
    return not (source.isascii() and source.isprintable()) and _SUSPICIOUS_CHARACTERS.search(source) is not None


def check_never_holds(hook: Hook) -> Iterator[Problem]:
    """An error for a guard of hookline.yaml, or one whose condition cannot be read; other formats say themselves what an
    empty list means.
    """
    if not _always_answers(hook.when, no=True):
        return
    has_mistake = _has_mistake(hook.when)
    if has_mistake and not hook.may_stop:
        return  # the mistake has a problem of its own
    is_error = hook.may_stop and (hook.origin.dialect == NATIVE.name or has_mistake)
    what = f"the condition of {hook.id} can never be true."
    hint = "Correct it; until then, the hook stops nothing." if has_mistake else hook.origin.wording.never
    yield hook_problem("never-true", hook, what, hint, Severity.ERROR if is_error else Severity.WARNING)


def _has_mistake(when: Condition) -> bool:
    match when:
        case Never(is_mistake=is_mistake):
            return is_mistake
        case All(parts) | AnyOf(parts):
            return any(map(_has_mistake, parts))
        case _:
            return False


def _always_answers(when: Condition, no: bool = False) -> bool:
    """Whether the condition is true for every event; with `no`, whether it is false for every event."""
    match when:
        case Always():
            return not no
        case Never():
            return no
        case All(parts) if no:
            return any(_always_answers(part, no) for part in parts) or _contradict(parts)
        case All(parts):
            return all(_always_answers(part) for part in parts)
        case AnyOf(parts):
            return (
                all(_always_answers(part, no) for part in parts) if no else any(_always_answers(part) for part in parts)
            )
        case Not(part):
            return _always_answers(part, not no)
        case _:
            return False


def _contradict(parts: Sequence[Condition]) -> bool:
    """Whether one part excludes another: `tool: bash` beside `not: {tool: bash}`, or beside `tool: write_file`."""
    flat = [inner for part in parts for inner in (part.parts if isinstance(part, All) else (part,))]
    if any(part.part in flat for part in flat if isinstance(part, Not)):
        return True
    about_tools = [part for part in flat if isinstance(part, ToolKindIs | AnyOf) or _is_tool_name(part)]
    if len(about_tools) < 2:  # almost always
        return False
    kinds = [found for part in about_tools if (found := _kinds_of(part))]
    return any(one.isdisjoint(other) for one, other in combinations(kinds, 2))


def _is_tool_name(when: Condition) -> bool:
    return isinstance(when, Matches) and isinstance(when.subject, ToolName)


def _parts(when: Condition, kinds: frozenset[ToolKind]) -> Iterator[tuple[Matches | Equals, frozenset[ToolKind]]]:
    """Each condition on a value, with the kinds of tools that the conditions beside it leave; empty: any."""
    match when:
        case Matches() | Equals():
            yield when, kinds
        case All(parts):
            beside = next((found for part in parts if (found := _kinds_of(part))), kinds)
            for part in parts:
                yield from _parts(part, beside)
        case AnyOf(parts):
            for part in parts:
                yield from _parts(part, kinds)
        case Not(part):
            yield from _parts(part, kinds)


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
    control = _CONTROL.search(text) or (_CONTROL_IN_PATH.search(text) if _is_path(match) else None)
    placeholder = _PLACEHOLDER.search(text)
    if control is not None:
        yield _control_character_problem(hook, match, text, control[0])
    elif _SURROGATE.search(text) is not None:
        what = f"{hook.id} can never match: its pattern {_quote(text)} has half of a character."
        yield hook_problem("never-matches", hook, what, "Write the character itself.", Severity.ERROR)
    elif _INVISIBLE_EDGE.search(text) is not None:
        what = f"{hook.id} hardly matches: its pattern {_quote(text)} begins or ends with a character that nobody sees."
        hint = "Remove the line break or the character. In YAML, write |- instead of |, or quotes."
        yield hook_problem("never-matches", hook, what, hint, Severity.ERROR)
    elif isinstance(compiled, Pattern) and _MAY_NEVER_MATCH.search(text) and not can_match(compiled):
        what = f"{hook.id} can never match: no text matches {_quote(text)}."
        hint = "^ is the start of the text and $ is its end. Write \\^ or \\$ for the characters."
        yield hook_problem("never-matches", hook, what, hint, Severity.ERROR)
    elif placeholder is not None:
        yield _placeholder_problem(hook, match, text, placeholder[1])
    elif (home := _HOME.match(text)) is not None and _is_path(match):
        yield from _check_home(hook, match, home[1], text[home.end() :])
    else:
        yield from _check_syntax(hook, match, text)


def _check_exact_command(hook: Hook, match: Matches) -> Iterator[Problem]:
    """In Claude Code's rules, from which `starts` comes, this is usual; but a guard is hardly meant so."""
    compiled = match.pattern
    if hook.origin.wording is not NATIVE_WORDING or not hook.may_stop or not isinstance(compiled, Shorthand):
        return
    if compiled.word == "starts" and "*" not in compiled.text and compiled.text.strip():
        what = f"{hook.id} matches {_quote(compiled.text)} only without further arguments."
        hint = f"Write command: {_quote(compiled.text)}, or starts: {_quote(compiled.text + ' *')}."
        yield hook_problem("exact-command", hook, what, hint)


def _control_character_problem(hook: Hook, match: Matches, text: str, character: str) -> Problem:
    name, written = (_CONTROL_CHARACTERS | _NOT_IN_PATHS)[character]
    if character in _NOT_IN_PATHS and isinstance(match.pattern, Pattern):
        written = f"\\{written}"  # in a regular expression, \t is a tab too
    what = f"{hook.id} can never match: its pattern {_quote(text)} has {name} character."
    if hook.origin.file.endswith((".json", ".jsonc")):
        hint = f"In JSON, write the backslash twice: \\{written}."
    else:
        hint = f"In double quotes, {written[-2:]} is that character. Use single quotes: '{text.replace(character, written)}'."
    return hook_problem("never-matches", hook, what, hint, Severity.ERROR)


def _placeholder_problem(hook: Hook, match: Matches, text: str, name: str) -> Problem:
    what = f"{hook.id} can never match: a pattern has no placeholders, so {{{{{name}}}}} is plain text."
    is_glob = isinstance(match.pattern, Shorthand) and match.pattern.word in ("glob", "begins", "exactly")
    is_dead = is_glob or (hook.may_stop and isinstance(match.subject, ToolName))
    if name in ("workspace", "sandbox", "cwd", "project") and (is_glob or _is_path(match)):
        rest = text[text.index("}}") + 2 :].lstrip("/")
        hint = f"Paths are relative to the workspace: write {rest or '**' if is_glob else f'^{rest}'}."
        severity = Severity.ERROR if is_dead or hook.may_stop else Severity.WARNING
        return hook_problem("never-matches", hook, what, hint, severity)
    severity = Severity.ERROR if is_dead else Severity.WARNING
    return hook_problem("never-matches", hook, what, "Write the text itself.", severity)


def _check_home(hook: Hook, match: Matches, home: str, below: str) -> Iterator[Problem]:
    """`~` is the home in a glob only, and no pattern knows `$HOME`."""
    is_glob = isinstance(match.pattern, Shorthand) and match.pattern.word == "glob"
    if is_glob and home == "~":
        return
    glob = f"~/{below.strip('/').replace(chr(92), '').removesuffix('$')}{'/**' if below.endswith('/') else ''}"
    if home == "~" or not hook.may_stop:
        what, severity = f"{hook.id} matches only paths that are written with {home}.", Severity.WARNING
    else:
        what = f"{hook.id} can never match: a pattern has no variables, so {home} is plain text."
        severity = Severity.ERROR
    written = hook.origin.wording.glob_of_field.format(glob) or "what follows the home directory"
    yield hook_problem("never-matches", hook, what, f"Write {written}.", severity)


def _is_path(match: Matches) -> bool:
    field = _field_of(match.subject)
    return field is not None and is_path_field(field)


def _check_syntax(hook: Hook, match: Matches, text: str) -> Iterator[Problem]:
    """A glob that looks like a regular expression, or the reverse, or that is no path."""
    is_name = isinstance(match.subject, ToolName)
    if _is_glob_of_command(match):
        what = f"{hook.id} takes {_quote(text)} for the pattern of a path, in which * does not match a slash."
        hint = f"Write like: {_quote(text)}, in which * matches any text, or use runs."
        yield hook_problem("glob-or-regex", hook, what, hint, Severity.ERROR if hook.may_stop else Severity.WARNING)
        return
    is_path = _is_path(match)
    if isinstance(match.pattern, Shorthand):
        is_module = is_name and "\\" not in text  # filesystem\..* is a regular expression
        searched = _MODULE_STAR.sub(_keep_after_tool, text) if is_module else _ANY_SUFFIX.sub("", text)
        if match.pattern.word in _GLOB_WORDS and _LOOKS_LIKE_REGEX.search(searched):
            what = f"{hook.id} takes {_quote(text)} for a glob, but it looks like a regular expression."
            is_dead = is_name and hook.may_stop and _is_impossible_name(match.pattern)
            severity = Severity.ERROR if is_dead else Severity.WARNING
            yield hook_problem("glob-or-regex", hook, what, _glob_hint(hook, text, is_name), severity)
    elif (literal := _REGEX_LITERAL.fullmatch(text)) and isinstance(match.pattern, Pattern) and not is_path:
        what = f"{hook.id} hardly matches: the slashes around {_quote(text)} count as characters."
        severity = Severity.ERROR if hook.may_stop else Severity.WARNING
        yield hook_problem("never-matches", hook, what, f"Write {_quote(literal[1])}.", severity)
    elif isinstance(match.pattern, Pattern) and (is_name or is_path) and _LOOKS_LIKE_GLOB.fullmatch(text):
        what = f"{hook.id} takes {_quote(text)} for a regular expression, in which * repeats the character before it."
        yield hook_problem("glob-or-regex", hook, what, f"Write {text.replace('*', '.*')} if * should match any text.")


def _is_glob_of_command(match: Matches) -> bool:
    return (
        isinstance(match.pattern, Shorthand) and match.pattern.word == "glob" and _field_of(match.subject) == "command"
    )


def _keep_after_tool(found: re.Match[str]) -> str:
    """`filesystem.*` is every tool of a module, `Edit.*` is a regular expression."""
    return found[0] if is_known_name(found[1]) and not _is_module(found[1]) else ""


@lru_cache(maxsize=256)
def _is_module(name: str) -> bool:
    return any(each.startswith(f"{name}.") for each in _all_names())


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
    text, vocabulary = _source(match.pattern), match.subject.vocabulary
    is_glob = isinstance(match.pattern, Shorthand)
    if _is_impossible_name(match.pattern) and not _is_reported(text, is_glob):
        what = f"{hook.id} can never match: no tool has a name like {_quote(text)}."
        severity = Severity.ERROR if hook.may_stop else Severity.WARNING
        hint = "Write the tool's name; * stands for any text."
        if not is_glob and _CALL_RULE.fullmatch(text):
            hint = hook.origin.wording.input_rule.format(text.partition("(")[0].lstrip("^"), text)
        yield hook_problem("never-matches", hook, what, hint, severity)
        return
    for name in _plain_names(match.pattern):
        meant = _meant_tool(name, is_glob, vocabulary)
        if meant is None:
            continue
        if fold_word(name) == fold_word(meant) and meant not in _kind_names(vocabulary):
            if not any(meant in _kind_names(each) for each in VOCABULARIES.values()):
                continue  # send_message is a good name, whatever another agent's SendMessage does
            is_word = True
        else:
            is_word = _is_word(name, meant)
        is_error = hook.may_stop and not is_known_name(name) and not is_word
        why = f"{vocabulary.name} has no such tool" if is_known_name(name) else "no known agent has such a tool"
        hint = f"Did you mean {meant}?"
        if is_error:
            hint += f" If {name} is a tool of your own, {hook.origin.wording.own_tool.format(name[0], name[1:])}."
        severity = Severity.ERROR if is_error else Severity.WARNING
        yield hook_problem("unknown-tool", hook, f"{hook.id} matches {name}, but {why}.", hint, severity, about=name)


def _is_impossible_name(pattern: TextPattern) -> bool:
    return isinstance(pattern, Pattern | Shorthand) and not _may_be_name(pattern.source, _word_of(pattern))


def _word_of(pattern: TextPattern) -> str:
    return pattern.word if isinstance(pattern, Shorthand) else ""


def _may_be_name(source: str, word: str) -> bool:
    """Whether a tool may have such a name. `word` is how the pattern is written; a regular expression without one."""
    if word == "exactly":
        return _NOT_IN_EXACT_NAMES.search(source) is None
    if word:
        return word not in _NAME_WORDS or (_NOT_IN_NAMES.search(source) is None and source.strip("/") == source)
    if _CALL_RULE.fullmatch(source) or _SPACED_NAME.search(_NAME_SYNTAX.sub("x", source)):
        return False
    return _NOT_IN_NAME_PATTERNS.search(_NAME_SYNTAX.sub("", source)) is None


def _is_reported(text: str, is_glob: bool) -> bool:
    """Whether another check says the same."""
    if is_glob and _LOOKS_LIKE_REGEX.search(text):
        return True
    return any(each.search(text) for each in (_INVISIBLE_EDGE, _CONTROL, _SURROGATE, _PLACEHOLDER))


def _meant_tool(name: str, is_glob: bool, vocabulary: Vocabulary) -> str | None:
    """A regular expression may be a part of a name."""
    is_part = not is_glob and any(name in each for each in vocabulary.known_names)
    return None if is_part else _misspelled_tool(name, vocabulary)


def _is_word(name: str, meant: str) -> bool:
    """Whether it may well be a name of its own: a plural, a number at the end, or another word."""
    one, two = fold_word(name), fold_word(meant)
    if one != two and (one.rstrip("0123456789") == two or one.removesuffix("s") == two.removesuffix("s")):
        return True
    written, known = _WORDS.findall(name), _WORDS.findall(meant)
    if len(written) != len(known):
        return False
    other = [one.lower() for one, two in zip(written, known, strict=True) if one.lower() != two.lower()]
    return bool(other) and all(word in _REAL_WORDS or word in _all_name_words() for word in other)


@lru_cache(maxsize=1)
def _all_name_words() -> frozenset[str]:
    return frozenset(word.lower() for name in _all_names() for word in _WORDS.findall(name))


@lru_cache(maxsize=8192)
def _is_clean_name(source: str, word: str, vocabulary_name: str) -> bool:
    if _is_suspicious(source) or not _may_be_name(source, word):
        return False
    vocabulary = VOCABULARIES.get(vocabulary_name, NATIVE)
    found = _PLAIN_NAMES.fullmatch(source.replace(" ", ""))
    return found is None or all(_meant_tool(name, bool(word), vocabulary) is None for name in found[1].split("|"))


@lru_cache(maxsize=4096)
def _misspelled_tool(name: str, vocabulary: Vocabulary) -> str | None:
    """The tool that was probably meant, if the name is one letter from it."""
    known = _known_names(vocabulary)
    if name in known or len(name) < 3 or name.startswith("mcp"):
        return None
    if is_known_name(name):  # of another agent, where only the case may be a typo
        if vocabulary == NATIVE:
            return None
        alike = (each for each in sorted(known) if each.lower() == name.lower())
        return next(alike, None) or _own_name(name, vocabulary)
    folded = fold_word(name)
    half = max(0, (len(folded) - 3) // 2)
    candidates = _similar_names(vocabulary, len(folded), folded[:half], folded[len(folded) - half :])
    return next((each for each in candidates if is_typo(name, each)), None)


def _own_name(name: str, vocabulary: Vocabulary) -> str | None:
    """What this dialect calls a tool that has such a name in the files of another dialect only: `shell.run`."""
    files = ("ai_agents", "digitorn")
    if any(name in _known_names(each) for each in VOCABULARIES.values() if each.name not in files):
        return None
    return next(iter(vocabulary.names.get(kind_of_name(name), ())), None)


@lru_cache(maxsize=32)
def _kind_names(vocabulary: Vocabulary) -> frozenset[str]:
    """Its names for tools of a kind: where one is meant, a guard matters."""
    return vocabulary.known_names - vocabulary.others


@lru_cache(maxsize=32)
def _known_names(vocabulary: Vocabulary) -> frozenset[str]:
    return vocabulary.known_names


@lru_cache(maxsize=4096)
def _similar_names(vocabulary: Vocabulary, length: int, start: str, end: str) -> tuple[str, ...]:
    """The names that a typo in a word like this may mean; the vocabulary's own come first.

    start, end: of the word, not quite halves. One mistake cannot touch both.
    """
    known = _known_names(vocabulary)
    folded = {name: fold_word(name) for name in (*sorted(known), *sorted(_all_names() - known)) if len(name) > 2}
    return tuple(
        name
        for name, word in folded.items()
        if abs(len(word) - length) <= 1 and (word.startswith(start) or word.endswith(end))
    )


@lru_cache(maxsize=1)
def _all_names() -> frozenset[str]:
    return frozenset(name for vocabulary in VOCABULARIES.values() for name in vocabulary.known_names)


def _check_type(hook: Hook, equals: Equals) -> Iterator[Problem]:
    """A number, true or false for a field that is text in every tool."""
    field = _field_of_path(equals.path)
    if field in _TEXT_FIELDS and len(equals.path) == len(_INPUT) + 1 and not isinstance(equals.value, str):
        what = f"{hook.id} can never match: {field} is text, and {equals.value!r} is not."
        hint = "Write the text or pattern in quotes."
        yield hook_problem("never-matches", hook, what, hint, Severity.ERROR, about=str(equals.value))


def _check_field(hook: Hook, part: Matches | Equals, kinds: frozenset[ToolKind]) -> Iterator[Problem]:
    """A field that no tool of these kinds has."""
    field = _field_of(part.subject) if isinstance(part, Matches) else _field_of_path(part.path)
    if field is None or _is_known_field(field, kinds):
        return
    meant = _misspelled_field(field)
    if hook.may_stop and meant is not None and not _is_word(field, meant):
        what = f"{hook.id} reads the field {_quote(field)}, which no known tool has."
        yield hook_problem("unknown-field", hook, what, f"Did you mean {meant}?", Severity.ERROR, about=field)
        return
    if not kinds:
        return
    main = list(dict.fromkeys(name for kind in sorted(kinds) for name in FIELD_NAMES[kind]))
    is_other_field = any(field in _fields(kind) for kind in FIELD_NAMES)
    guess = None if is_other_field else closest_match(field, [name for kind in kinds for name in _fields(kind)])
    what = f"{hook.id} reads the field {field}, which no known {' or '.join(sorted(kinds))} tool has."
    hint = f"Did you mean {guess}?" if guess else f"Its fields are {', '.join(main)}."
    yield hook_problem("unknown-field", hook, what, hint, about=field)


def _check_other_fields(hook: Hook) -> Iterator[Problem]:
    """Fields that other conditions read, such as `secrets: {in: input.contnet}`."""
    parts = [part for part, _ in _parts(hook.when, frozenset())]
    checked = {_field_of(part.subject) if isinstance(part, Matches) else _field_of_path(part.path) for part in parts}
    for path in dict.fromkeys(hook.when.reads()):
        field, meant = _field_of_path(path), _misspelled_path(path)
        if hook.may_stop and meant is not None and field not in checked:
            what = f"{hook.id} reads the field {_quote(field or '')}, which no known tool has."
            yield hook_problem("unknown-field", hook, what, f"Did you mean {meant}?", Severity.ERROR, about=field or "")


def _misspelled_path(path: FactPath) -> str | None:
    """The field of the input that was probably meant."""
    field = _field_of_path(path)
    meant = None if field is None else _misspelled_field(field)
    return None if field is None or meant is None or _is_word(field, meant) else meant


def _is_known_field(field: str, kinds: frozenset[ToolKind]) -> bool:
    return field in _MINOR_FIELDS or any(field in _fields(kind) for kind in kinds)


@lru_cache(maxsize=4096)
def _is_clean_field(field: str) -> bool:
    return _misspelled_field(field) is None


@lru_cache(maxsize=4096)
def _misspelled_field(field: str) -> str | None:
    """The field that was probably meant, if no tool of any kind has this one."""
    known = [name for kind in FIELD_NAMES for name in FIELD_NAMES[kind]]
    # Of the other names only long ones: a short one differs in one letter from many words
    others = [name for kind in FIELD_NAMES for names in FIELD_NAMES[kind].values() for name in names if len(name) > 5]
    if "." in field and (written := _FIELD_PATH.fullmatch(field)) is not None and written[1] in known:
        return written[1]
    if len(field.strip()) < 3 or field in _MINOR_FIELDS or any(field in _fields(kind) for kind in FIELD_NAMES):
        return None
    return next((each for each in (*known, *others) if is_typo(field.strip("\ufeff\u200b"), each)), None)


def _field_of(subject: object) -> str | None:
    if isinstance(subject, ShellCommands):
        subject = subject.subject
    if isinstance(subject, ToolField) and subject.path:
        return str(subject.path[0])
    return _field_of_path(subject.path) if isinstance(subject, Fact) else None


def _field_of_path(path: FactPath) -> str | None:
    return str(path[2]) if path[:2] == _INPUT and len(path) > 2 else None


@lru_cache(maxsize=64)
def _fields(kind: ToolKind) -> frozenset[str]:
    return frozenset(name for ours, others in FIELD_NAMES[kind].items() for name in (ours, *others))


def _quote(text: str) -> str:
    return f"'{text}'"
