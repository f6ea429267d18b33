"""The kind of a tool that no table knows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.hooks.kind_guess import (
    code_signal,
    guess_kind,
    is_command_name,
    is_path_name,
    known_fields,
    signal_fields,
    words_of,
)
from hookline.hooks.tool_name import guessed_kind


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("run_terminal_cmd", ("run", "terminal", "cmd")),
        ("localShell", ("local", "shell")),
        ("launch-process", ("launch", "process")),
        ("shell.run", ("shell", "run")),
        ("HTTPGet", ("http", "get")),
        ("BASH", ("bash",)),
        ("exec2", ("exec", "2")),
        ("", ()),
    ],
)
def test_the_words_of_a_name_in_any_style(name: str, words: tuple[str, ...]) -> None:
    assert words_of(name) == words


@pytest.mark.parametrize(
    "name",
    [
        "run_terminal_cmd", "run_terminal_command", "runTerminalCommand", "run_in_terminal", "execute_command", "shell_exec",
        "localShell", "local_shell", "powershell", "terminal", "exec", "Execute", "execute", "run_command", "runCommand",
        "run_commands", "command", "my_bash", "BASH", "zsh", "write_bash", "bash_tool", "shell_command", "cmd", "run",
        "execute_bash_command", "start_process", "run_script", "execute_program", "sh", "send_keys", "tmux_send", "write_stdin", "pty_write", "write_to_process", "interact_with_process", "console_exec",
        "container.exec", "unified_exec", "ssh_execute", "sandbox_exec",
        "execute_code", "run_code",
    ],
)  # fmt: skip
def test_a_shell_by_its_name(name: str) -> None:
    guess = guess_kind(name)
    assert guess is not None
    assert guess.kind == "shell"
    assert guess.why.startswith("its name")


@pytest.mark.parametrize(
    ("name", "fields", "kind"),
    [
        ("launch-process", ("command",), "shell"),
        ("process", ("commands",), "shell"),
        ("x", ("cmd",), "shell"),
        ("background_process", ("command",), "shell"),
        ("get_command_help", ("command",), "shell"),  # too much rather than too little
        ("fs_write", ("command", "path"), "write"),
        ("str_replace_editor", ("command", "path"), "edit"),
        ("str_replace_editor", (), "edit"),
        ("str_replace_based_edit_tool", ("command", "path"), "edit"),
        ("search_replace", ("file_path", "old_string"), "edit"),
        ("replace_in_file", (), "edit"),
        ("replace_string_in_file", ("filePath",), "edit"),
        ("apply_diff", ("path", "diff"), "edit"),
        ("edit", (), "edit"),
        ("multi_edit", (), "edit"),
        ("apply_edits", (), "edit"),
        ("batch_write", (), "write"),
        ("bulk_edit", (), "edit"),
        ("insert_edit_into_file", ("filePath",), "edit"),
        ("write", ("file_path", "content"), "write"),
        ("write_to_file", (), "write"),
        ("create_file", (), "write"),
        ("Create", ("file_path", "content"), "write"),
        ("save-file", (), "write"),
        ("saveFile", (), "write"),
        ("delete_file", (), "write"),
        ("remove-files", (), "write"),
        ("x", ("path", "content"), "write"),
        ("x", ("path", "old_str"), "edit"),
        ("view", (), "read"),
        ("read_text_file", ("path",), "read"),
        ("open_file", ("path",), "read"),
        ("list_dir", ("target_directory",), "list"),
        ("list_dir", (), "list"),
        ("search_files", ("path",), "grep"),
        ("web_search", (), "search"),
        ("fetch_url", ("url",), "fetch"),
        ("browser_navigate", ("url",), "fetch"),
        ("spawn_subagent", (), "agent"),
    ],
)
def test_a_kind_by_name_and_fields(name: str, fields: tuple[str, ...], kind: str) -> None:
    guess = guess_kind(name, fields)
    assert guess is not None
    assert guess.kind == kind


@pytest.mark.parametrize(
    "name",
    [
        "TodoWrite", "write_memory", "create_issue", "edit_message", "update_page", "send_message", "get_command_help",
        "BashOutput", "KillShell", "read_terminal", "get_terminal_output", "list_shells", "execute_query", "run_tests", "session_run", "exec_sql",
        "read_email", "save_note", "remove_label", "search_issues", "think", "bashful", "exclamation", "list_issues", "get",
        "create", "open", "show", "find", "read_thread_terminal", "describe_process", "agent_status", "batch_create_issues", "bulk_send", "",
    ],
)  # fmt: skip
def test_a_harmless_name_says_nothing(name: str) -> None:
    assert guess_kind(name) is None


def test_a_servers_word_adds_a_kind_but_takes_none_away() -> None:
    def kind(name: str, fields: tuple[str, ...], **said: bool) -> str | None:
        guess = guess_kind(name, fields, **said)
        return None if guess is None else str(guess.kind)

    assert kind("stat", ("path",)) is None
    assert kind("stat", ("path",), reads_only=True) == "read"
    assert kind("wipe", ("path",), destroys=True) == "write"
    assert kind("write_file", ("path", "content"), reads_only=True) == "write"
    assert kind("shell", (), reads_only=True) == "shell"


def test_the_language_of_code_says_whether_it_is_a_shells() -> None:
    shell = guess_kind("snippet", (code_signal({"language": "Bash"}) or "",))
    assert shell is not None
    assert (shell.kind, shell.why) == ("shell", "the language of its code")
    assert guess_kind("execute_code", (code_signal({"language": "python"}) or "",)) is None
    assert code_signal({"code": "x", "language": 3}) is None


@pytest.mark.parametrize(
    "name", ["browser_send_keys", "send_message", "type_text", "press_element_keys", "review_code"]
)
def test_a_tool_that_types_elsewhere_is_no_shell(name: str) -> None:
    assert guess_kind(name) is None


@given(
    st.lists(
        st.sampled_from([*"xA_-.1", "path", "In", "file", "Name", "cmd", "script", "BASH", "dest", "ſrc", "ﬁle", "to"])
    )
)
def test_no_field_that_a_guess_depends_on_is_overlooked(parts: list[str]) -> None:
    name = "".join(parts)
    assert bool(signal_fields([name])) is (is_path_name(name) or is_command_name(name) or bool(known_fields([name])))


@pytest.mark.parametrize("space", ["", " ", "\n\t"])
def test_calls_in_json_text_are_seen_with_space_before_them(space: str) -> None:
    guess = guessed_kind({"name": "act", "input": {"arguments": space + '{"command": "ls"}'}})
    assert guess is not None
    assert guess.kind == "shell"
