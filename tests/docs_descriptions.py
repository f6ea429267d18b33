"""What the generated tables say of each word that the code knows. A word without a line here fails the tests."""

from __future__ import annotations

from typing import Final

GROUPS: Final = {
    "session-and-agent": ("session", "agent", "thread", "activation"),
    "prompt-and-turn": ("prompt", "turn"),
    "history-and-model": ("history", "model"),
    "messages": ("message",),
    "tools": ("tool", "approval"),
    "sub-agents": ("subagent",),
    "stop": ("stop",),
}
"""Group of events → what the names of its events begin with."""

CONDITIONS: Final = {
    "tool": (
        "the tool's name: text with `*`, `?`, `[…]` and `\\|`, or `/pattern/`, or a list of which one must fit",
        "tool: [write_file, edit_file]",
    ),
    "kind": ("the tool's [kind](tools.md), or a list of which one must fit", "kind: shell"),
    "input": ("fields of the tool's input, each with a test; all must hold", r"input: {path: '\.env$'}"),
    "fact": ("any fact by its path, each with a test; all must hold", "fact: {agent.name: '^reviewer$'}"),
    "prompt": ("a test of the user's text", "prompt: '(?i)deploy'"),
    "result": ("a test of the tool's result", "result: Traceback"),
    "error": ("a test of the tool's error", "error: {contains: timed out}"),
    "failed": ("whether the tool failed", "failed: true"),
    "pressure": ("how full the context is, from 0 to 1; a number means more than that", "pressure: 0.8"),
    "tokens": ("tokens in the context; a number means more than that", "tokens: {above: 50000}"),
    "tool_calls": ("tool calls of the session so far; a number means more than that", "tool_calls: 100"),
    "messages": ("how many messages there are; a number means more than that", "messages: {at_least: 40}"),
    "turn": ("the turn's number, from 0; a number means that very turn", "turn: {every: 5}"),
    "says": ("a keyword in one of the last 5 messages, in any case", "says: {keyword: deploy, last: 3}"),
    "error_code": (
        "the code of a failed model call, or a list of which one must fit",
        "error_code: [rate_limit, timeout]",
    ),
    "expr": ("arithmetic over six numbers", "expr: pressure > 0.5 and turn % 10 == 0"),
    "custom": ("conditions that a Python package registers; all must hold", ""),
    "all": ("a list of conditions that must all hold", "all: [{tool: bash}, {turn: 0}]"),
    "any": ("a list of conditions of which one must hold", "any: [{tool: bash}, {turn: 0}]"),
    "not": ("a condition that must not hold", r"not: {input: {path: '^docs/'}}"),
}

TESTS: Final = {
    "matches": ("a [pattern](patterns.md) is found in it", r"{matches: 'rm\s+-rf'}"),
    "javascript": ("a pattern as `new RegExp(…)` reads it is found in it", r"{javascript: '^rm\b'}"),
    "python": ("a pattern as Python's `re` reads it is found in it", r"{python: '\Arm\b'}"),
    "whole": ("beside a pattern: all of the text must match", "{matches: 'git (status|diff)', whole: true}"),
    "exactly": ("it is this text", "{exactly: README.md}"),
    "contains": ("this text stands in it", "{contains: --force}"),
    "begins": ("it begins with this, up to a word's end: `src` hears `src/a.py`, not `srcs`", "{begins: src}"),
    "like": ("it is this text, in which `*` stands for any text", "{like: 'feature/*'}"),
    "glob": ("it is a path of this [glob](patterns.md#globs)", "{glob: '**/*.py'}"),
    "command": (
        "it is a command that begins with these words: `git` hears `git push`, not `gitk`",
        "{command: git push}",
    ),
    "starts": (
        "it is a shell line that starts such a command somewhere (`*` stands for any text), or too long to tell",
        "{starts: 'git push *'}",
    ),
    "host": ("it is a URL of this host; `*.example.com` is the host and its subdomains", "{host: '*.example.com'}"),
    "is": ("it is this value, of whatever type", "{is: 3}"),
    "exists": ("it is there, or with `false` is not", "{exists: false}"),
    "every": ("it is a multiple of this number, and not 0", "{every: 5}"),
    "above": ("it is more than this number", "{above: 10}"),
    "at_least": ("it is this number or more", "{at_least: 10}"),
    "below": ("it is less than this number", "{below: 10}"),
    "at_most": ("it is this number or less", "{at_most: 10}"),
    "equals": ("it is this number", "{equals: 10}"),
}

ACTIONS: Final = {
    "deny": ("it does not happen; the text is the reason", "{deny: Not on a Friday.}"),
    "ask": ("somebody must be asked; the text is the reason", "{ask: This pushes to production.}"),
    "allow": ("it may happen, unless another hook denies or asks", "{allow: true}"),
    "halt": ("the agent stops", "{halt: The budget is spent.}"),
    "tell": ("words for the agent or the user", "{tell: Run the tests before you commit.}"),
    "log": ("a line in the log", "{log: '{{tool.name}} was called'}"),
    "notify": ("a notice for the people who watch", "{notify: {message: Done, level: info}}"),
    "set": ("give facts a value", "{set: {input.timeout: 60}}"),
    "remove": ("take facts away", "{remove: input.timeout}"),
    "append": ("add a line to facts", "{append: {result: Checked.}}"),
    "replace": ("replace what a pattern finds", r"{replace: {in: input.command, pattern: '\bsudo ', with: ''}}"),
    "run": ("run a program", "{run: 'ruff check -- {{input.path}}', reads: nonzero}"),
    "post": ("post the event to a URL", "{post: 'http://127.0.0.1:8080/hook', headers: {X-From: hookline}}"),
    "script": ("run JavaScript", '{script: \'if (event.tool.input.command === "ls") return {decision: "allow"}\'}'),
    "call": ("call a tool of the host", "{call: linter, with: {path: '{{input.path}}'}, tell: errors}"),
    "pipe": ("hand facts to another tool", "{pipe: {to: indexer, map: {text: '{{prompt}}'}}}"),
    "judge": ("ask the host's model", "{judge: 'Does this command delete anything? $ARGUMENTS'}"),
    "compact": ("ask the host to shorten the history after the round", "{compact: {keep_recent: 20}}"),
    "diagnose": ("have the language server look at a file that a tool wrote", "{diagnose: true}"),
    "custom": ("an action that a Python package registers", ""),
    "chain": ("several actions, one after the other", "{chain: [{log: one}, {deny: two}], stop_on_failure: true}"),
}

EVENT_OF: Final = {
    "compact": "turn.start",
    "diagnose": "tool.after",
    "append": "tool.after",
    "result": "tool.after",
    "error": "tool.after",
}
EVENT_OF |= {"failed": "tool.after", "error_code": "model.error", "prompt": "prompt.submit", "pipe": "prompt.submit"}
"""The event on which a word's example is tried, where it is not tool.before."""

OPTIONS: Final = {
    "run": {
        "stdin": ("`event`", "what the program reads: `event`, `none`, or any value with placeholders, as JSON"),
        "env": ("nothing", "variables to add; `null` takes one away"),
        "inherit_env": ("`true`", "our own environment: all of it, none (`false`), or a list of names"),
        "cwd": ("the event's `cwd`", "the directory, with placeholders"),
        "reads": ("`nonzero` where the event can be denied, else `never`", "how the program's end is read"),
        "reason": ("`{output} (exit code {exit_code})`", "the words of a deny"),
        "tell": ("nobody", "whom the stdout of a good end is for: `agent` or `user`"),
        "only_if": ("always", "a program that must end with 0 first, within 1 s"),
    },
    "post": {
        "body": ("`event`", "what is posted: `event`, or any value with placeholders, as JSON"),
        "headers": ("none", "headers; in them `$NAME` stands for a variable of the environment"),
        "variables": ("none", "the variables that the headers may name"),
        "reads": ("`json`", "how an answer with a status of 2xx is read, as if it were the stdout of exit code 0"),
        "reason": ("`{output} (exit code {exit_code})`", "as for `run`"),
        "tell": ("nobody", "whom an answer that is plain text is for: `agent` or `user`"),
    },
    "judge": {"with": ("the event", "what the model is given in the place of `$ARGUMENTS`, else after the prompt")},
    "script": {"variables": ("`{event: '{{event}}'}`", "the names that the script finds defined")},
    "call": {
        "with": ("`{}`", "the tool's input, with placeholders"),
        "literal": ("`{}`", "more input, in which nothing is a placeholder"),
        "tell": ("`never`", "when the agent is told what came back: `never`, `errors`, `always`"),
        "prefix": ("nothing", "text before what the agent is told"),
        "place": ("`context`", "where the agent reads it, as for `tell`"),
        "role": ("`user`", "of a message of its own: `user`, `assistant`, `system`"),
        "reads": ("never", "how what came back is read, as if it were the stdout of exit code 0"),
    },
    "chain": {"stop_on_failure": ("`false`", "the first failure ends the chain")},
    "tell": {
        "text": ("needed", "the words"),
        "to": ("`agent`", "`agent` or `user`"),
        "place": ("`context`", "`context`, `result`, `last_user`, `system` or `message`"),
        "role": ("`user`", "of a `message`: `user`, `assistant`, `system`"),
        "position": ("`end`", "of a `message`: `start`, `before_last`, `end`"),
    },
    "log": {"message": ("needed", "the line"), "level": ("`info`", "`debug`, `info`, `warning` or `error`")},
    "notify": {
        "message": ("needed", "the words"),
        "title": ("nothing", "a title"),
        "level": ("`info`", "`info`, `warning` or `error`"),
        "tag": ("nothing", "a word by which a host groups notices"),
    },
    "replace": {
        "in": ("needed", "the fact; in a list or mapping, every text in it"),
        "pattern": ("needed", "what to look for"),
        "with": ("needed", "what stands there instead, literally"),
    },
    "pipe": {
        "to": ("needed", "the tool"),
        "map": ("`{}`", "its input, with placeholders"),
        "extra": ("`{}`", "more input, in which nothing is a placeholder"),
    },
    "compact": {
        "strategy": ("`summarize`", "`summarize` or `truncate`"),
        "keep_recent": ("`10`", "messages that are never dropped"),
        "summary_max_tokens": ("`1024`", "how long a summary may be"),
        "summary_prompt": ("the host's", "what the model is told"),
        "target_pressure": ("none", "how far to shorten, from 0 to 1"),
    },
    "diagnose": {
        "path": ("`[path, file_path]`", "input fields, of which the first that is text is the path"),
        "content": ("`[content]`", "input fields, of which the first that is text is the content"),
        "publish": ("`true`", "tell those who watch"),
        "inject": ("`true`", "add the diagnostics to the tool's result"),
        "read_from_disk": ("`true`", "read the file if no field has its content, inside the workspace only"),
    },
}

STEP_OPTIONS: Final = {
    "on_error": ("`open`", "what this step's failure counts as"),
    "timeout": ("the hook's", "how long this step may take"),
    "ends_chain": ("`false`", "its failure always ends the chain"),
    "name": ("the action's word", "what a recorded failure calls it"),
}

READS: Final = {
    "never": ("nothing", "nothing"),
    "error": ("a failure: `on_error` counts", "nothing"),
    "nonzero": ("deny; the reason is `reason`", "nothing"),
    "exit2": ("2: deny with stderr; another: a failure", "nothing"),
    "json": ("as `exit2`", "a JSON object is the answer"),
    "claude": ("as `exit2`", "a JSON object is an answer in [Claude Code's words](dialects/claude_code.md#answers)"),
}

ON_ERROR: Final = {
    "open": "nothing: the event proceeds",
    "closed": "a deny, with the failure's words as the reason",
    "ask": "a question, with the failure's words as the reason",
    "stop": "no later hook of the same `group` is asked",
    "tell": "the failure's words are a note for the agent",
    "tell_user": "the failure's words are a note for the user",
}

FAILURES: Final = {
    "timeout": "it did not answer in time",
    "cannot_start": "the program could not be started",
    "signal": "the program was killed by a signal",
    "exit": "the program's exit code is one that its hook counts as an error",
    "unreadable_answer": "its answer cannot be read",
    "raised": "it raised an error, or the tool that it called failed",
    "not_accepted": "it answered what the event does not take",
    "not_trusted": "it came with a project and the user has not accepted it",
    "unavailable": "the host has no such tool, model or person",
}

HOOK_KEYS: Final = {
    "id": ("`<file>:<event>[<index>]`", "its name in reasons, the log and `by`"),
    "on": ("needed", "an [event](../events.md), or a list of them; any dialect's name counts"),
    "when": ("always", "its [condition](../conditions.md)"),
    "then": ("needed", "its [action](../actions.md), or a list of them as a chain"),
    "timeout": ("`30s`", "how long the action may take; a number and `ms`, `s`, `m` or `h`, at most `24h`"),
    "on_error": ("`open`, or `closed` for a waiting action that may deny or ask", "what a failure counts as"),
    "order": ("`0`", "lower is asked first; equal ones as loaded"),
    "enabled": ("`true`", "`false` switches it off"),
    "tags": ("none", "words for `hookline list` and your own tools"),
    "scope": ("everywhere", "`{agent: …, prompt: …, session: …}`: only for that agent's id or name, prompt, session"),
    "cooldown": ("none", "how long it is held back after it fired, in a session"),
    "cooldown_turns": ("none", "how many turns it is held back after it fired"),
    "max_fires": ("no limit", "how often it may fire in a session"),
    "background": ("`false`", "`true`: it is started and nobody waits, so its answer cannot count"),
    "group": ("`native`", "hooks that an `on_error: stop` ends together"),
    "names": ("`native`", "whose names for tools and fields its texts and programs are told"),
}

FILE_KEYS: Final = {
    "version": "`1`, if written; another number is a problem",
    "hooks": "the list of hooks",
    "agent": "the agent that `hookline run` talks to; hooks do not look at it",
    "agents": "several, as a list with ids or as a mapping by id; the first one is talked to",
    "model": "the model of every agent that names none: `provider:model`, or a name of `models`",
    "models": "models by names of your own",
    "mcp": "MCP servers by name",
    "lsp": "language servers by name",
    "triggers": "what starts a turn: a time, changed files, a request",
    "skills": "folders that hold skills, beside `.hookline/skills`",
    "store": "where sessions are kept, as a URL",
    "private_hosts": "hosts that `fetch` may reach though they are not public",
    "standard_agents": "the folder with a project's standard_agents definitions",
}

SHAPES: Final = {
    "json": ("its JSON, also where it is text", "{{result | json}}"),
    "text": ("absent unless it is text", "{{input.path | text}}"),
    "message": ('text as `{"success": true, "message": text}`; else as it is', "{{result | message}}"),
    "utc": ("a moment as `2025-12-31T10:30:00Z`; now, where it is absent", "{{time | utc}}"),
    "count": ("how many there are in a list or mapping; a number is itself", "{{messages | count}}"),
    "or_empty": ("empty text where it is absent", "{{input.note | or_empty}}"),
    "answer": ("a tool as what it answered: `{content}`, with `is_error` after a failure", "{{tool | answer}}"),
    "content": ("what a tool answered, or the error that it ended with", "{{tool | content}}"),
}

CASE_KEYS: Final = {
    "note": "what the case shows, in words",
    "dialect": "how the config is read; native without it",
    "config": "the hooks file, as a mapping or as text",
    "file": "the hooks file, by a path from the case file",
    "files": "path → text: files in the case's own directory. Without `config` and `file`, the hooks files among them are found there as in a project",
    "event": "`{name: …}` and beside it the facts; or only the name",
    "steps": "several events in one session, instead of `event`",
    "tools": "name → `{content: …}` or `{error: …}`: the tools that hooks can call, and their answers",
    "env": "variables that programs see",
    "model": "what the model answers, a text or a list in order",
    "trusted": "`false`: the user has not accepted the project's `files`",
    "expect": "what must come of it",
}

CASE_STEP_KEYS: Final = {
    "event": "as above",
    "expect": "as below, without `problems`",
    "advance": "how long before this step, such as `10s`: the clock stands still otherwise",
}

EXPECT_KEYS: Final = {
    "verdict": "`silent`, `allow`, `ask` or `deny`",
    "reason": "the very text",
    "reason_contains": "a text or several, each of them in the reason",
    "by": "the hook whose voice counts, or `null`",
    "halt": "`true` or `false`",
    "facts": "facts as the hooks left them; of a mapping, only the keys that are written",
    "removed": "paths of facts that are gone",
    "notes": "all notes in order: `{for, text, place, role, position}`, as much of each as you write; `0` for none",
    "notes_contain": "texts, each of them in some note",
    "requests": "all requests to compact, in order, with their options; `0` for none",
    "asked": "the hooks that were asked, in order",
    "asked_again": "the hooks that were asked once more after a change",
    "not_asked": "hooks that were not asked",
    "failures": "all failures in order: `{hook, kind, text}`; `0` for none",
    "problems": "problems of the config: `{code, line, contains, severity, file}`; an error that is not named fails the case",
    "called": "all tool calls that hooks made: `{tool, input}`; `0` for none",
    "published": "all notices: `{channel, message, title, level, tag, hook, data}`; `0` for none",
    "log_contains": "texts, each of them in a line of the log",
    "files": "path → text: what the files in the case's directory hold afterwards",
    "no_files": "paths that do not exist afterwards",
}

FORMATS: Final = {
    "native": "`on` / `when` / `then`, in YAML: everything the others can say",
    "flo": "regex matcher and `inputMatchers`, actions, scripts and shell commands, priorities, in JSON",
    "standard_agents": "twelve typed hooks over threads and messages, in Python",
    "microai": "`settings.json` with `Bash(git:*)` matchers, environment variables, conditions",
    "ai_agents": "three settings files, the event on stdin, exit codes, JSON answers",
    "claude_code": "the hooks of Claude Code's settings and plugins, for every other agent",
    "digitorn": "YAML with events, conditions, actions, templates, cooldowns",
}
