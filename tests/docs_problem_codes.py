"""The codes of all problems that a config file can have, read from the places in the code that make problems."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import hookline

ROOT = Path(hookline.__file__).parent
_ELSEWHERE = ("testing/", "runtime/models/", "patterns/")  # case files and scripts of models; patterns have no codes
_MAKERS = (
    "Problem",
    "add_problem",
    "fail",
    "hook_problem",
    "_problem_at",
    "_folder_problem",
    "_SpecialFileError",
    "problem",
)


def problem_codes() -> list[str]:
    files = [file for file in ROOT.rglob("*.py") if not file.relative_to(ROOT).as_posix().startswith(_ELSEWHERE)]
    return sorted({code for file in files for code in _codes_in(ast.parse(file.read_text(encoding="utf-8")))})


def _codes_in(tree: ast.Module) -> Iterator[str]:
    constants = {
        node.target.id: node.value
        for node in tree.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args and _name_of(node.func) in _MAKERS:
            code = node.args[0]
            code = constants.get(code.id) or code if isinstance(code, ast.Name) else code
            yield from (part.value for part in _branches(code) if isinstance(part, ast.Constant))


def _branches(code: ast.expr) -> list[ast.expr]:
    return [*_branches(code.body), *_branches(code.orelse)] if isinstance(code, ast.IfExp) else [code]


def _name_of(function: ast.expr) -> str:
    match function:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""
