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
    "curl -uann:hunter22 https://x",
    "curl -u'ann:hunter22' https://x",
    "curl -sSu ann:hunter22 https://x",
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
    "vault login hunter22",
    "vault login -method=token hunter22",
    "vault operator unseal hunter22",
    "vault token lookup hunter22",
    "vault unwrap hunter22",
    "bao login hunter22",
    "bw unlock hunter22",
    "bw login ann@x.example hunter22",
    "doctl auth init -t hunter22",
    "glab auth login -t hunter22",
    "snyk auth hunter22",
    "ngrok authtoken hunter22",
    "ngrok config add-authtoken hunter22",
    "vercel -t hunter22 deploy",
    "twine upload -u x -p hunter22 dist/a",
    "poetry publish -u ann -p hunter22",
    "uv publish -t hunter22",
    "cargo login --registry x hunter22",
    "nuget setapikey hunter22",
    "nuget push a.nupkg hunter22 -Source x",
    "dotnet nuget push a.nupkg -k hunter22 -s x",
    "mc alias set s3 https://x KEY hunter22",
    "net user ann hunter22 /add",
    "cmdkey /add:h /user:a /pass:hunter22",
    "nmcli dev wifi connect home password hunter22",
    "networksetup -setairportnetwork en0 home hunter22",
    "openssl passwd -salt xy hunter22",
    "mkpasswd -m sha-512 hunter22",
    "caddy hash-password --plaintext hunter22",
    "http -v -a ann:hunter22 https://x",
    "cypher-shell -u neo4j -p hunter22",
    "neo4j-admin dbms set-initial-password hunter22",
    "rabbitmqctl authenticate_user ann hunter22",
    "pulumi config set name hunter22 --secret",
    "isql dsn ann hunter22",
    "tsql -S h -U a -P hunter22",
    "keytool -storepass hunter22 -list",
    "security unlock-keychain -p hunter22 x",
    "security import a.p12 -P hunter22",
    "rclone obscure hunter22",
    "gitlab-runner register -r hunter22",
    "mysqladmin -u root password hunter22",
    "redis-cli CONFIG SET requirepass hunter22",
    "redis-cli AUTH ann hunter22",
    "snmpwalk -v2c -c hunter22 h",
    "az keyvault secret set --name a --value hunter22",
    "aws secretsmanager create-secret --name a --secret-string hunter22",
    "aws ssm put-parameter --name a --value hunter22 --type SecureString",
    "heroku config:add A=hunter22",
    "railway variables --set A=hunter22",
    "netlify env:set A hunter22",
    "doppler secrets set A hunter22",
    "curl -sb 'sid=hunter22' x",
    "curl -bsid=hunter22 x",
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
        "su -c x <<< hunter22",
        "<<< hunter22 su - ann",
        "echo hunter22 | su -c x",
        "echo hunter22 |\n  su ann",
        "m\\ysql -phunter22",
        "mysq\\l -phunter22",
        "ls; my''sql -phunter22",
        'm""ysql -phunter22 db; mysql -phunter22',
        "red\\is-cli -a hunter22",
        "Server=h;Uid=sa;Pwd=hunter22;",
        'bash -c "mysql -phunter22 db"',
        'bash -c "vault login hunter22"',
        "['vault', 'login', 'hunter22']",
        r'"{\"argv\": [\"cargo\", \"login\", \"hunter22\"]}"',
        "echo hunter22 | vault login -",
        "echo -n hunter22 | cryptsetup luksOpen /dev/sda x -",
        "gcloud secrets versions add a --data-file=- <<< hunter22",
        "mysql -e \"ALTER USER 'a' IDENTIFIED BY 'hunter22'\"",
        "psql -c \"CREATE ROLE a LOGIN PASSWORD 'hunter22'\"",
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
    assert "hunter22" not in RecordableFacts(RecordedFacts.MASKED, masks=True).text(text)


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
        "cat <<< hello",
        "echo hi | sum -r",
        "su -c 'echo hi'",
        "C:\\Users\\ann\\mkdir -p a",
        "printf 'a\\nb'",
        "git config user.name ann",
        "kubectl get secrets -n a",
        "cd $OLDPWD; PWD=/x ls",
        "htpasswd file user",
        "vault kv get kv/a",
        "please login -- then run it",
        "curl -bad x",
        "curl -b cookies.txt -c cookies.txt https://x",
        "cargo test -p vault",
        "vault status",
        "net user",
        "net user ann /delete",
        "nuget push a.nupkg",
        "pulumi config set name value",
        "uv publish dist/a.whl",
        "http GET https://x",
        "git commit -am 'Ask for the password again'",
    ],
)
def test_other_arguments_stay(text: str) -> None:
    assert mask(text) == text


@pytest.mark.parametrize(
    "piece", ["mysql ", "mysql,", "mysql -p", 'mysql"', "secret a=", "echo a ", "<<< ", "set token ", "m\\ysql ", "a\\"]
)
@pytest.mark.timing
def test_no_text_takes_long(piece: str) -> None:
    began = time.monotonic()
    mask("sudo -S" + piece * (16_000 // len(piece)))
    assert time.monotonic() - began < 10
