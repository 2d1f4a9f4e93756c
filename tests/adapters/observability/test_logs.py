"""No secret reaches a log, whatever carries it."""

import json
import subprocess
import sys

import pytest

from adapters.observability.logs import HIDDEN, Redaction

SECRET = "Sup3r-s3cret+value/with=signs"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Basic dXNlcjpTRUNSRVQ=",
        "authorization: bearer SECRETabc.def",
        "Authorization: Bearer SECRETabc.def",
        "GET https://host.example/x?token=SECRETabc&a=1",
        "GET https://host.example/x?a=1&password=SECRETabc",
        "postgres://user:SECRETabc@host/db",
        "redis://:SECRETabc@host:6379/0",
        "xoxb-1234-SECRETabc",
        "xoxe.xoxb-1-SECRETabc",
        "xapp-1-A1-SECRETabc",
        "sk-proj-SECRETabcdefgh",
        "AKIASECRETABCDEFGHIJ",
        "ghp_SECRETabcdefghijklmnop",
        "https://hooks.slack.com/services/T000/B000/SECRETabc",
        "https://hooks.slack.com/workflows/T000/A000/1/SECRETabc",
        "https://discord.com/api/webhooks/123456789012345678/SECRETabcdefghijklmnopqrstuv",
        "-----BEGIN RSA PRIVATE KEY-----\nSECRETabc\n-----END RSA PRIVATE KEY-----",
        "api_key=SECRETabc",
    ],
)
def test_a_secret_by_its_shape_is_hidden(text: str) -> None:
    shown = Redaction().clean(text)
    assert "SECRET" not in shown.replace("SECRETABCDEFGHIJ", "SECRET")
    assert "dXNl" not in shown
    assert HIDDEN in shown


def test_a_json_web_token_is_hidden() -> None:
    assert Redaction().clean(f"cookie {JWT}") == f"cookie {HIDDEN}"


@pytest.mark.parametrize("form", ["Sup3r-s3cret+value/with=signs", "Sup3r-s3cret%2Bvalue%2Fwith%3Dsigns"])
def test_a_configured_secret_is_hidden_as_it_is_and_percent_encoded(form: str) -> None:
    assert Redaction([SECRET]).clean(f"x {form} y") == f"x {HIDDEN} y"


@pytest.mark.parametrize("text", ["basic support", "a bot answered", "the token is missing", "host:8080", "12:30:45"])
def test_what_is_no_secret_stays(text: str) -> None:
    assert Redaction().clean(text) == text


@pytest.mark.parametrize("name", ["core.service.help", "bot.stores", "adapters.mcp.tools"])
def test_the_fields_of_a_log_line_are_shown(name: str) -> None:
    lines = (
        "import logging",
        "from adapters.observability.logs import configure",
        "configure('info', 'json')",
        f"logging.getLogger({name!r}).warning('waiting_for_store', extra={{'reason': 'redis://:SECRETabc@host'}})",
    )
    said = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=True).stderr
    line = json.loads(said)
    assert (line["event"], line["level"], line["reason"]) == ("waiting_for_store", "warning", f"redis://{HIDDEN}@host")
