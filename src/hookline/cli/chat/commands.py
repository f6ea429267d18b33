"""The slash commands of the chat."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final

from hookline.cli.chat.render import format_hook, format_verdict, shorten_line
from hookline.cli.chat.start import session_table
from hookline.engine.decision import TraceEntry, outcome_json
from hookline.formatting import closest_match
from hookline.hooks.outcome import Compact
from hookline.runtime.compaction import compact
from hookline.runtime.skills import Skill
from hookline.runtime.update_json import changed_facts

if TYPE_CHECKING:
    from hookline.cli.chat.chat import Chat

SlashCommand = Callable[["Chat", str], Awaitable[None]]

_MAX_TRACE: Final = 60  # hooks shown by /why
_KEEP_RECENT: Final = 2  # messages that /compact keeps


async def _show_help(chat: Chat, words: str) -> None:
    for name, said in list_commands(chat):
        chat.screen.show_named(f"/{name}", said)
    chat.say("  Enter sends, Alt-Enter starts a new line, Ctrl-C cancels the running work, Ctrl-D leaves.", "dim")


async def _show_hooks(chat: Chat, words: str) -> None:
    hooks = chat.session.book.hooks
    if not hooks:
        chat.say("No active hooks. `hookline init` writes two.")
        return
    rows = []
    for hook in hooks:
        counted, _ = chat.session.counts.fires(hook, chat.session.id)
        state = str(max(chat.record.fire_count(hook), counted)) if hook.enabled else "off"
        rows.append((state, hook.id, hook.event, f"{hook.origin.file}:{hook.origin.line}", hook.origin.dialect))
    chat.table(("fired", "hook", "event", "where", "dialect"), rows)


async def _explain_decision(chat: Chat, words: str) -> None:
    """Shows every hook that ran for the event, and why the others did not."""
    if words and not (words.isascii() and words.isdigit() and len(words) < 4):
        chat.say("Give a number: /why shows the last decision, /why 2 the one before it.", "yellow")
        return
    back = int(words or 1)
    decision = chat.record.decision(back)
    if decision is None:
        chat.say("No hook has decided anything in this session yet." if back == 1 else f"There is no decision {back}.")
        return
    tool = decision.event.read(("tool", "name"))
    about = f"{decision.event.name} {tool}" if isinstance(tool, str) else decision.event.name
    by = f"  by {decision.by}" if decision.by else ""
    changed = f"changed {', '.join(changed_facts(decision))}" if changed_facts(decision) else "no hook decided"
    chat.say(f"{about}: {format_verdict(decision) or changed}{by}", "bold")
    for account in decision.trace[:_MAX_TRACE]:
        chat.say(f"  {'✓' if account.applied else '·'} {_format_account(account)}", "" if account.applied else "dim")
    if len(decision.trace) > _MAX_TRACE:
        chat.say(f"  … {len(decision.trace) - _MAX_TRACE} more", "dim")


def _format_account(account: TraceEntry) -> str:
    said = "" if account.outcome is None else _format_outcome(outcome_json(account.outcome))
    failed = "" if account.failure is None else f"; failed: {account.failure.text}"
    return f"{format_hook(account.hook)}{said if account.applied else ''}{failed} because {account.why}"


def _format_outcome(said: dict[str, object]) -> str:
    parts = [str(said["verdict"])] if said["verdict"] != "silent" else []
    changes, notes, requests = said.get("changes"), said.get("notes"), said.get("requests")
    parts += (
        [f"{path} = {shorten_line(str(new), 60)}" for path, new in changes.items()] if isinstance(changes, dict) else []
    )
    parts += ["a note"] if notes else []
    parts += [str(each) for each in requests] if isinstance(requests, list) else []
    return f" → {', '.join(parts)}" if parts else ""


async def _show_skills(chat: Chat, words: str) -> None:
    if not len(chat.runtime.skills):
        chat.say("No skills here. A skill is a folder with a SKILL.md in .hookline/skills.")
    for skill in chat.runtime.skills:
        chat.screen.show_named(f"/{skill.name}", skill.description)


async def _compact_history(chat: Chat, words: str) -> None:
    if not await compact(chat.session.main, Compact(keep_recent=_KEEP_RECENT), "manual"):
        chat.say("The history is already as short as it can be.")


async def _show_sessions(chat: Chat, words: str) -> None:
    head, rows = await session_table(chat.runtime)
    chat.table(head, rows) if rows else chat.say("No sessions in this directory yet.")


async def _resume_session(chat: Chat, words: str) -> None:
    await chat.resume(words)


async def _use_model(chat: Chat, words: str) -> None:
    model = await chat.runtime.use_model(words) if words else await chat.session.model_of(chat.session.main)
    chat.model_name = model.name
    chat.say(f"{model.name}, {model.context_limit:,} tokens")


async def _leave_chat(chat: Chat, words: str) -> None:
    chat.leave()


COMMANDS: Final[dict[str, tuple[SlashCommand, str]]] = {
    "help": (_show_help, "list the commands"),
    "hooks": (_show_hooks, "list the active hooks and how often each has fired in this session"),
    "why": (_explain_decision, "explain the last decision hook by hook; /why 2 the one before it"),
    "skills": (_show_skills, "list the skills of this project; /NAME ARGUMENTS invokes one"),
    "compact": (_compact_history, "replace the history with a summary"),
    "model": (_use_model, "show the model; /model NAME switches to another one"),
    "sessions": (_show_sessions, "list the sessions of this directory"),
    "resume": (_resume_session, "resume the last session; /resume ID another one"),
    "exit": (_leave_chat, "end the session"),
}


def list_commands(chat: Chat) -> list[tuple[str, str]]:
    """The commands and skills that can follow a slash, each with a short description."""
    own = [(name, words) for name, (_, words) in COMMANDS.items()]
    return own + [(skill.name, shorten_line(skill.description, 60)) for skill in chat.runtime.skills]


async def run_command(chat: Chat, line: str) -> None:
    """Runs a command or a skill. A command wins over a skill of the same name."""
    name, _, words = line[1:].partition(" ")
    if name in COMMANDS:
        await COMMANDS[name][0](chat, words.strip())
        return
    skill = chat.runtime.skills.get(name)
    if skill is not None:
        await _invoke_skill(chat, skill, words.strip())
        return
    guess = closest_match(name, [known for known, _ in list_commands(chat)])
    chat.say(
        f"Unknown command /{name}. {f'Did you mean /{guess}?' if guess else '/help lists the commands.'}", "yellow"
    )


async def _invoke_skill(chat: Chat, skill: Skill, words: str) -> None:
    """The skill's hooks are active before its text is sent, and the text passes the hooks as any prompt does."""
    invoked = chat.runtime.skills.invoke(skill.name, words, chat.session.agent.id, chat.session.id)
    if invoked.parts:
        await chat.session.add_hooks(invoked.parts)
    await chat.run_exchange(chat.session.say(invoked.text))
