"""Skills: instructions that an agent loads through the tool `skill`.

Invoking a skill also activates its hooks for the rest of the session.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hookline.config.document import Document
from hookline.config.node import Node
from hookline.config.problem import Problem, Severity
from hookline.config.reader import read_text
from hookline.errors import HooklineError
from hookline.hooks.hook import Hook, Scope
from hookline.hooks.host import ToolResult
from hookline.hooks.tools import ToolKind
from hookline.lazy_dataclasses import dataclass, replace
from hookline.project import Source, SourceLayer, Trust, project_directories, trust_file_path
from hookline.project.parsed_file import ParsedFile, read_source
from hookline.runtime.apps.app import App
from hookline.runtime.session_hooks import StoredHooksFile, dump_session_hooks, load_session_hooks

if TYPE_CHECKING:
    from hookline.runtime.agent_session import AgentSession
    from hookline.runtime.tools.tool_definition import Tool, ToolContext


SKILL_FILE: Final = "SKILL.md"
SKILL_DIALECT: Final = "flo"
MAX_SKILL_LENGTH: Final = 200_000  # characters of a skill's text
_MAX_DESCRIPTION_LENGTH: Final = 1_000
_NAME_PATTERN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", re.ASCII)
_FRONT_MATTER: Final = re.compile(r"---[ \t]*+(?:\r\n|\n|\r)(?:.*?[\r\n])??(?:---|\.\.\.)[ \t]*+(?=[\r\n]|\Z)", re.S)
_PLACEHOLDER: Final = re.compile(r"\$ARGUMENTS\b|\{\{\s*(\w+)\s*\}\}", re.ASCII)


@dataclass(frozen=True, slots=True)
class SkillInvocation:
    text: str  # for the model
    parts: tuple[StoredHooksFile, ...] = ()  # stored with the session, so that the hooks survive a restart
    hooks: tuple[Hook, ...] = ()  # for this agent in this session


@dataclass(frozen=True, slots=True)
class Skill:
    name: str
    path: Path  # of its SKILL.md
    shown: str  # the path as messages display it
    body: str
    description: str = ""
    arguments: tuple[str, ...] = ()  # placeholders {{name}}; the last one takes the rest
    front_matter: str = ""

    def invoke(self, arguments: str, agent: str, session: str) -> SkillInvocation:
        """Arguments are inserted as text and not expanded again."""
        parts = self._hook_parts(agent, session)
        return SkillInvocation(self._render(arguments), parts, load_session_hooks(dump_session_hooks(parts)).hooks)

    def _hook_parts(self, agent: str, session: str) -> tuple[StoredHooksFile, ...]:
        part = StoredHooksFile(SKILL_DIALECT, self.shown, self.front_matter, Scope(agent=agent, session=session))
        return (part,) if load_session_hooks(dump_session_hooks((part,))).hooks else ()

    def _render(self, arguments: str) -> str:
        values = {"arguments": arguments, **self._named_arguments(arguments)}
        used = False

        def fill(found: re.Match[str]) -> str:
            nonlocal used
            name = found[1] or "arguments"
            used = used or name in values
            return values.get(name, found[0])

        text = _PLACEHOLDER.sub(fill, self.body)
        if arguments and not used:
            text += f"\n\nArguments: {arguments}"
        if self._has_files():
            text += f"\n\nThe files of this skill are in {self.path.parent}."
        return text

    def _named_arguments(self, arguments: str) -> dict[str, str]:
        words = arguments.split(maxsplit=len(self.arguments) - 1) if self.arguments else []
        return {name: words[index] if index < len(words) else "" for index, name in enumerate(self.arguments)}

    def _has_files(self) -> bool:
        try:
            return any(each.name != SKILL_FILE for each in self.path.parent.iterdir())
        except OSError:
            return False


def parse_skill(document: Document, path: Path) -> tuple[Skill | None, tuple[Problem, ...]]:
    """None after an error. Unknown keys are ignored."""
    problems: list[Problem] = []
    at = Node.of(document, problems)
    if at.mapping() is None:
        return None, tuple(problems)
    front = _FRONT_MATTER.match(document.text)
    body = document.text[front.end() if front else 0 :].strip()
    name, description = _optional_text(at, "name") or path.parent.name, _optional_text(at, "description") or ""
    if not _NAME_PATTERN.fullmatch(name):
        at.add_problem(
            "bad-name", f"{name!r} is not a valid skill name.", "Use letters, digits, - and _, at most 64 of them."
        )
    if not body:
        at.add_problem("empty", "the skill has no text.", "Write instructions for the agent below the front matter.")
    elif len(body) > MAX_SKILL_LENGTH:
        at.add_problem(
            "too-large", f"the skill's text is longer than {MAX_SKILL_LENGTH:,} characters.", "Put parts into files."
        )
    arguments = tuple(_argument_names(at))
    problems += _hook_problems(document)
    if any(problem.severity is Severity.ERROR and problem.code in _FATAL_CODES for problem in problems):
        return None, tuple(problems)
    shown = " ".join(description.split())[:_MAX_DESCRIPTION_LENGTH]
    skill = Skill(name, path, document.file, body, shown, arguments, front[0] if front else "")
    return skill, tuple(problems)


_FATAL_CODES: Final = frozenset(("bad-name", "empty", "too-large"))


def _optional_text(at: Node, key: str) -> str | None:
    place = at.get(key)
    return None if place is None or place.value is None else place.text()


def _argument_names(at: Node) -> Iterator[str]:
    """The listed names. A plain text is a hint for people and ignored."""
    place = at.get("arguments")
    if place is None or not isinstance(place.value, list):
        return
    for each in place.items():
        name = each.text()
        if name is not None and (not name.isidentifier() or name == "arguments"):
            each.add_problem(
                "bad-argument", f"{each.location}: {name!r} is not a valid argument name.", "Use letters and _."
            )
        elif name is not None:
            yield name


def _hook_problems(document: Document) -> tuple[Problem, ...]:
    from hookline.dialects.dialect import get_dialect

    return get_dialect(SKILL_DIALECT).load(document).problems


SKILLS_FOLDER: Final = Path(".hookline", "skills")
MAX_SKILLS: Final = 200  # of one folder


class Skills:
    """The skills of the app, the project and the user. If two have the same name, the first one is used.

    Skills of a project are ignored until you trust them. Skills of an app that the user `named` are trusted.
    """

    def __init__(
        self,
        app: App,
        directory: Path,
        home: Path,
        trust: Trust | None = None,
        *,
        named: bool = False,
        config_home: Path | None = None,
    ) -> None:
        self.problems: tuple[Problem, ...] = ()
        self._skills: dict[str, Skill] = {}
        if named:
            self._add_sources(
                [source for folder in app.skills for source in _sources_in(folder, None, str(folder))], None
            )
        known = trust or Trust(trust_file_path(home))
        self._add_sources(skill_sources(() if named else app.skills, directory, home, config_home, known), known)

    def __iter__(self) -> Iterator[Skill]:
        return iter(self._skills.values())

    def __len__(self) -> int:
        return len(self._skills)

    def get(self, name: str) -> Skill | None:
        return self._skills.get(name)

    def format_list(self) -> str:
        """One line for each."""
        return "\n".join(f"- {skill.name}: {skill.description or 'no description'}" for skill in self)

    def prompt_text(self) -> str:
        """The list for the system prompt; empty if there are no skills."""
        return f"Skills; call the tool `skill` to read how to use one:\n{self.format_list()}" if self else ""

    def tools(self, session: AgentSession) -> tuple[Tool, ...]:
        """The tool that invokes skills; empty if there are no skills."""
        return (InvokeSkillTool(self, session),) if self else ()

    def invoke(self, name: str, arguments: str, agent: str, session: str) -> SkillInvocation:
        """Raises HooklineError if there is no such skill."""
        skill = self._skills.get(name)
        if skill is None:
            raise HooklineError(f"there is no skill {name!r}; there is: {', '.join(self._skills) or 'none'}")
        return skill.invoke(arguments, agent, session)

    def _add_sources(self, sources: Iterable[Source], trust: Trust | None) -> None:
        problems = list(self.problems)
        for source in sources:
            skill = _load_skill(source, trust, problems)
            if skill is None:
                continue
            first = self._skills.setdefault(skill.name, skill)
            if first is not skill:
                text = f"the skill {skill.name} exists twice; the one in {first.shown} is used."
                problems.append(Problem("duplicate-id", skill.shown, 1, text, severity=Severity.WARNING))
        self.problems = tuple(problems)


def skill_sources(
    folders: Iterable[Path], directory: Path, home: Path, config_home: Path | None = None, trust: Trust | None = None
) -> tuple[Source, ...]:
    """The SKILL.md files of the folders, the project and the user, and those that the user trusts and that are gone.

    Folders inside the project count as the project's.
    """
    directories = project_directories(directory, home)
    root = directories[0]
    places = [(folder, root if _is_inside(folder, root) else None) for folder in folders]
    places += [(each / SKILLS_FOLDER, root) for each in reversed(directories)]
    places.append(((config_home or home / ".config") / "hookline" / "skills", None))
    found: dict[str, Source] = {}
    for folder, project in places:
        shown = _display_path(folder, directory, home)
        gone = () if trust is None or project is None else trust.deleted_files(folder, SKILL_FILE)
        for source in (*_sources_in(folder, project, shown), *_sources_of(gone, folder, project, shown)):
            found.setdefault(os.path.realpath(source.path), source)
    return tuple(replace(source, directory=directory) for source in found.values())


def _sources_in(folder: Path, project: Path | None, shown: str) -> list[Source]:
    try:
        names = sorted(entry.name for entry in os.scandir(folder) if os.path.lexists(Path(entry.path, SKILL_FILE)))
    except OSError:
        return []
    return _sources_of(names[:MAX_SKILLS], folder, project, shown)


def _sources_of(names: Iterable[str], folder: Path, project: Path | None, shown: str) -> list[Source]:
    return [
        Source(
            folder / name / SKILL_FILE, os.path.join(shown, name, SKILL_FILE), SKILL_DIALECT, SourceLayer.NAMED, project
        )
        for name in names
    ]


def skill_problems(sources: Iterable[Source]) -> tuple[Problem, ...]:
    """The problems of these skills, trusted or not."""
    problems: list[Problem] = []
    for source in sources:
        _parse_file(read_source(source), problems)
    return tuple(problems)


def _load_skill(source: Source, trust: Trust | None, problems: list[Problem]) -> Skill | None:
    parsed, is_trusted = read_source(source), True
    if source.is_from_project and trust is not None:
        effective = trust.effective_file(parsed, for_hooks=False)
        parsed, is_trusted = effective.parsed, effective.trusted and bool(effective.parsed.capabilities)
    elif source.is_from_project:
        is_trusted = False
    if not is_trusted:
        what = "this skill is not trusted yet, so it cannot be invoked."
        hint = "Review it and run `hookline trust`."
        problems.append(Problem("not-trusted", source.display_path, 1, what, hint, Severity.WARNING))
        return None
    return _parse_file(parsed, problems)


def _parse_file(parsed: ParsedFile, problems: list[Problem]) -> Skill | None:
    source = parsed.source
    document, unreadable = read_text(parsed.text, source.display_path)
    if document is None or parsed.dialect is None:
        problems += unreadable or parsed.problems
        return None
    skill, wrong = parse_skill(document, source.path)
    problems += wrong
    return skill


def _is_inside(path: Path, root: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root))


def _display_path(folder: Path, directory: Path, home: Path) -> str:
    if folder.is_relative_to(home) and not _is_inside(folder, directory):
        return f"~/{folder.relative_to(home)}"
    return os.path.relpath(folder, os.path.realpath(directory))


TOOL_NAME: Final = "skill"


class InvokeSkillTool:
    name = TOOL_NAME
    kind = ToolKind.OTHER

    def __init__(self, skills: Skills, session: AgentSession) -> None:
        self._skills = skills
        self._session = session

    @property
    def description(self) -> str:
        return f"Read the instructions of a skill before you use it. Skills:\n{self._skills.format_list()}"

    @property
    def schema(self) -> dict[str, Any]:
        return {
            "type": "object",
            "properties": {
                "name": {"type": "string", "enum": [skill.name for skill in self._skills]},
                "arguments": {"type": "string", "description": "Arguments for the skill, if any."},
            },
            "required": ["name"],
            "additionalProperties": False,
        }

    async def perform(self, input: dict[str, Any], context: ToolContext) -> ToolResult:
        name, arguments = input.get("name"), input.get("arguments", "")
        if not isinstance(name, str) or not isinstance(arguments, str):
            return ToolResult("", False, "name and arguments must be strings")
        try:
            invoked = self._skills.invoke(name, arguments, context.agent, self._session.id)
        except HooklineError as error:
            return ToolResult("", False, str(error))
        if invoked.parts:
            await self._session.add_hooks(invoked.parts)
        return ToolResult(invoked.text)
