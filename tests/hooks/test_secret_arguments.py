"""Passwords in commands, whatever program takes them: none is shown, as a line or as a list of arguments."""

from __future__ import annotations

import json
import shlex
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.hooks.masking import mask
from hookline.hooks.record_settings import RecordedFacts
from hookline.hooks.secret_arguments import _RULES, _compile_names, _find_names
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
    "/opt/bin/mysql.exe -phunter22",
    "composer config -g http-basic.repo.example.org ann hunter22",
    "composer config http-basic repo hunter22",
    "composer config github-oauth.github.com hunter22",
    "composer config bearer.repo.example.org hunter22",
    "poetry config http-basic.x ann hunter22",
    "poetry config pypi-token.pypi hunter22",
    "bundle config set --global gems.example.org ann:hunter22",
    "rclone config create a sftp host x user ann pass hunter22",
    "rclone config update a pass hunter22",
    "rclone config password a pass hunter22",
    "signtool sign /f a.pfx /p hunter22 a.exe",
    "signtool.exe sign -f a.pfx -p hunter22 a.exe",
    "osslsigncode sign -pkcs12 a.pfx -pass hunter22 -in a",
    "azuresigntool sign -kvs hunter22 -kvu x",
    """kubectl patch secret a -p '{"data":{"k":"hunter22"}}'""",
    """kubectl -n x patch secret/a --patch='{"stringData":{"k":"hunter22"}}'""",
    """kubectl patch secrets a --type=json -p='[{"op":"add","value":"hunter22"}]'""",
    "kubectl create secret generic a --from-literal k=hunter22",
    "git clone https://hunter22@host.example/x",
    "pip install -i https://abcdefghunter22@pypi.example/simple x",
    "psql 'host=x password=hunter22'",
    'psql "password=hunter22 host=x"',
    "DB_PASS=ab'hunter22' ./run",
    "DB_PASS=ab'cd'hunter22 ./run",
    'DB_PASS="ab"hunter22 ./run',
    "DB_PASS='ab'\\''hunter22' ./run",
    "DB_PASS=a\\ hunter22 ./run",
    "x --password=ab'hunter22'",
    "x --password \"ab\"'hunter22'",
    "x -password hunter22",
    "New-LocalUser ann -Password hunter22",
    "java -jar jenkins-cli.jar -auth ann:hunter22",
    "mysql -pab'hunter22'",
    "redis-cli -a 'ab'hunter22 ping",
    "curl -u ann:'hunter22' x",
    "curl -u 'ann':'hunter22' x",
    "curl -U ann:hunter22 -x p x",
    "curl --cert cert.pem:hunter22 x",
    "curl --oauth2-bearer hunter22 x",
    """curl -d '{"pwd":"hunter22"}' x""",
    "wp config create --dbuser=a --dbpass=hunter22",
    "op signin --secret-key hunter22",
    "rar a -hphunter22 a.rar b",
    "pdftotext -upw hunter22 a.pdf",
    "pdftk a.pdf input_pw hunter22 output b",
    "plink -pw hunter22 host",
    "schtasks /create /ru ann /rp hunter22 /tn x",
    "cf auth ann hunter22",
    "samba-tool user create ann hunter22",
    "nmcli con modify x wifi-sec.psk hunter22",
    "grafana cli admin reset-admin-password hunter22",
    "ansible-vault encrypt_string hunter22 --name x",
    "db2 connect to x user ann using hunter22",
    "sonar-scanner -Dsonar.login=hunter22",
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
        '"mysql" -phunter22',
        "'/usr/bin/mysql' -phunter22 db",
        '"vault" "login" hunter22',
        "vault 'login' hunter22",
        'kubectl patch secret a -p "{\\"data\\":{\\"k\\":\\"hunter22\\"}}"',
        "echo hunter22 | keyring set x y",
        "sqlite3 a \"PRAGMA key='hunter22'\"",
        "sh -c \"DB_PASS=ab'hunter22' ./run\"",
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
        "git clone https://ann@bitbucket.org/team/repo",
        "git remote add origin https://myorg@dev.azure.com/myorg/p/_git/r",
        "git clone ssh://git@github.com/a/b && git clone ssh://user1234@host/b",
        "npm install https://npm.example.org/@scope/x",
        "pip install git+https://github.com/a/b@v1.2.3",
        "curl https://unpkg.com/react12345@18.2.0",
        "curl https://example.com?email=ann12345@x.org",
        "composer config repositories.x vcs https://x.org",
        "composer config name a/b",
        "poetry config virtualenvs.in-project true",
        "rclone config create a drive scope drive",
        "bundle config set path vendor/bundle",
        "bundle config mirror.https://gems.example.org https://x.org",
        "kubectl get secret a -o yaml",
        """kubectl patch deployment a -p '{"spec":{"replicas":2}}'""",
        "signtool verify /pa a.exe",
        "rar a -r a.rar b",
        'the "mysql" container is up',
        "docker run -p 80:80 mysql:8.0",
        "grep -E 'a:b' x",
        "curl --cert C:\\certs\\a.pem x",
        "find . -name token -print",
        "x --bypass all",
        '{"pwd": "/home/ann"}',
        '{"pwd": "C:/work"}',
        "cf push app && db2 connect to x",
        "samba-tool user list",
        "docker exec -u 1000:1000 x",
    ],
)
def test_other_arguments_stay(text: str) -> None:
    assert mask(text) == text


@pytest.mark.parametrize(
    "piece",
    [
        "mysql ",
        "mysql,",
        "mysql -p",
        'mysql"',
        "secret a=",
        "echo a ",
        "<<< ",
        "set token ",
        "m\\ysql ",
        "a\\",
        "patch secret/",
        "a_pass=b'c'",
    ],
)
@pytest.mark.timing
def test_no_text_takes_long(piece: str) -> None:
    began = time.monotonic()
    mask("sudo -S" + piece * (16_000 // len(piece)))
    assert time.monotonic() - began < 10


@pytest.mark.parametrize("piece", ["echo a ", "printf -n ", "echo 'a' ", "echo a\n\n", "echo \"echo 'a' \" "])
@pytest.mark.timing
def test_the_search_for_a_pipe_takes_time_in_proportion_to_the_text(piece: str) -> None:
    began = time.process_time()
    mask("sudo -S" + piece * (100_000 // len(piece)))
    assert time.process_time() - began < 20


@pytest.mark.parametrize(
    "text",
    [
        r"echo it\'s me; echo 'hunter2' | sudo -S ls",
        r'echo 5\" disk; echo "hunter2" | sudo -S ls',
        r'printf "a\"b"; echo "hunter2" | docker login --password-stdin',
        'echo foo "bar $(echo "hunter2" | sudo -S ls)"',
    ],
)
def test_what_is_printed_behind_an_odd_quote_is_masked(text: str) -> None:
    assert "hunter2" not in mask(text)


@pytest.mark.parametrize("quote", ['"', "'"])
def test_what_is_printed_in_a_quoted_script_is_masked(quote: str) -> None:
    text = f"echo {quote}echo hunter2 | sudo -S ls{quote} > run.sh"
    assert "hunter2" not in mask(text)


@given(st.lists(st.sampled_from([*_RULES, " ", '", "', "/a", ".exe", "-p", "x", "'"]), max_size=12).map("".join))
def test_names_are_found_as_by_a_pattern_of_all_names(text: str) -> None:
    every = _compile_names(tuple(_RULES))
    assert [found.span() for found in _find_names(text)] == [found.span() for found in every.finditer(text)]
