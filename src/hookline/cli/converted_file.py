"""What `hookline convert` prints: the hooks of one or more files as a file of another dialect."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any, Final

from hookline.cli.adapted_hooks import adapt_hooks, is_adapted
from hookline.cli.output import format_json
from hookline.config.comments import assign_comments, find_comments
from hookline.config.reader import salvage_text
from hookline.config.toml_writer import write_tables
from hookline.dialects.conversion import with_vocabulary
from hookline.dialects.dialect import get_dialect
from hookline.hooks.hook import Hook, Scope
from hookline.lazy_dataclasses import dataclass, field, replace
from hookline.project.parsed_file import ParsedFile

_HOOK_KEYS: Final = {"version", "spec", "hooks", "disableAllHooks", "hooksDisabled", "hooksConfig", "$schema"}
_ONE_HOOK_KEYS: Final = (frozenset(("when", "then")), frozenset(("program",)))
"""Of files that are one hook: an older one of Kiro, and a program of Cline."""
_JSON_ID_LINE: Final = re.compile(r' *"id": (".*"),?')
_ID_LINE: Final = re.compile(r"( *)- id: (.*)")


@dataclass(frozen=True, slots=True)
class ConvertedFile:
    text: str
    not_expressible: tuple[str, ...] = ()
    not_about_hooks: tuple[str, ...] = ()


def convert_files(files: Sequence[ParsedFile], to: str) -> ConvertedFile:
    """A file that is in that dialect already stays as it is, with its comments and other keys."""
    if len(files) == 1 and files[0].dialect == to and files[0].text:
        return ConvertedFile(files[0].text)
    names_folders = get_dialect(to).has_app_keys
    hooks = list(_with_distinct_ids([hook for file in files for hook in _hooks_of(file, to)]))
    if not names_folders:
        hooks += [hook for file in files for hook in _folder_hooks(file)]
    hooks = list(adapt_hooks(hooks, to))
    written = get_dialect(to).write(with_vocabulary(to, hooks))
    comments = _collect_comments(files, hooks)
    if written.kind != "yaml":
        others = tuple(line for file in files for line in _describe_other_keys(file, kept=()))
        others += tuple(_describe_adapted(hooks, to))
        if written.kind == "jsonc":
            text = _insert_json_comments(format_json(written.value), comments)
            return ConvertedFile(text, written.not_expressible, others)
        if written.kind == "toml":
            return ConvertedFile(_toml_text(written.value, comments), written.not_expressible, others)
        lost = (f"{files[0].source.display_path}  comments are left out: {to} files have none.",)
        return ConvertedFile(format_json(written.value), written.not_expressible, others + (lost if comments else ()))
    from hookline.cli.yaml_dump import dump_yaml

    value = dict(written.value) if isinstance(written.value, dict) else written.value
    kept: list[str] = []
    if names_folders:
        kept = _keep_app_keys(files, value)
    text = _insert_yaml_comments(dump_yaml(value), comments)
    others = tuple(line for file in files for line in _describe_other_keys(file, kept=kept))
    return ConvertedFile(text, written.not_expressible, others)


def _describe_adapted(hooks: Sequence[Hook], to: str) -> Iterator[str]:
    adapted = dict.fromkeys(hook.id for hook in hooks if is_adapted(hook))
    if adapted:
        what = f"{to} sends hooks different input or reads their answers differently"
        yield f"{what}. Install hookline where you use the file: it adapts {', '.join(adapted)}."


def _hooks_of(file: ParsedFile, to: str) -> Iterator[Hook]:
    """With ids that say where they come from, so that converted files can be joined."""
    for hook in file.hooks:
        is_generated = hook.id.startswith(f"{PurePath(hook.origin.file).name}:")
        if is_generated and file.dialect != to:
            yield replace(hook, id=f"{hook.origin.dialect}/{hook.id}")
        else:
            yield hook


def _folder_hooks(file: ParsedFile) -> tuple[Hook, ...]:
    from hookline.project.parsed_file import read_folders

    return read_folders([folder for folder in file.folders if folder.path.exists()]).hooks


def _with_distinct_ids(hooks: Sequence[Hook]) -> Iterator[Hook]:
    """A hook of several events has one id; another hook with that id gets a number."""
    owners: dict[tuple[str, Scope], tuple[str, int]] = {}
    for hook in hooks:
        place, id, count = (hook.origin.file, hook.origin.line), hook.id, 1
        while owners.setdefault((id, hook.scope), place) != place:
            count += 1
            id = f"{hook.id}#{count}"
        yield hook if id == hook.id else replace(hook, id=id)


def _keep_app_keys(files: Sequence[ParsedFile], value: dict[str, Any]) -> list[str]:
    """The other keys of native files, and the folders of Python definitions."""
    kept: list[str] = []
    for file in files:
        others = _other_keys(file) if _has_app_keys(file) else {}
        for key, other in others.items():
            if key != "standard_agents" and value.setdefault(key, other) == other:
                kept.append(key)
    folders = [folder.display_path for file in files for folder in file.folders]
    if folders:
        value["standard_agents"] = folders[0] if len(folders) == 1 else folders
        kept.append("standard_agents")
    return kept


def _has_app_keys(file: ParsedFile) -> bool:
    return file.dialect is not None and get_dialect(file.dialect).has_app_keys


def _other_keys(file: ParsedFile) -> dict[str, Any]:
    document, _ = salvage_text(file.text, file.source.display_path)
    value = None if document is None else document.value
    if not isinstance(value, dict) or any(keys <= value.keys() for keys in _ONE_HOOK_KEYS):
        return {}
    return {key: other for key, other in value.items() if key not in _HOOK_KEYS}


def _describe_other_keys(file: ParsedFile, kept: Sequence[str]) -> Iterator[str]:
    document, _ = salvage_text(file.text, file.source.display_path)
    for key in _other_keys(file):
        if document is None or (key in kept and _has_app_keys(file)) or _has_only_hooks(document.value[key]):
            continue
        what = (
            "only its hooks are converted, the rest stays in this file"
            if _has_hooks(document.value[key])
            else "this is not about hooks and stays in this file"
        )
        yield f"{document.file}:{document.key_line((key,))}  {key}: {what}."


def _has_hooks(value: Any) -> bool:
    """Whether it is digitorn's runtime, or one of its agents."""
    return any(isinstance(part, dict) and "hooks" in part for part in (value if isinstance(value, list) else [value]))


def _has_only_hooks(value: Any) -> bool:
    parts = value if isinstance(value, list) else [value]
    return bool(parts) and all(isinstance(part, dict) and {"hooks"} <= part.keys() <= {"id", "hooks"} for part in parts)


@dataclass(slots=True)
class _Comments:
    """The comments of the files: those before the first hook, and those of each hook."""

    top: list[str] = field(default_factory=list)
    by_hook: dict[str, list[str]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.top) or any(self.by_hook.values())

    def take(self, id: str) -> list[str]:
        return self.by_hook.pop(id, [])


def _collect_comments(files: Sequence[ParsedFile], hooks: Sequence[Hook]) -> _Comments:
    collected = _Comments()
    for file in files:
        own = [hook for hook in hooks if hook.origin.file == file.source.display_path]
        comments = find_comments(file.text, is_json=file.text.lstrip()[:1] in ("{", "[", "/"))
        assigned = assign_comments(comments, file.text, sorted({hook.origin.line for hook in own}))
        collected.top += assigned.pop(0, [])
        for hook in own:
            collected.by_hook.setdefault(hook.id, []).extend(assigned.pop(hook.origin.line, []))
    return collected


def _toml_text(value: dict[str, list[dict[str, Any]]], comments: _Comments) -> str:
    """The comments at the top: tables have no ids that would tell where each belongs."""
    said = [*comments.top, *(comment for own in comments.by_hook.values() for comment in own)]
    tables = [write_tables(name, entries) if entries else f"{name} = []" for name, entries in value.items()]
    return "\n".join([*(f"# {comment}".rstrip() for comment in said), *tables]) + "\n"


def _insert_yaml_comments(text: str, comments: _Comments) -> str:
    """Each hook's comments above it, and those before the first hook at the top."""
    lines = [f"# {comment}".rstrip() for comment in comments.top]
    for line in text.splitlines():
        found = _ID_LINE.fullmatch(line)
        if found:
            lines += [f"{found[1]}# {comment}".rstrip() for comment in comments.take(found[2].strip("'\""))]
        lines.append(line)
    return "\n".join(lines) + "\n"


def _insert_json_comments(text: str, comments: _Comments) -> str:
    """Each hook's comments above it; those of hooks that have no id in this format at the top."""
    lines: list[str] = []
    for line in text.splitlines():
        found = _JSON_ID_LINE.fullmatch(line)
        if found and lines[-1].strip() == "{":
            indent = lines[-1][:-1]
            above = [f"{indent}// {comment}".rstrip() for comment in comments.take(json.loads(found[1]))]
            lines[-1:] = [*above, lines[-1]]
        lines.append(line)
    others = [comment for said in comments.by_hook.values() for comment in said]
    return "\n".join([*(f"// {comment}".rstrip() for comment in (*comments.top, *others)), *lines]) + "\n"
