"""The tools that an MCP server lists, and the arguments that it declares for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from hookline.hosts.mcp.json_rpc import CALL_PARAMS, McpToolCall, Message, get_object, name_in_other_case

_MAX_TOOLS: Final = 10_000
_MAX_CORRECT: Final = 1_000  # calls of a tool with the same names of arguments; there are few
_MAX_REMEMBERED_CHARS: Final = 1_000  # of these names
_CONTAINERS: Final = frozenset((dict, list))
_CALL_KEYS: Final = frozenset(("jsonrpc", "id", "method", "params"))
_ALTERNATIVES: Final = ("allOf", "anyOf", "oneOf")


class ListedTools:
    def __init__(self) -> None:
        self._schemas: dict[str, Mapping[str, Any]] = {}
        self._correct: set[tuple[str, ...]] = set()  # a tool and the names of arguments in which nothing was found

    def learn(self, listed: Mapping[str, Any]) -> None:
        """From a result of `tools/list`."""
        tools = listed.get("tools")
        self._correct.clear()
        for tool in tools if isinstance(tools, list) else ():
            name = tool.get("name") if isinstance(tool, dict) else None
            if isinstance(name, str) and (name in self._schemas or len(self._schemas) < _MAX_TOOLS):
                self._schemas[name] = get_object(tool, "inputSchema")

    def find_misspelling(self, call: Message) -> str | None:
        """A tool's or argument's name that differs from a listed one only in case, at any depth; None if there is none.

        A server that ignores case takes it for the listed one, and a guard on that one does not see it.
        """
        name = call.params.get("name")
        if not isinstance(name, str):
            return None
        whole = self._schemas.get(name)
        if whole is None:
            return name_in_other_case({name: None}, self._schemas.keys())
        return self._search(call.params.get("arguments"), whole) if whole else None

    def remember_correct(self, call: Message) -> None:
        """A call in which no name can be read in two ways."""
        name, arguments = call.params.get("name"), call.params.get("arguments")
        if isinstance(name, str) and isinstance(arguments, dict) and len(self._correct) < _MAX_CORRECT:
            names = (name, *arguments)
            if sum(map(len, names)) <= _MAX_REMEMBERED_CHARS:
                self._correct.add(names)

    def parse_known_call(self, message: Message) -> McpToolCall | None:
        """The call, if one with the same names was correct, as almost all are. None if it must be looked at more closely.

        One function, because a process that has slept loads each one anew.
        """
        value = message.value
        if value.keys() != _CALL_KEYS or value["method"] != "tools/call":
            return None
        id, params = value["id"], value["params"]
        if type(id) is not int and type(id) is not str:
            return None
        if type(params) is not dict or not params.keys() <= CALL_PARAMS:
            return None
        name, arguments = params.get("name"), params.get("arguments")
        if type(name) is not str or type(arguments) is not dict or (name, *arguments) not in self._correct:
            return None
        if not _CONTAINERS.isdisjoint(map(type, arguments.values())):  # there are names in it
            return None
        return McpToolCall(message, name, arguments)

    def _search(self, arguments: Any, whole: Mapping[str, Any]) -> str | None:
        todo: list[tuple[Any, list[Mapping[str, Any]]]] = [(arguments, [whole])]
        while todo:
            value, given = todo.pop()
            schemas = list(_alternatives(given, whole))
            if isinstance(value, list):
                inner = [items for each in schemas if (items := get_object(each, "items"))]
                todo += [(item, inner) for item in value if inner]
            elif isinstance(value, dict):
                properties = [get_object(each, "properties") for each in schemas]
                declared = frozenset(key for each in properties for key in each)
                misspelt = name_in_other_case(value, declared)
                if misspelt is not None:
                    return misspelt
                for key in declared & value.keys():
                    todo.append((value[key], [get_object(each, key) for each in properties if key in each]))
        return None


def _alternatives(schemas: list[Mapping[str, Any]], whole: Any) -> Iterator[Mapping[str, Any]]:
    """The schemas, with those that they refer to or choose from."""
    todo = list(schemas)
    seen = set[int]()
    while todo:
        schema = todo.pop()
        if id(schema) in seen:  # it refers to itself
            continue
        seen.add(id(schema))
        yield schema
        reference = schema.get("$ref")
        if isinstance(reference, str) and reference.startswith("#/"):
            todo.append(get_object(whole, *reference[2:].split("/")))
        for name in _ALTERNATIVES:
            choices = schema.get(name)
            todo += [each for each in choices if isinstance(each, dict)] if isinstance(choices, list) else []
