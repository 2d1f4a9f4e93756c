"""Clients that are made of the description alone, by tools that know nothing of us, at the running server.

openapi-python-client is no dependency (it wants another typer than ours). Where it is on the path it is used:
``pipx install openapi-python-client``.
"""

import asyncio
import json
import shutil
import sys
from asyncio.subprocess import PIPE, STDOUT
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.adapters.web.api.office import Office

GENERATOR, FUZZER = (
    shutil.which("openapi-python-client") or "",
    shutil.which("schemathesis", path=Path(sys.executable).parent) or "",
)
REFUNDS = "Refunds are paid within 14 days."
PROGRAM = """
import sys
from footnote_client import AuthenticatedClient
from footnote_client.api.default import ask, feedback, search
from footnote_client.models import AskRequest, FeedbackRequest, SearchRequest

client = AuthenticatedClient(base_url=sys.argv[1], token=sys.argv[2])
answer = ask.sync(client=client, body=AskRequest(question="How long do refunds take?"))
assert answer.outcome == "answered" and answer.citations[0].title == "Refund policy", answer
hits = search.sync(client=client, body=SearchRequest(query="refunds", limit=1)).hits
assert [hit.text for hit in hits] == ["Refunds are paid within 14 days."], hits
rated = FeedbackRequest(answer=answer.id, conversation=answer.conversation, helpful=True)
assert feedback.sync(client=client, body=rated).kept
refused = ask.sync(client=AuthenticatedClient(base_url=sys.argv[1], token="x"), body=AskRequest(question="x"))
assert refused.status == 401 and refused.remedy, refused
"""

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(400)]


@pytest.fixture
async def office() -> AsyncIterator[Office]:
    office = Office()
    await office.harness.knows(REFUNDS, title="Refund policy")
    async with office.open():
        yield office


async def runs(*command: str, cwd: Path) -> None:
    """Run it to its end; what it says is shown where it fails."""
    process = await asyncio.create_subprocess_exec(*command, cwd=cwd, stdout=PIPE, stderr=STDOUT)
    said, _ = await asyncio.wait_for(process.communicate(), 300)
    assert process.returncode == 0, said.decode()


@pytest.mark.skipif(not GENERATOR, reason="openapi-python-client is not on the path")
async def test_a_generated_client_asks_searches_rates_and_is_refused(office: Office, tmp_path: Path) -> None:
    (tmp_path / "openapi.json").write_text(json.dumps(office.description))
    await runs(GENERATOR, "generate", "--path", "openapi.json", cwd=tmp_path)
    program = await office.program()
    python = Path(GENERATOR).resolve().parent / "python"
    (tmp_path / "program.py").write_text(f"import sys\nsys.path.insert(0, 'footnote-client')\n{PROGRAM}")
    await runs(str(python), "program.py", office.url("/").rstrip("/"), program.secret, cwd=tmp_path)


@pytest.mark.skipif(not FUZZER, reason="schemathesis is not on the path")
async def test_whatever_is_sent_what_comes_back_is_as_described(office: Office, tmp_path: Path) -> None:
    program = await office.program()
    header = f"Authorization: Bearer {program.secret}"
    words = ("run", office.url("/v1/openapi.json"), "-H", header, "--phases", "fuzzing", "--max-examples", "3")
    # The same requests each time. A schema cannot say that a conversation needs a message of the user.
    settled = ("--generation-deterministic", "--exclude-checks", "positive_data_acceptance")
    await runs(FUZZER, *words, *settled, cwd=tmp_path)
