"""What the generated tables say about words that are declared without a description.

A word that is missing here fails the tests. The keys of the native format describe themselves.
"""

from __future__ import annotations

from typing import Final

GROUPS: Final = {
    "session-and-agent": ("session", "agent", "thread", "activation"),
    "prompt-and-turn": ("prompt", "turn"),
    "history-and-model": ("history", "model"),
    "messages": ("message",),
    "tools": ("tool", "approval", "notification"),
    "sub-agents": ("subagent",),
    "stop": ("stop",),
}
"""Group of events → the first words of the names of its events."""

READS: Final = {
    "never": ("126 or 127, a command that cannot be found: a failure; another: nothing", "nothing"),
    "error": ("a failure: `on_error` applies", "nothing"),
    "nonzero": ("deny, with `reason`", "nothing"),
    "exit2": ("2: deny, and stderr is the reason; another: a failure", "nothing"),
    "json": ("as `exit2`", "a JSON object is the answer"),
    "claude": ("as `exit2`", "a JSON object is the answer, in [Claude Code's format](dialects/claude_code.md#answers)"),
}

ON_ERROR: Final = {
    "open": "nothing: the event proceeds",
    "closed": "a deny, with the failure as the reason",
    "ask": "an ask, with the failure as the reason",
    "stop": "no later hook of the same `group` runs",
    "tell": "a note for the agent that tells the failure",
    "tell_user": "a note for the user that tells the failure",
}

FAILURES: Final = {
    "timeout": "it did not finish in time",
    "cannot_start": "the program could not be started",
    "signal": "the program was killed by a signal",
    "exit": "the program's exit code counts as an error",
    "unreadable_answer": "its answer cannot be read",
    "raised": "it raised an error, or the tool that it called failed",
    "not_accepted": "the event does not accept its answer",
    "not_trusted": "it belongs to a project that the user has not trusted",
    "unavailable": "the host has no such tool, model or person",
}

SHAPES: Final = {
    "json": ("its JSON, also for text", "{{result | json}}"),
    "text": ("absent unless it is text", "{{input.path | text}}"),
    "message": ('text as `{"success": true, "message": text}`; anything else stays as it is', "{{result | message}}"),
    "utc": ("a time as `2025-12-31T10:30:00Z`; now, if it is absent", "{{time | utc}}"),
    "count": ("the length of a list or mapping; a number stays a number", "{{messages | count}}"),
    "or_empty": ("empty text if it is absent", "{{input.note | or_empty}}"),
    "answer": ("a tool's result as `{content}`, with `is_error` after a failure", "{{tool | answer}}"),
    "content": ("a tool's result, or its error", "{{tool | content}}"),
    "output": ('a tool\'s result as JSON; after a failure `{"error": …}`', "{{tool | output}}"),
}

CASE_KEYS: Final = {
    "note": "what the case shows",
    "dialect": "the dialect of the config; `native` by default",
    "config": "the hooks file, as a mapping or as text",
    "file": "the path of the hooks file, relative to the case file",
    "files": "path → text: files in the case's own directory. Without `config` and `file`, the hooks files among them are loaded as in a project",
    "event": "`{name: …}` with the facts beside it, or only the name",
    "steps": "several events in one session, instead of `event`",
    "tools": "name → `{content: …}` or `{error: …}`: the tools that hooks can call, and their results",
    "env": "environment variables of the programs",
    "model": "the model's answers: a text, or a list in order",
    "trusted": "`false`: the user has not trusted the project's `files`",
    "expect": "what must happen",
}

CASE_STEP_KEYS: Final = {
    "event": "as above",
    "expect": "as below, without `problems`",
    "advance": "how much time passes before this step, such as `10s`; otherwise the clock does not move",
}

EXPECT_KEYS: Final = {
    "verdict": "`silent`, `allow`, `ask` or `deny`",
    "reason": "the exact text",
    "reason_contains": "a text or a list of texts that the reason contains",
    "by": "the hook that decided, or `null`",
    "halt": "`true` or `false`",
    "facts": "facts after all hooks; of a mapping, only the keys that you write",
    "removed": "paths of facts that were removed",
    "notes": "all notes in order: `{for, text, place, role, position}`, of which you write the keys that matter; `0` for none",
    "notes_contain": "texts, each of which some note contains",
    "requests": "all requests to compact, in order, with their options; `0` for none",
    "asked": "the hooks that ran, in order",
    "asked_again": "the hooks that ran again after a change",
    "not_asked": "hooks that did not run",
    "failures": "all failures in order: `{hook, kind, text}`; `0` for none",
    "problems": "problems of the config: `{code, line, contains, severity, file}`; an error that you do not list fails the case",
    "called": "all tool calls that hooks made: `{tool, input}`; `0` for none",
    "published": "all notifications: `{channel, message, title, level, tag, hook, data}`; `0` for none",
    "log_contains": "texts, each of which a line of the log contains",
    "files": "path → text: the files in the case's directory afterwards",
    "no_files": "paths that do not exist afterwards",
}

FORMATS: Final = {
    "native": "`on` / `when` / `then`, in YAML: everything that the other formats can express",
    "flo": "regex matcher and `inputMatchers`, actions, scripts and shell commands, priorities, in JSON",
    "standard_agents": "twelve typed hooks over threads and messages, in Python",
    "microai": "`settings.json` with `Bash(git:*)` matchers, environment variables, conditions",
    "ai_agents": "three settings files, the event on stdin, exit codes, JSON answers",
    "claude_code": "the hooks of Claude Code's settings and plugins, for every other agent",
    "digitorn": "YAML with events, conditions, actions, templates, cooldowns",
}
