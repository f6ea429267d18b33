"""Passwords in commands, whatever program takes them: none is shown, as a line or as a list of arguments."""

from __future__ import annotations

import json
import shlex
import time

import pytest

from hookline.hooks.masking import mask
from hookline.hooks.record_settings import RecordedFacts
from hookline.record.facts import RecordableFacts, environment_secrets, may_have_secret

COMMANDS = (
    "mysql -phunter22",
    "mysql -u root -p'hunter22' db",
    "mysql --password=hunter22",
    "sudo /usr/bin/mysqldump -h x -phunter22 db",
    "curl -u ann:hunter22 https://x",
    "curl -b 'sid=hunter22' x",
    "curl --cookie sid=hunter22 x",
    "curl --cookie=sid=hunter22 x",
    "curl -H 'Cookie: sid=hunter22'",
    "curl -H 'Authorization: Basic hunter22=='",
    "curl -H 'X-Api-Key: hunter22' x",
    "curl -H 'X-Auth-Key: hunter22' x",
    "wget --http-password=hunter22 x",
    "sshpass -p hunter22 ssh x",
    "sshpass -phunter22 ssh x",
    "redis-cli -h x -a hunter22 ping",
    "psql postgresql://u:hunter22@h/db",
    "docker login -u ann -p hunter22 registry",
    "podman login --password hunter22",
    "PGPASSWORD=hunter22 psql",
    "MYSQL_PWD=hunter22 mysql",
    "REDISCLI_AUTH=hunter22 redis-cli",
    "SSHPASS=hunter22 sshpass -e ssh x",
    "env DB_PASS=hunter22 ./run",
    "htpasswd -b file user hunter22",
    "htpasswd -cbB file user hunter22",
    "openssl rsa -in k -passin pass:hunter22",
    "openssl enc -aes-256-cbc -k hunter22",
    "aws configure set aws_secret_access_key hunter22",
    "aws configure set profile.a.aws_session_token hunter22",
    "npm config set //r.example/:_authToken hunter22",
    "git config --global github.token hunter22",
    "x --token hunter22",
    "x --pass hunter22",
    "gh secret set NAME --body hunter22",
    "gh secret set NAME -b hunter22",
    "kubectl create secret generic a --from-literal=k=hunter22",
    "fly secrets set A=hunter22",
    "heroku config:set A=hunter22",
    "vault kv put kv/a k=hunter22",
    "rabbitmqctl add_user ann hunter22",
    "ldapsearch -D cn=x -w hunter22",
    "sqlcmd -S h -U sa -P hunter22",
    "sqlplus ann/hunter22@db",
    "smbclient //h/s -U ann%hunter22",
    "lftp -u ann,hunter22 h",
    "zip -P hunter22 a.zip b",
    "7z a -phunter22 a.7z b",
    "mongosh -u a -p hunter22",
    "ssh-keygen -t rsa -N hunter22 -f x",
    "security add-generic-password -a x -w hunter22",
)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_password_in_a_command_is_masked(command: str) -> None:
    line, words = {"command": command}, {"argv": shlex.split(command)}
    for value in (line, words):
        kept = RecordableFacts(RecordedFacts.MASKED, masks=True).value(value)
        assert "hunter22" not in json.dumps(kept)
        assert "***" in json.dumps(kept)
        assert may_have_secret(json.dumps(value), environment_secrets())
    assert "hunter22" not in mask(command)


@pytest.mark.parametrize(
    "text",
    [
        "gh auth login --with-token <<< hunter22",
        "gh auth login --with-token <<<'hunter22'",
        "echo hunter22 | gh auth login --with-token",
        'echo -n "hunter22" | docker login -u x --password-stdin',
        "printf hunter22 | sudo -S ls",
        "Server=h;Uid=sa;Pwd=hunter22;",
        'bash -c "mysql -phunter22 db"',
        "ssh host 'mysql -phunter22' && echo \"hi\"",
        "mysql -u root \\\n  -phunter22",
        "ls\nmysql -phunter22",
        "cd x; mysql -phunter22; ls",
        "['mysql', '-u', 'root', '-phunter22']",
        '{"argv": ["redis-cli", "-a", "hunter22"]}',
        r'"{\"argv\": [\"redis-cli\", \"-a\", \"hunter22\"]}"',
    ],
)
def test_a_password_in_a_text_is_masked(text: str) -> None:
    assert "hunter22" not in mask(text)
    assert may_have_secret(json.dumps([text]), environment_secrets())


@pytest.mark.parametrize(
    "text",
    [
        "docker run -p 80:80 x",
        "mkdir -p a/b && cp -p a b",
        "mysql -u root -p db",
        "ssh -p 22 x",
        "echo hi | grep x",
        "unzip -l a && zip -r a b",
        "openssl x509 -in a -noout",
        "redis-cli ping",
        "git config user.name ann",
        "kubectl get secrets -n a",
        "cd $OLDPWD; PWD=/x ls",
        "htpasswd file user",
        "vault kv get kv/a",
        "please login -- then run it",
    ],
)
def test_other_arguments_stay(text: str) -> None:
    assert mask(text) == text


@pytest.mark.parametrize(
    "piece", ["mysql ", "mysql,", "mysql -p", 'mysql"', "secret a=", "echo a ", "<<< ", "set token "]
)
@pytest.mark.timing
def test_no_text_takes_long(piece: str) -> None:
    began = time.monotonic()
    mask("sudo -S" + piece * (16_000 // len(piece)))
    assert time.monotonic() - began < 10
