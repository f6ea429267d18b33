"""Tables in the documentation that are generated from the code.

`python tests/docs_tables.py` writes them between `<!-- generated: NAME -->` and `<!-- end -->`; the tests compare them.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

import click

import docs_agent_tables
import docs_descriptions as descriptions
import docs_framework_tables
import docs_host_tables
import docs_hub_tables
import docs_packages
import docs_problem_codes
from docs_pages import pages
from hookline.cli.chat.commands import COMMANDS
from hookline.cli.main import VERBS, cli
from hookline.dialects.dialect import CONFIG_LOCATIONS, all_dialects
from hookline.dialects.native.actions import ACTIONS, STEP_KEYS
from hookline.dialects.native.conditions import CONDITIONS, EXPRESSION_NAMES
from hookline.dialects.native.dialect import FILE_KEYS, HOOK_KEYS
from hookline.dialects.native.keys import ActionKey, Key
from hookline.dialects.native.on_error import ON_ERROR
from hookline.dialects.native.value_tests import SYNTAXES, TESTS
from hookline.hooks.actions.program_result import ResultFormat
from hookline.hooks.events import COMMON_FACTS, EVENTS, EventKind
from hookline.hooks.outcome import Audience, FailureKind, NotePlace, Verdict
from hookline.hooks.placeholders import FILTERS
from hookline.hooks.protocols import May
from hookline.hooks.tools import FIELD_NAMES, VOCABULARIES, ToolKind
from hookline.project.packs import own_pack_names
from hookline.runtime.update_json import TYPES
from hookline.testing import __all__ as testing_names
from hookline.testing import case, expectation
from packs import unseen_commands
from packs.pack_trials import EVERYDAY, decide, load_pack, trials
from packs.unseen_commands import dangerous, everyday, is_stopped

_MARKED = re.compile(r"(<!-- generated: ([a-z0-9-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
_NONE = "–"


def replace_tables(text: str) -> str:
    return _MARKED.sub(lambda found: f"{found[1]}{TABLES[found[2]]()}\n{found[3]}", text)


def names_in(text: str) -> list[str]:
    return [found[2] for found in _MARKED.finditer(text)]


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = list(head)
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(_cell(each) for each in cells) + " |" for cells in lines)


def _cell(text: str) -> str:
    return re.sub(r"(?<!\\)\|", r"\|", text)


def code(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or _NONE


def _events(group: str) -> str:
    kinds = [kind for kind in EVENTS.values() if kind.name.partition(".")[0] in descriptions.GROUPS[group]]
    rows = [
        (f"`{kind.name}`", kind.when, code(kind.facts), _accepted(kind), _dialect_event_names(kind)) for kind in kinds
    ]
    return table(("event", "happens when", "its facts", "accepts", "name in dialects"), rows)


def _accepted(kind: EventKind) -> str:
    flags = {
        May.DENY: "deny",
        May.ALLOW: "allow",
        May.ASK: "ask",
        May.NOTES: "tell",
        May.HALT: "halt",
        May.COMPACT: "compact",
    }
    answers = [f"`{word}`" for flag, word in flags.items() if flag in kind.accepts]
    if kind.changes:
        answers.append(f"change {code(kind.changes)}")
    return ", ".join(answers) or _NONE


def _dialect_event_names(kind: EventKind) -> str:
    by_names: dict[tuple[str, ...], list[str]] = {}
    for dialect, names in kind.names.items():
        by_names.setdefault(names, []).append(dialect)
    return "; ".join(f"{', '.join(dialects)} {code(names)}" for names, dialects in by_names.items()) or _NONE


def _examples(keys: Mapping[str, Key], first: str) -> str:
    rows = [
        (f"`{key.name}`", key.help, f"`{key.example}`" if key.example else f"[below](#{key.name})")
        for key in keys.values()
    ]
    return table((first, "meaning", "example"), rows)


def _keys(keys: Mapping[str, Key]) -> str:
    rows = [(f"`{key.name}`", "required" if key.required else key.default, key.help) for key in keys.values()]
    return table(("key", "default", "meaning"), rows)


def _options(action: ActionKey) -> Mapping[str, Key]:
    """The keys inside an action's mapping, or beside it; `set`, `remove` and `append` only have each other."""
    return action.mapping or ({} if action.name in action.options else action.options)


def _reads() -> str:
    rows = [(f"`{each}`", *descriptions.READS[each]) for each in ResultFormat]
    return table(("`reads`", "exit code other than 0", "stdout after exit code 0, besides `tell`"), rows)


def _packs() -> str:
    rows = []
    for name in own_pack_names():
        book, tried = load_pack(name), [call for trial in trials(name) for call in trial.stops]
        passed = sum(decide(book, call).verdict < Verdict.ASK for call in tried)
        stopped = sum(decide(book, command).verdict >= Verdict.ASK for command in EVERYDAY)
        counts = map(str, (len(tried), passed, len(EVERYDAY), stopped))
        rows.append((f"`hookline:{name}`", descriptions.PACKS[name], *counts))
    head = ("pack", "what it does", "evasions tried", "passed", "everyday commands", "stopped")
    return table(head, rows)


def _unseen_commands() -> str:
    rows = []
    for name in unseen_commands.PACKS:
        passed = sum(not is_stopped(name, command) for command in dangerous(name))
        stopped = sum(is_stopped(name, command) for command in everyday(name))
        counts = map(str, (len(dangerous(name)), passed, len(everyday(name)), stopped))
        rows.append((f"`hookline:{name}`", *counts))
    return table(("pack", "dangerous commands", "passed", "everyday commands", "stopped"), rows)


def _pack_hooks() -> str:
    rows = []
    for name in own_pack_names():
        hooks = [hook for layer in load_pack(name).layers for hook in layer.hooks if ".after" not in hook.id]
        own = [hook.id for hook in hooks if hook.origin.file == f"hookline:{name}"]
        rows.append((f"`{name}`", ", ".join(f"`{id}`" for id in own)))
    return table(("pack", "hooks"), rows)


def _meanings(head: tuple[str, ...], words: Iterable[str], meanings: Mapping[str, str]) -> str:
    return table(head, [(f"`{word}`", meanings[word]) for word in words])


def _shapes() -> str:
    rows = [(f"`{shape}`", descriptions.SHAPES[shape][0], f"`{descriptions.SHAPES[shape][1]}`") for shape in FILTERS]
    return table(("shape", "the value becomes", "example"), rows)


def _formats() -> str:
    rows = [(f"[`{name}`]({name}.md)", descriptions.FORMATS[name], _places(name)) for name in all_dialects()]
    return table(("dialect", "in one line", "its files"), rows)


def _places(name: str) -> str:
    patterns = [f"`{'~/' if place.user else ''}{place.pattern}`" for place in CONFIG_LOCATIONS[name]]
    return ", ".join(patterns) or "the folder that `standard_agents:` in a hookline.yaml names"


def _tool_names() -> str:
    rows = [
        (f"`{vocabulary}`", *(code(held.names.get(kind, ())) for kind in _NAMED))
        for vocabulary, held in VOCABULARIES.items()
    ]
    return table(("", *_NAMED), rows)


_NAMED = tuple(kind for kind in ToolKind if kind is not ToolKind.OTHER)


def _tool_fields() -> str:
    rows = [
        (kind, f"`{ours}`", code(others)) for kind, fields in FIELD_NAMES.items() for ours, others in fields.items()
    ]
    return table(("kind", "field", "also known as"), rows)


def _vocabulary_fields() -> str:
    differing = {name: vocabulary.fields for name, vocabulary in VOCABULARIES.items() if vocabulary.fields}
    rows = [
        (f"`{name}`", ", ".join(f"`{a}` is `{b}`" for a, b in fields.items())) for name, fields in differing.items()
    ]
    return table(("`names:`", "programs get"), rows)


def _verbs() -> str:
    return table(("command", "what it does"), [(f"[`{name}`](#{name})", line) for name, (_, line) in VERBS.items()])


def _verb_options(name: str) -> str:
    rows = [
        (f"`{_option(each)}`", (each.help or "").rstrip("."))
        for each in _visible_parameters(name)
        if isinstance(each, click.Option)
    ]
    arguments = [
        (f"`{metavar}`", _ARGUMENTS.get(f"{name} {metavar}") or _ARGUMENTS[name])
        for each in _visible_parameters(name)
        if isinstance(each, click.Argument) and (metavar := each.make_metavar(_context(name)))
    ]
    return table(("", ""), arguments + rows)


_ARGUMENTS = {
    "check": "files, or directories with hooks files; without any, the files that are active here",
    "fire": "an event's name in any dialect",
    "help": "a topic or a command; without it, the topics are listed",
    "test": "case files, or directories with them; without any, the places listed below",
    "prove": "case files, or directories with them, whose `properties` are proved",
    "convert": "a hooks file",
    "schema": "a dialect; `native` by default",
    "why": "the id of a decision, as `log` shows it; without it, the last one in which a hook answered",
    "install": "a [coding agent](hosts/README.md); without it, those on this machine",
    "uninstall": "a coding agent",
    "doctor": "a coding agent; without it, those that call hookline",
    "adapt AGENT": "the [agent](hosts/README.md) that calls this",
    "adapt EVENT": "that agent's name for the event",
    "adapt DIALECT": "the [dialect](dialects/README.md) in which the hooks are written",
    "adapt JSON": "the hooks, as a file of that dialect",
    "bridge AGENT": "an [agent](hosts/README.md)",
    "bridge EVENT": "that agent's name for the event",
    "mcp": "the server's program and its arguments",
    "run": "the first prompt",
    "completion": "`bash`, `zsh` or `fish`",
}


def _command(name: str) -> click.Command:
    found = cli.get_command(click.Context(cli), name)
    assert found is not None
    return found


def _context(name: str) -> click.Context:
    return click.Context(_command(name))


def _visible_parameters(name: str) -> list[click.Parameter]:
    return [each for each in _command(name).params if not getattr(each, "hidden", False)]


def _option(option: click.Option) -> str:
    taken = "" if option.is_flag else f" {option.metavar or option.make_metavar(click.Context(cli))}"
    return ", ".join(option.opts) + taken


def verb_names() -> list[str]:
    return list(VERBS)


def options_of(name: str) -> list[str]:
    return [option for each in _visible_parameters(name) if isinstance(each, click.Option) for option in each.opts]


TABLES: dict[str, Callable[[], str]] = {
    **{f"events-{group}": partial(_events, group) for group in descriptions.GROUPS},
    "packs": lambda: _packs(),
    "pack-hooks": lambda: _pack_hooks(),
    "unseen-commands": lambda: _unseen_commands(),
    "facts-everywhere": lambda: code(COMMON_FACTS),
    "conditions": lambda: _examples(CONDITIONS, "key"),
    "runs": lambda: _keys(CONDITIONS["runs"].mapping),
    "count": lambda: _keys(CONDITIONS["count"].mapping),
    "secrets": lambda: _keys(CONDITIONS["secrets"].mapping),
    "outside": lambda: _keys(CONDITIONS["outside"].mapping),
    "tests": lambda: _examples(TESTS, "key"),
    "actions": lambda: _examples(ACTIONS, "key"),
    **{f"options-{name}": partial(_keys, _options(action)) for name, action in ACTIONS.items() if _options(action)},
    "options-step": lambda: _keys(STEP_KEYS),
    "reads": _reads,
    "on-error": lambda: _meanings(("`on_error`", "a failure counts as"), ON_ERROR, descriptions.ON_ERROR),
    "failures": lambda: _meanings(("kind", "what happened"), FailureKind, descriptions.FAILURES),
    "problems": lambda: _meanings(("code", "the file has"), docs_problem_codes.problem_codes(), descriptions.PROBLEMS),
    "hook-keys": lambda: _keys(HOOK_KEYS),
    "file-keys": lambda: table(("key", "meaning"), [(f"`{key.name}`", key.help) for key in FILE_KEYS.values()]),
    "shapes": _shapes,
    "formats": _formats,
    "names": lambda: code(VOCABULARIES),
    "tool-names": _tool_names,
    "tool-fields": _tool_fields,
    "program-fields": _vocabulary_fields,
    **docs_agent_tables.tables(table),
    **docs_framework_tables.tables(table),
    **docs_host_tables.tables(table),
    "packages": lambda: docs_packages.packages_table(table),
    "hub-routes": lambda: docs_hub_tables.routes_table(table),
    "verbs": _verbs,
    "chat-commands": lambda: table(("command", "shows or does"), [(f"`/{n}`", w) for n, (_, w) in COMMANDS.items()]),
    "json-lines": lambda: table(("`type`", "tells"), [(f"`{name}`", words) for name, words in TYPES.items()]),
    **{f"verb-{name}": partial(_verb_options, name) for name in VERBS},
    "case-keys": lambda: _meanings(("key", "meaning"), case.CASE_KEYS, descriptions.CASE_KEYS),
    "case-step-keys": lambda: _meanings(("key of a step", "meaning"), case.STEP_KEYS, descriptions.CASE_STEP_KEYS),
    "expect-keys": lambda: _meanings(("key of `expect`", "meaning"), expectation._KEYS, descriptions.EXPECT_KEYS),
}


def _extras_of_all() -> list[str]:
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return re.findall(r"[\w-]+", project["optional-dependencies"]["all"][0])[1:]


def documented_words() -> list[tuple[str, list[str]]]:
    """Each page, and the words that it must have as code."""
    options = [name for action in ACTIONS.values() for name in (*action.mapping, *action.options)]
    return [
        (
            "events.md",
            [*EVENTS, *(name for kind in EVENTS.values() for names in kind.names.values() for name in names)],
        ),
        (
            "conditions.md",
            [*CONDITIONS, *TESTS, *EXPRESSION_NAMES, "always", "never"],
        ),
        (
            "actions.md",
            [
                *ACTIONS,
                *options,
                *STEP_KEYS,
                *ResultFormat,
                *ON_ERROR,
                *FailureKind,
                *Audience,
                *NotePlace,
            ],
        ),
        ("dialects/native.md", [*HOOK_KEYS, *FILE_KEYS, *VOCABULARIES]),
        ("dialects/README.md", list(all_dialects())),
        ("verbs.md", list(VERBS)),
        ("install.md", _extras_of_all()),
        ("testing.md", [*case.CASE_KEYS, *case.STEP_KEYS, *expectation._KEYS, *testing_names]),
        ("python.md", ["BookWatcher", "load_for_directory", "load_text", "load_all", "LocalHost"]),
        ("deciding.md", [verdict.word for verdict in Verdict]),
        ("templates.md", list(FILTERS)),
        ("patterns.md", list(SYNTAXES)),
        ("tools.md", [*ToolKind, *VOCABULARIES]),
    ]


def examples() -> Iterator[tuple[str, str]]:
    """Every example of the tables as (event, the part of a hook that it is)."""
    for key in CONDITIONS.values():
        if key.example:
            yield key.example_event, f"when: {{{key.example}}}, then: {{log: matched}}"
    for key in TESTS.values():
        yield key.example_event, f"when: {{fact: {{input.value: {key.example}}}}}, then: {{log: matched}}"
    for key in ACTIONS.values():
        if key.example:
            yield key.example_event, f"then: {key.example}"
    for _, example in descriptions.SHAPES.values():
        yield "tool.after", f"then: {{log: '{example}'}}"


def main() -> None:
    for page in pages():
        text = page.read_text(encoding="utf-8")
        if replace_tables(text) != text:
            page.write_text(replace_tables(text), encoding="utf-8")
            sys.stdout.write(f"wrote {page}\n")


if __name__ == "__main__":
    main()
