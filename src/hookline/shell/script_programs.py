"""Programs under another name: `python -m twine`, `php artisan`, `sh ./gradlew`, `k get pods`, `scripts/deploy-web.sh`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hookline.lazy_imports import lazy_pattern
from hookline.shell.git_settings import COMMANDS
from hookline.shell.programs import SHELLS

MODULE_PROGRAMS: Final[dict[str, str]] = {
    **{
        name: name
        for name in (
            *("twine", "alembic", "flask", "poetry", "flit", "hatch", "pdm", "uv", "pip", "pipx", "maturin", "aerich"),
            *("piccolo", "yoyo", "dbt", "zappa", "chalice", "mkdocs", "ansible", "invoke", "celery", "hookline"),
            *("awscli", "http", "httpx", "conda", "setuptools", "semantic_release", "dotenv", "keyring", "prisma"),
        )
    },
    "awscli": "aws",
    "django": "django-admin",
    "fabric": "fab",
    "flit_core": "flit",
    "httpie": "http",
    "samcli": "sam",
    "git_filter_repo": "git-filter-repo",
    "hookline.cli": "hookline",
    "semantic_release": "semantic-release",
    "ansible.playbook": "ansible-playbook",
    "ansible.cli.playbook": "ansible-playbook",
    "flask_migrate": "flask",
}
"""Modules for `python -m`, with the name of the program that each of them is."""

SCRIPT_NAMES: Final = frozenset(
    (
        *(
            "manage.py",
            "artisan",
            "rails",
            "rake",
            "console",
            "cake",
            "spark",
            "craft",
            "drush",
            "wp",
            "magento",
            "yii",
        ),
        *("phinx", "doctrine", "doctrine-migrations", "sail", "gradlew", "mvnw", "setup.py", "cap", "hanami"),
    )
)
"""Scripts that projects have under the same name everywhere."""

SHORT_NAMES: Final = {"k": "kubectl", "tf": "terraform", "hub": "git", "g": "git"}
"""Usual aliases, which the shell that an agent starts may have."""
_TELLING_SCRIPT: Final = lazy_pattern(
    r"(?:(?:run|do|app|web|api|prod|production|staging)[-_])?"
    r"(?:(deploy|publish|release|rollback)(?:[-_.](?!notes|check|test|lint|status|dry|docs)[\w.-]+)?"
    r"|(migrate)(?:[-_.](?:db|database|prod\w*|staging|schema|data|up|latest|all|run))?)\.(?:sh|bash|zsh|ps1|py|rb|js|mjs|cjs|ts)"
)
"""A script of a project whose name says what it does. The command is read as `deploy.sh`, `migrate.sh` and so on."""
_CHECK_OPTIONS: Final = frozenset(("-n", "-nv", "-c", "-l", "--check", "--syntax-check"))
_RUNNERS: Final = frozenset(
    ("python", "pypy", "py", "php", "ruby", "node", "nodejs", "deno", "bun", "tsx", "perl", *SHELLS)
)
_MODULE_OPTION: Final = lazy_pattern(r"-[bBdEhiIOPqRsSuvVx]*m(.*)")
_PACKAGE_DIRECTORIES: Final = ("/.bin/", "vendor/bin/", "node_modules/")


def script_command(name: str, words: Sequence[str]) -> tuple[str, ...]:
    """The program with its arguments; nothing if the interpreter runs something else."""
    if name in SHORT_NAMES:
        return (SHORT_NAMES[name], *words[1:])
    if name.startswith("git-") and name[4:] in COMMANDS:  # as in git's own directory of programs
        return ("git", name[4:], *words[1:])
    if name not in _RUNNERS:
        script = _telling_script(name, words[1:]) if "." in name else ()
        return script if script[:1] != (name,) else ()
    may_be_value = False
    for at, word in enumerate(words[1:], 1):
        if word.startswith("-"):
            module = _MODULE_OPTION.fullmatch(word) if name in ("python", "pypy", "py") else None
            if module is not None:
                rest = (module[1], *words[at + 1 :]) if module[1] else tuple(words[at + 1 :])
                return _module_command(rest)
            if word in _CHECK_OPTIONS and name not in ("python", "pypy", "py"):
                return ()
            may_be_value = True
            continue
        base = word.rsplit("/", 1)[-1]
        if base in SCRIPT_NAMES:
            return (base, *words[at + 1 :])
        if any(each in word for each in _PACKAGE_DIRECTORIES):
            return (_package_program(word), *words[at + 1 :])
        if script := _telling_script(base, words[at + 1 :]):
            return script
        if not may_be_value:
            return ()
        may_be_value = False
    return ()


def _telling_script(name: str, arguments: Sequence[str]) -> tuple[str, ...]:
    found = _TELLING_SCRIPT.fullmatch(name)
    return () if found is None else (f"{found[1] or found[2]}.sh", *arguments)


def _module_command(words: Sequence[str]) -> tuple[str, ...]:
    program = MODULE_PROGRAMS.get(words[0].removesuffix(".__main__")) if words else None
    if program == "ansible" and words[1:2] == ("playbook",):
        return ("ansible-playbook", *words[2:])
    return () if program is None else (program, *words[1:])


def _package_program(path: str) -> str:
    """`node_modules/prisma/build/index.js` → `prisma`, `node_modules/.bin/prisma` → `prisma`."""
    directory, name = path.rpartition("node_modules/")[::2]
    if directory or path.startswith("node_modules/"):
        name = name.removeprefix(".bin/")
        return name.split("/")[1 if name.startswith("@") and "/" in name else 0]
    return path.rsplit("/", 1)[-1]
