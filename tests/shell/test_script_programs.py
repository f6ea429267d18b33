"""Programs that an interpreter runs by the name of a module or script."""

from __future__ import annotations

import shlex

import pytest

from hookline.shell.programs import program_name
from hookline.shell.run_commands import read_commands
from hookline.shell.script_programs import script_command


@pytest.mark.parametrize(
    ("line", "program"),
    [
        ("python -m twine upload x", "twine upload x"),
        ("python3.12 -Im twine upload x", "twine upload x"),
        ("python -mtwine upload x", "twine upload x"),
        ("python -X dev -W error -m twine upload x", "twine upload x"),
        ("python -m awscli s3 ls", "aws s3 ls"),
        ("python -m django migrate", "django-admin migrate"),
        ("python -m ansible playbook x.yml", "ansible-playbook x.yml"),
        ("python -m alembic.__main__ current", "alembic current"),
        ("python manage.py migrate", "manage.py migrate"),
        ("python -u ./app/manage.py migrate", "manage.py migrate"),
        ("php -d memory_limit=1G artisan migrate", "artisan migrate"),
        ("ruby bin/rails db:drop", "rails db:drop"),
        ("sh ./gradlew publish", "gradlew publish"),
        ("node node_modules/.bin/prisma migrate deploy", "prisma migrate deploy"),
        ("node node_modules/prisma/build/index.js migrate deploy", "prisma migrate deploy"),
        ("node ./node_modules/@org/tool/x.js y", "tool y"),
        ("php vendor/bin/phinx migrate", "phinx migrate"),
        ("python -m pytest -q", ""),
        ("python x.py manage.py", ""),
        ("python -c 'x' manage.py", "manage.py"),
        ("ls manage.py", ""),
        ("python", ""),
        ("python -m", ""),
    ],
)
def test_the_program_behind_an_interpreter(line: str, program: str) -> None:
    words = shlex.split(line)
    assert " ".join(script_command(program_name(words[0]), words)) == program


@pytest.mark.parametrize(
    "line", ["python -m twine upload x", "uv run python -m twine upload x", "a | python -m twine upload x"]
)
def test_the_program_is_one_of_the_commands(line: str) -> None:
    assert ("twine", "upload", "x") in {command.words for command in read_commands(line).commands}
