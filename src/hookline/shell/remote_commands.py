"""Commands that run in a container or on another machine: `docker exec app ls /app`, `ssh host ls /var`.

Their files are not those of this machine. What stands before them is: keys, mounted directories, settings. A command
counts as remote only if every option before it is known, so that it is sure which word begins it.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from hookline.lazy_imports import lazy_pattern
from hookline.shell.expansion import Fields
from hookline.shell.grammar import HAS_UNKNOWN
from hookline.shell.programs import program_name


class _Options(NamedTuple):
    flags: frozenset[str]
    values: frozenset[str]  # those that take the next word


def _options(flags: str, values: str) -> _Options:
    return _Options(frozenset(flags.split()), frozenset(values.split()))


_CONTAINER_RUN: Final = _options(
    "-i -t -it -ti -d --rm --interactive --tty --detach --init --read-only --no-deps --service-ports -T --build "
    "--quiet-pull -P --publish-all",
    "-v --volume --mount -w --workdir -e --env --name -p --publish -u --user --network --net --platform --entrypoint "
    "--hostname -h --label -l --memory -m --cpus --shm-size --pull --env-file --add-host --restart --tmpfs --gpus",
)
_CONTAINER_EXEC: Final = _options(
    "-i -t -it -ti -d -T --interactive --tty --detach --no-TTY",
    "-w --workdir -e --env -u --user --env-file --index",
)
_POD_EXEC: Final = _options(
    "-i -t -it -ti --stdin --tty -q --quiet",
    "-n --namespace -c --container --context",
)
_SSH: Final = _options("-t -tt -T -q -v -A -a -4 -6 -n -x -C", "-p -l -i")
_COMPOSE: Final = _options("", "-f --file -p --project-name --profile --env-file --project-directory")
_CONTAINERS: Final = frozenset(("docker", "podman", "nerdctl"))
_COMPOSERS: Final = frozenset(("docker-compose", "podman-compose"))
_CLUSTERS: Final = frozenset(("kubectl", "oc"))
_PROGRAMS: Final = _CONTAINERS | _COMPOSERS | _CLUSTERS | {"ssh"}
_THIS_MACHINE: Final = lazy_pattern(r"(?i)(?:.*@)?(?:localhost.*|127\..*|0\.0\.0\.0|\[?::1\]?|0|ip6-.*)|ssh://.*")


def has_remote_command(words: Fields) -> bool:
    return local_words(words) != words


def local_words(words: Fields) -> Fields:
    """The words without the command that runs elsewhere; all of them if there is none, or if that is not sure."""
    name = program_name(words[0])
    if name not in _PROGRAMS:
        return words
    start, options = _subcommand(name, words)
    if options is None:
        return words
    at = _skip_options(words, start, options)
    if at is None or at >= len(words) or HAS_UNKNOWN.search(words[at]):
        return words
    if name == "ssh" and _THIS_MACHINE.fullmatch(words[at]):
        return words
    if name in _CLUSTERS:
        end = words.index("--") if "--" in words else len(words)
        between = _skip_options(words[:end], at + 1, options)
        return words[:end] if between == end else words
    return words[: at + 1]


def _subcommand(name: str, words: Fields) -> tuple[int, _Options | None]:
    """Where the options of the part that names the command begin, and which these are."""
    at = 1
    if name == "ssh":
        return at, _SSH
    if name in _CONTAINERS and words[1:2] == ("compose",):
        name, at = "docker-compose", 2
    if name in _COMPOSERS:
        found = _skip_options(words, at, _COMPOSE)
        at = len(words) if found is None else found
    elif name in _CONTAINERS and words[1:2] == ("container",):
        at = 2
    verb = words[at] if at < len(words) else ""
    if verb == "exec":
        return at + 1, _POD_EXEC if name in _CLUSTERS else _CONTAINER_EXEC
    if verb == "run" and name not in _CLUSTERS:
        return at + 1, _CONTAINER_RUN
    return at, None


def _skip_options(words: Fields, at: int, options: _Options) -> int | None:
    """The position of the first operand; None if an option is not known."""
    while at < len(words) and words[at].startswith("-"):
        option, has_value, _ = words[at].partition("=")
        if option in options.values:
            at += 1 if has_value else 2
        elif option in options.flags:
            at += 1
        else:
            return None
    return at
