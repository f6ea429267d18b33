import json
import subprocess
import sys

import pytest

import hookline
import hookline.hooks


def run_in_new_process(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout


def test_every_public_name_can_be_imported() -> None:
    for name in hookline.__all__:
        assert getattr(hookline, name) is not None
        assert name in dir(hookline)


def test_every_public_name_of_hooks_can_be_imported() -> None:
    for name in hookline.hooks.__all__:
        assert getattr(hookline.hooks, name) is not None
        assert name in dir(hookline.hooks)
    with pytest.raises(AttributeError, match="Evnt"):
        hookline.hooks.Evnt  # noqa: B018


def test_the_deprecated_name_of_no_host_still_works() -> None:
    assert hookline.NOBODY is hookline.NO_HOST


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="lod"):
        hookline.lod  # noqa: B018


def test_importing_hookline_imports_nothing_else() -> None:
    code = (
        "import sys, json; before = set(sys.modules); import hookline; "
        "print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    loaded = json.loads(run_in_new_process(code))
    outside = {name.partition(".")[0] for name in loaded} - set(sys.stdlib_module_names) - {"hookline"}
    assert outside == set()
    assert [name for name in loaded if name.startswith("hookline.")] == []


def test_event_types_import_no_library() -> None:
    code = (
        "import sys; from hookline import Event, Outcome, Verdict, Hook, NO_HOST, HooklineError; "
        "print(sorted({'re2', 'regex', 'yaml', 'pydantic', 'click', 'watchfiles'} & set(sys.modules)))"
    )
    assert run_in_new_process(code).strip() == "[]"


def test_deciding_from_python_as_documented() -> None:
    code = (
        "from hookline import load, Event\n"
        "import tempfile, pathlib\n"
        "path = pathlib.Path(tempfile.mkdtemp()) / 'hookline.yaml'\n"
        "path.write_text('hooks: [{id: no, on: tool.before, when: {tool: bash}, then: {deny: never}}]')\n"
        "decision = load(path).decide_now(Event('tool.before', {'tool': {'name': 'bash', 'input': {}}}))\n"
        "print(decision.verdict.word, decision.reason, decision.by)\n"
    )
    assert run_in_new_process(code).split() == ["deny", "never", "no"]


def test_version_is_the_package_version() -> None:
    assert hookline.__version__.split(".")[0].isdigit()
