"""Reads what Python files define without running them, as far as it is written with constants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from hookline.errors import UnavailableError
from hookline.lazy_imports import ast
from hookline.standard_agents.definitions import (
    AgentDefinition,
    DefinitionError,
    Definitions,
    HookDefinition,
    PromptDefinition,
    SourceLocation,
)
from hookline.standard_agents.signatures import HOOK_NAMES

_ConstantLists: TypeAlias = Mapping[str, tuple[str, ...]]


class StaticDefinitions:
    """The hooks, prompts and agents of one folder. What cannot be read is left out."""

    def __init__(self) -> None:
        self.definitions = Definitions()
        self.knows_all_hooks = True  # False: some ids are not constants
        self.knows_all_lists = True

    def add_file(self, file: Path, tree: ast.Module) -> None:
        if _passes_on(tree, "define_hook"):
            self.knows_all_hooks = False
        constants, functions = _constant_lists(tree), _decorated_functions(tree)
        for call, name in _define_calls(tree):
            place = SourceLocation(str(file), call.lineno)
            try:
                if name == "define_hook":
                    self._add_hook(call, functions, place)
                else:
                    self._add_owner(call, name, place, constants)
            except DefinitionError:  # the check of the file reports it
                continue

    def _add_hook(self, call: ast.Call, functions: Mapping[ast.Call, str], place: SourceLocation) -> None:
        hook, id = constant_argument(call, "hook", 0), constant_argument(call, "id", 1)
        if not isinstance(id, str):
            self.knows_all_hooks = False
        elif hook in HOOK_NAMES:
            execute = _FunctionName(functions.get(call) or _named_function(call) or id)
            self.definitions.add(HookDefinition(str(hook), id, execute, place))
        elif hook is None:
            self.knows_all_hooks = False

    def _add_owner(self, call: ast.Call, function: str, place: SourceLocation, constants: _ConstantLists) -> None:
        name, hooks = constant_argument(call, "name", None), _find_argument(call, "hooks")
        ids = None if hooks is None or _is_none(hooks) else _constant_texts(hooks, constants)
        if (
            not isinstance(name, str)
            or (hooks is not None and not _is_none(hooks) and ids is None)
            or _has_unpacking(call)
        ):
            self.knows_all_lists = False
            return
        make = PromptDefinition if function == "define_prompt" else AgentDefinition
        self.definitions.add(make(name=name, hooks=ids, place=place))


def parse_source(source: bytes, file: Path) -> ast.Module:
    """The file's syntax tree, with the define functions under their own names: `from … import define_hook as hook`."""
    tree = ast.parse(source, str(file))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    names = {alias.asname: alias.name for node in imports for alias in node.names if alias.asname}
    aliases = {alias: name for alias, name in names.items() if name.startswith("define_")}
    for node in ast.walk(tree) if aliases else ():
        if isinstance(node, ast.Name) and node.id in aliases:
            node.id = aliases[node.id]
        elif isinstance(node, ast.alias) and node.asname in aliases:
            node.asname = None
    return tree


def _passes_on(tree: ast.AST, name: str) -> bool:
    """Whether the function is used other than by calling it, so that something else may call it."""
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    used = (node for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
    return any(node.id == name and id(node) not in called for node in used)


def constant_argument(call: ast.Call, name: str, position: int | None) -> object:
    """None if it is not a constant, or not given."""
    given = _find_argument(call, name)
    if given is None and position is not None and len(call.args) > position:
        given = call.args[position]
    return given.value if isinstance(given, ast.Constant) else None


def called_name(call: ast.Call) -> str:
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _define_calls(tree: ast.AST) -> Iterator[tuple[ast.Call, str]]:
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    for call in sorted(calls, key=lambda call: (call.lineno, call.col_offset)):
        if (name := called_name(call)) in ("define_hook", "define_prompt", "define_agent"):
            yield call, name


def _find_argument(call: ast.Call, name: str) -> ast.expr | None:
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)


def _has_unpacking(call: ast.Call) -> bool:
    return any(keyword.arg is None for keyword in call.keywords)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _constant_lists(tree: ast.Module) -> _ConstantLists:
    """Lists of texts with a name that the file assigns once and only hands on: `HOOKS = ["a", "b"]`."""
    assigned = [
        (target.id, node.value)
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    ]
    safe = [keyword for call, _ in _define_calls(tree) for keyword in call.keywords]
    joined = [value for _, value in assigned if not isinstance(value, ast.Name)]  # a second name could change the list
    handed_on = {id(node) for part in (*safe, *joined) for node in ast.walk(part)}
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    uses = Counter(node.id for node in names if id(node) not in handed_on)  # one is the assignment
    found: dict[str, tuple[str, ...]] = {}
    for name, value in assigned:
        texts = _constant_texts(value, found)
        if texts is not None and uses[name] == 1:
            found[name] = texts
    return found


def _constant_texts(node: ast.expr, lists: _ConstantLists) -> tuple[str, ...] | None:
    match node:
        case ast.Name(name):
            return lists.get(name)
        case ast.BinOp(left, ast.Add(), right):
            parts = [_constant_texts(part, lists) for part in (left, right)]
        case ast.List(elements) | ast.Tuple(elements):
            parts = [_element_texts(element, lists) for element in elements]
        case _:
            return None
    return None if None in parts else tuple(text for part in parts for text in part or ())


def _element_texts(node: ast.expr, lists: _ConstantLists) -> tuple[str, ...] | None:
    match node:
        case ast.Constant(str() as text):
            return (text,)
        case ast.Starred(value):
            return _constant_texts(value, lists)
    return None


def _decorated_functions(tree: ast.AST) -> dict[ast.Call, str]:
    """The names of the functions that stand below a call: `@define_hook(…)`."""
    functions = [node for node in ast.walk(tree) if isinstance(node, (ast.AsyncFunctionDef, ast.FunctionDef))]
    return {call: node.name for node in functions for call in node.decorator_list if isinstance(call, ast.Call)}


def _named_function(call: ast.Call) -> str:
    execute = _find_argument(call, "execute") or (call.args[2] if len(call.args) > 2 else None)
    return ast.unparse(execute) if isinstance(execute, (ast.Name, ast.Attribute)) else ""


class _FunctionName:
    """Stands for a function of a file that is not imported. Its name is shown where the hook is."""

    def __init__(self, name: str) -> None:
        self.__qualname__ = name

    def __call__(self, *arguments: Any) -> Any:
        raise UnavailableError("its Python file is not imported here")
