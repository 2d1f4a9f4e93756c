"""Footnote can answer every question that it suggests: in the manifest, Home, demo, setup and documents.

A new prompt that is not listed here fails.
"""

import json
import re
from pathlib import Path

import pytest

from adapters.slack.listeners.home_tab import PROMPTS
from adapters.slack.manifest import manifest
from bot.cli.help import EXAMPLES
from bot.demo import SAMPLES
from bot.setup.guide import InstallationSetup
from tests.live.conftest import Dialogue

pytestmark = [pytest.mark.live, pytest.mark.asyncio(loop_scope="session")]

REFUSALS = ("I couldn't find this", "found nothing that answers", "This may answer it")
SAID = {
    "What documents do you know?": "I can read",
    "What can you do?": "I search your team's documents",
    "How do you check your answers against the sources?": "grade each passage",
    "How long are driver positions kept?": "kept for 90 days",
    "And the delivery photos?": "18 months",
    "Thanks, that helps!": "You're welcome",
    "How do I configure the timeout?": "The documents mention several timeouts. Which one?",
    "Who approves refunds?": "The Finance lead",
}
NOT_IN_THE_DOCUMENTS = {"Does the company pay for dental treatment?"}  # the demo shows that it says so
DEMO = [line["say"] for line in json.loads((SAMPLES / "demo.json").read_text(encoding="utf-8"))]


ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))


def documented() -> set[str]:
    """The questions that the setup, the examples of commands and the documents tell people to begin with."""
    guide = InstallationSetup(ROOT)
    texts = [f"`{message}`" for place in guide.platforms() for message in guide.first_messages(place)]
    texts += [page.read_text(encoding="utf-8") for page in PAGES]
    found = re.findall(r"`@Footnote ([^`]+\?)`|footnote ask \"([^\"]+)\"", "\n".join((*texts, *EXAMPLES.values())))
    return {(mention or asked)[:1].upper() + (mention or asked)[1:] for mention, asked in found}


def suggested() -> set[str]:
    """The messages behind every button that suggests one."""
    return {message for _, message in PROMPTS} | set(DEMO)


async def test_every_suggested_prompt_has_its_line_here_and_the_manifest_suggests_no_other() -> None:
    assert suggested() | documented() == SAID.keys() | NOT_IN_THE_DOCUMENTS
    in_manifest = json.loads(manifest())["features"]["agent_view"]["suggested_prompts"]
    assert {prompt["message"] for prompt in in_manifest} <= suggested()


@pytest.mark.parametrize("message", [message for _, message in PROMPTS])
async def test_a_prompt_of_the_home_tab_and_the_manifest_gets_an_answer(dialogue: Dialogue, message: str) -> None:
    shown = await dialogue.say(message)
    assert SAID[message] in shown
    assert not any(refusal in shown for refusal in REFUSALS)


@pytest.mark.parametrize("message", sorted(documented()))
async def test_a_question_of_the_setup_and_the_documents_gets_an_answer(dialogue: Dialogue, message: str) -> None:
    shown = await dialogue.say(message)
    assert SAID[message] in shown
    assert not any(refusal in shown for refusal in REFUSALS)


async def test_the_prompt_about_a_knowledge_base_names_its_documents(dialogue: Dialogue) -> None:
    for base in dialogue.chat.bases or ():
        shown = await dialogue.say(f"What is in the knowledge base {base}?")
        assert f"in the knowledge base {base}:" in shown


async def test_the_demo_shows_what_it_says_that_it_shows(dialogue: Dialogue) -> None:
    for message in DEMO:
        shown = await dialogue.say(message)
        refused = any(refusal in shown for refusal in REFUSALS)
        assert refused == (message in NOT_IN_THE_DOCUMENTS)
        assert SAID.get(message, "") in shown
