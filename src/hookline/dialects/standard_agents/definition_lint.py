"""Finds in a Python file, without running it, what the define functions and its imports would raise."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Callable, Collection, Iterator
from typing import Any, Final

import hookline
from hookline import standard_agents
from hookline.dialects.standard_agents.static_definitions import called_name, constant_argument
from hookline.formatting import closest_match
from hookline.lazy_imports import ast
from hookline.standard_agents.definitions import DefinitionError, Definitions, collecting
from hookline.standard_agents.signatures import HOOK_ARGUMENTS, HOOK_NAMES

_PACKAGE: Final = "hookline.standard_agents"
_FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    name: getattr(standard_agents, name)
    for name in ("define_hook", "define_prompt", "define_agent", "define_tool", "define_model")
}
_SIDE: Final = {"prompt": "a prompt"}
_UNKNOWN: Final = object()

Finding = tuple[int, str]
"""A line and what is wrong there."""


def lint_definitions(tree: ast.AST, modules: Collection[str]) -> Iterator[Finding]:
    """`modules` are the modules of the folder, which its files may import."""
    yield from _lint_imports(tree, modules)
    bound, imports_all = _bound_names(tree)
    statements = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    functions = {node.name: node for node in getattr(tree, "body", ()) if isinstance(node, _FUNCTION_NODES)}
    for call, function in _calls(tree):
        name = called_name(call)
        if name in functions:  # one of the file's own
            continue
        if isinstance(call.func, ast.Name) and name not in bound and not imports_all:
            yield call.lineno, f"{name} is not imported. Write from {_PACKAGE} import {name}."
        elif not _has_unpacking(call):
            yield from _lint_call(call, name)
            if name == "define_hook":
                yield from _lint_execute(call, function, functions, is_statement=id(call) in statements)


def _lint_call(call: ast.Call, name: str) -> Iterator[Finding]:
    """Calls the define function with what is written as a constant, and with something valid for the rest."""
    define = _FUNCTIONS[name]
    signature = inspect.signature(define)
    keywords = {each.arg: each.value for each in call.keywords if each.arg}
    unknown = next((each for each in keywords if each not in signature.parameters), None)
    if unknown is not None:
        guess = closest_match(unknown, signature.parameters)
        known = f"Did you mean {guess}?" if guess else f"Known: {', '.join(signature.parameters)}."
        yield call.lineno, f"{name} has no argument {unknown}. {known}"
        return
    try:
        given = signature.bind(*call.args, **keywords).arguments
    except TypeError as error:
        yield call.lineno, f"{name}: {error}."
        return
    if name == "define_hook":  # its arguments are checked where the file is read
        return
    try:
        with collecting(Definitions()):
            define(**{key: value for key, node in given.items() if (value := _value(key, node)) is not _UNKNOWN})
    except DefinitionError as error:
        yield call.lineno, str(error)


def _value(key: str, node: ast.expr) -> Any:
    """The constant, or a valid value for an argument that must be there."""
    value = _literal(node)
    if value is not _UNKNOWN:
        return value
    if key == "execute":
        return _literal
    if key in ("side_a", "side_b"):
        return _SIDE
    return "a_name" if key in ("name", "provider", "model", "description") else _UNKNOWN


def _literal(node: ast.expr) -> Any:
    """The value of a constant; of a list or dictionary, the parts that are constants."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, (ast.List, ast.Tuple)):
        return [value for each in node.elts if (value := _literal(each)) is not _UNKNOWN]
    if isinstance(node, ast.Dict):
        known = {
            key.value: _literal(value)
            for key, value in zip(node.keys, node.values, strict=True)
            if isinstance(key, ast.Constant) and isinstance(key.value, str)
        }
        if len(known) < len(node.keys):
            return _UNKNOWN
        if known.get("prompt") is _UNKNOWN:
            known |= _SIDE
        return {key: value for key, value in known.items() if value is not _UNKNOWN}
    return _UNKNOWN


def _lint_execute(
    call: ast.Call, decorated: Any, functions: dict[str, Any], *, is_statement: bool
) -> Iterator[Finding]:
    hook, id = constant_argument(call, "hook", 0), constant_argument(call, "id", 1)
    written = [each.value for each in call.keywords if each.arg == "execute"] or call.args[2:3]
    given = written[0] if written else None
    if given is None and is_statement:  # nothing is left to decorate
        yield call.lineno, f"the hook {id}: execute is missing. Decorate a function, or write execute=."
    function = functions.get(given.id) if isinstance(given, ast.Name) else given or decorated
    if hook not in HOOK_NAMES or not isinstance(function, (*_FUNCTION_NODES, ast.Lambda)):
        return
    others = len(getattr(function, "decorator_list", ())) - (function is decorated)
    if others:  # another decorator may change what it accepts
        return
    if given is not None and hook != "after_system_message" and not isinstance(function, ast.AsyncFunctionDef):
        yield call.lineno, f"the hook {id}: execute is not an async function. Write async def."
    arguments = HOOK_ARGUMENTS[hook]
    if not _accepts(function.args, len(arguments)):
        what = f"{hook} calls execute with {', '.join(arguments)}, which it does not accept."
        yield call.lineno, f"the hook {id}: {what}"


def _accepts(parameters: ast.arguments, count: int) -> bool:
    positional = len(parameters.posonlyargs) + len(parameters.args)
    if any(default is None for default in parameters.kw_defaults):
        return False
    return positional - len(parameters.defaults) <= count and (count <= positional or parameters.vararg is not None)


def _lint_imports(tree: ast.AST, modules: Collection[str]) -> Iterator[Finding]:
    """The imports at module level outside any `try` or `if`."""
    for node in getattr(tree, "body", ()):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _lint_module(node.lineno, alias.name, modules)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            missing = list(_lint_module(node.lineno, node.module, modules))
            yield from missing or _lint_names(node)


def _lint_module(line: int, module: str, modules: Collection[str]) -> Iterator[Finding]:
    head = module.partition(".")[0]
    if head in sys.stdlib_module_names or head in modules:
        return
    if not _exists(module if head == "hookline" else head):
        guess = closest_match(module, (_PACKAGE, "hookline"))
        yield line, f"there is no module {module}." + (f" Did you mean {guess}?" if guess else "")


def _exists(module: str) -> bool:
    try:
        return module in sys.modules or importlib.util.find_spec(module) is not None
    except (ImportError, ValueError, AttributeError):
        return False


def _lint_names(node: ast.ImportFrom) -> Iterator[Finding]:
    for alias in node.names:
        if node.module == "hookline" and alias.name in _FUNCTIONS and not hasattr(hookline, alias.name):
            yield node.lineno, f"hookline has no {alias.name}. Write from {_PACKAGE} import {alias.name}."
        elif node.module == _PACKAGE and alias.name != "*" and not hasattr(standard_agents, alias.name):
            guess = closest_match(alias.name, standard_agents.__all__)
            yield node.lineno, f"{_PACKAGE} has no {alias.name}." + (f" Did you mean {guess}?" if guess else "")


def _bound_names(tree: ast.AST) -> tuple[set[str], bool]:
    """The names that the file gives a value, and whether it imports every name of a module."""
    names, imports_all = set[str](), False
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {alias.asname or alias.name.partition(".")[0] for alias in node.names}
            imports_all |= any(alias.name == "*" for alias in node.names)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
        elif isinstance(node, (*_FUNCTION_NODES, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
    return names, imports_all


def _calls(tree: ast.AST) -> Iterator[tuple[ast.Call, Any]]:
    """The calls of define functions, in the order of their lines, each with the function that it decorates."""
    decorated = {
        id(each): node for node in ast.walk(tree) if isinstance(node, _FUNCTION_NODES) for each in node.decorator_list
    }
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and called_name(node) in _FUNCTIONS]
    for call in sorted(found, key=lambda call: (call.lineno, call.col_offset)):
        yield call, decorated.get(id(call))


def _has_unpacking(call: ast.Call) -> bool:
    return any(each.arg is None for each in call.keywords) or any(isinstance(each, ast.Starred) for each in call.args)


_FUNCTION_NODES: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
