"""What a line that begins with a slash does."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final

from hookline.cli.chat.opening import session_table
from hookline.cli.chat.words import changes_of, hook_words, shortened, verdict_words
from hookline.config.problem import nearest
from hookline.engine.account import Account, outcome_json
from hookline.hooks.outcome import Compact
from hookline.runtime.compaction import compact
from hookline.runtime.skills.skill import Skill

if TYPE_CHECKING:
    from hookline.cli.chat.chat import Chat

Command = Callable[["Chat", str], Awaitable[None]]

_MOST: Final = 60  # hooks that /why shows
_KEPT: Final = 2  # messages that /compact leaves as they are


async def _help(chat: Chat, words: str) -> None:
    for name, said in described(chat):
        chat.screen.named(f"/{name}", said)
    chat.say("  Enter sends, Alt-Enter begins a new line, Ctrl-C cancels what runs, Ctrl-D leaves.", "dim")


async def _hooks(chat: Chat, words: str) -> None:
    hooks = chat.session.book.hooks
    if not hooks:
        chat.say("No hooks are in force here. `hookline init` writes two.")
        return
    rows = []
    for hook in hooks:
        counted, _ = chat.session.counts.fires(hook, chat.session.id)
        state = str(max(chat.record.fires(hook), counted)) if hook.enabled else "off"
        rows.append((state, hook.id, hook.event, f"{hook.origin.file}:{hook.origin.line}", hook.origin.dialect))
    chat.table(("fired", "hook", "event", "where", "dialect"), rows)


async def _why(chat: Chat, words: str) -> None:
    """Every hook that was asked about the event, and why the others were not."""
    if words and not (words.isascii() and words.isdigit() and len(words) < 4):
        chat.say("Write a number: /why is the last decision, /why 2 the one before it.", "yellow")
        return
    back = int(words or 1)
    decision = chat.record.decision(back)
    if decision is None:
        chat.say("No hook has decided anything in this session yet." if back == 1 else f"There is no decision {back}.")
        return
    tool = decision.event.read(("tool", "name"))
    about = f"{decision.event.name} {tool}" if isinstance(tool, str) else decision.event.name
    by = f"  by {decision.by}" if decision.by else ""
    changed = f"changed {', '.join(changes_of(decision))}" if changes_of(decision) else "no hook minds"
    chat.say(f"{about}: {verdict_words(decision) or changed}{by}", "bold")
    for account in decision.trace[:_MOST]:
        chat.say(f"  {'✓' if account.applied else '·'} {_account(account)}", "" if account.applied else "dim")
    if len(decision.trace) > _MOST:
        chat.say(f"  … {len(decision.trace) - _MOST} more", "dim")


def _account(account: Account) -> str:
    said = "" if account.outcome is None else _outcome(outcome_json(account.outcome))
    failed = "" if account.failure is None else f"; failed: {account.failure.text}"
    return f"{hook_words(account.hook)}{said if account.applied else ''}{failed} because {account.why}"


def _outcome(said: dict[str, object]) -> str:
    parts = [str(said["verdict"])] if said["verdict"] != "silent" else []
    changes, notes, requests = said.get("changes"), said.get("notes"), said.get("requests")
    parts += (
        [f"{path} = {shortened(str(new), 60)}" for path, new in changes.items()] if isinstance(changes, dict) else []
    )
    parts += ["a note"] if notes else []
    parts += [str(each) for each in requests] if isinstance(requests, list) else []
    return f" → {', '.join(parts)}" if parts else ""


async def _skills(chat: Chat, words: str) -> None:
    if not len(chat.runtime.skills):
        chat.say("There are no skills here. A skill is a folder with a SKILL.md in .hookline/skills.")
    for skill in chat.runtime.skills:
        chat.screen.named(f"/{skill.name}", skill.description)


async def _compact(chat: Chat, words: str) -> None:
    if not await compact(chat.session.main, Compact(keep_recent=_KEPT), "manual"):
        chat.say("The history is as short as it can be.")


async def _sessions(chat: Chat, words: str) -> None:
    head, rows = await session_table(chat.runtime)
    chat.table(head, rows) if rows else chat.say("There are no sessions of this directory yet.")


async def _resume(chat: Chat, words: str) -> None:
    await chat.resume(words)


async def _model(chat: Chat, words: str) -> None:
    model = await chat.runtime.use_model(words) if words else await chat.session.model_of(chat.session.main)
    chat.model_name = model.name
    chat.say(f"{model.name}, {model.context_limit:,} tokens")


async def _exit(chat: Chat, words: str) -> None:
    chat.leave()


COMMANDS: Final[dict[str, tuple[Command, str]]] = {
    "help": (_help, "what you can do here"),
    "hooks": (_hooks, "the hooks in force, and how often each has fired in this session"),
    "why": (_why, "every hook's part in the last decision; /why 2 the one before it"),
    "skills": (_skills, "the skills of this project; /NAME ARGUMENTS invokes one"),
    "compact": (_compact, "put a summary in the place of the history"),
    "model": (_model, "the model, or /model NAME for another one"),
    "sessions": (_sessions, "the sessions of this directory"),
    "resume": (_resume, "go on with another session, the last one or /resume ID"),
    "exit": (_exit, "end the session"),
}


def described(chat: Chat) -> list[tuple[str, str]]:
    """Everything that may follow a slash."""
    own = [(name, words) for name, (_, words) in COMMANDS.items()]
    return own + [(skill.name, shortened(skill.description, 60)) for skill in chat.runtime.skills]


async def obey(chat: Chat, line: str) -> None:
    """A command of the chat or a skill's name; of both, the chat's own."""
    name, _, words = line[1:].partition(" ")
    if name in COMMANDS:
        await COMMANDS[name][0](chat, words.strip())
        return
    skill = chat.runtime.skills.get(name)
    if skill is not None:
        await _invoke(chat, skill, words.strip())
        return
    guess = nearest(name, [known for known, _ in described(chat)])
    chat.say(f"There is no /{name}. {f'Did you mean /{guess}?' if guess else '/help shows what there is.'}", "yellow")


async def _invoke(chat: Chat, skill: Skill, words: str) -> None:
    """The skill's hooks hold before its words are said, and those pass the hooks as any prompt does."""
    invoked = chat.runtime.skills.invoke(skill.name, words, chat.session.agent.id, chat.session.id)
    if invoked.parts:
        await chat.session.add_hooks(invoked.parts)
    await chat.exchange(chat.session.say(invoked.text))
