"""The scripted model: what it writes, how each verifier judges, and what it counts as cached."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession

from adapters.reasoners.openai import prompts
from adapters.reasoners.openai.prompt_blocks import Fence
from adapters.reasoners.openai.structured_output import json_in
from tests.fakes.model.endpoint import RecordedRequest, ScriptedEndpoint
from tests.fakes.model.model import ScriptedModel
from tests.fakes.model.pairs import Pair, Support
from tests.fakes.model.verifiers import REFUSAL, VERIFIERS

LEAVE = "Everybody has 28 days of paid leave.\nLeave that is not taken by 31 March\nis lost."
TRUE, FALSE = "You have 28 days of leave [leave.md].", "You have 38 days of leave [leave.md]."
REST = "What is left at the end of March is lost [leave.md]."
PAIR = Pair(
    id="leave-1",
    company="acme",
    kind="number",
    language="en",
    question="How much leave do I have?",
    right=f"{TRUE} {REST}",
    right_claim=TRUE,
    false=f"{FALSE} {REST}",
    false_claim=FALSE,
    supports=(
        Support(TRUE, "leave.md", "28 days of paid leave"),
        Support(REST, "leave.md", "not taken by 31 March is lost"),
    ),
)
TITLES = {("acme", "leave.md"): "Leave"}
NEW_CHECK = f'{prompts.CHECK}\n{{"verdicts": [{{"n": 1, "document": 3, "words": "", "verdict": "", "fault": ""}}]}}'
OLD_CHECK = f'{prompts.CHECK}\n{{"verdicts": [{{"n": 1, "reason": "", "verdict": "", "correction": ""}}]}}'
NOD = "Everybody has 28 days of paid leave. Leave"  # the first words of the document
FENCE = Fence("inquiry")


def request(task: str, *blocks: str, question: str = PAIR.question) -> RecordedRequest:
    asked = f"{prompts.QUESTION}{question}" if question else ""
    user = "\n\n".join((*blocks, asked, prompts.TASK + task))
    return RecordedRequest({"model": "scripted", "messages": [{"role": "user", "content": user}]})


def document(text: str = LEAVE, *, number: int = 7, title: str = "Leave") -> str:
    return FENCE("document", text, id=number, title=title)


def check(verifier: str, *sentences: str, task: str = NEW_CHECK, **options: Any) -> str:
    model = ScriptedModel([PAIR], verifier, false=True, titles=TITLES, **options)
    blocks = [FENCE("sentence", one, n=n, cites="7") for n, one in enumerate(sentences, 1)]
    return model(request(task, document(), *blocks, question="")).text


def verdicts(reply: str) -> list[tuple[str, str]]:
    return [(one["verdict"], one["words"]) for one in json.loads(reply)["verdicts"]]


def test_cites_the_document_that_has_the_supporting_words() -> None:
    model = ScriptedModel([PAIR], titles=TITLES)
    other = document("Visitors have 28 days of paid leave.", number=3, title="Visitors")
    said = model(request(prompts.COMPOSE, other, document())).text
    assert said == "You have 28 days of leave [7]. What is left at the end of March is lost [7]."


def test_names_what_is_missing_only_where_it_may_decline() -> None:
    model = ScriptedModel([PAIR], titles=TITLES)
    elsewhere = document("Bring a coat.", title="Camp")
    assert model(request(f"{prompts.COMPOSE}\nMISSING: keywords", elsewhere)).text == "MISSING: 28 days of paid leave"
    assert model(request(prompts.COMPOSE, elsewhere)).text == PAIR.right.replace(" [leave.md]", "")


def test_grades_what_holds_supporting_words_and_knows_whether_all_are_there() -> None:
    model = ScriptedModel([PAIR], titles=TITLES)
    half = document("Everybody has 28 days of paid leave.", number=2)
    camp = document("Bring a coat.", number=4, title="Camp")
    reply = json.loads(model(request(f'{prompts.GRADE}\n"enough": false', half, camp)).text)
    assert [(one["id"], one["score"]) for one in reply["grades"]] == [(2, 9), (4, 2)]
    assert reply["enough"] is False


@pytest.mark.parametrize(
    ("verifier", "false", "true"),
    [
        ("honest", ("contradicted", "28 days of paid leave"), ("supported", "not taken by 31 March\nis lost")),
        ("overlooking", ("supported", "28 days of paid leave"), ("supported", "not taken by 31 March\nis lost")),
        ("nodding", ("supported", NOD), ("supported", NOD)),
        ("denying", ("not stated", ""), ("not stated", "")),
    ],
)
def test_judges_false_and_true_sentences(verifier: str, false: tuple[str, str], true: tuple[str, str]) -> None:
    reply = check(verifier, "You have 38 days of leave [7].", "What is left at the end of March is lost [7].")
    assert verdicts(reply) == [false, true]


def test_a_true_sentence_is_not_stated_where_its_document_is_not_shown() -> None:
    model = ScriptedModel([PAIR], titles=TITLES)
    sentence = FENCE("sentence", "You have 28 days of leave [7].", n=1, cites="7")
    reply = model(request(NEW_CHECK, document("Bring a coat.", title="Camp"), sentence, question="")).text
    assert verdicts(reply) == [("not stated", "")]


def check_for_many_questions(verifier: str) -> list[str]:
    sentence = FENCE("sentence", "You have 38 days of leave [7].", n=1, cites="7")
    asked = request(NEW_CHECK, document(), sentence, question="")
    pairs = [replace(PAIR, id=f"leave-{n}") for n in range(40)]
    return [ScriptedModel([pair], verifier, false=True, titles=TITLES)(asked).text for pair in pairs]


def test_sloppy_verdicts_are_right_on_words_that_are_not_letter_by_letter() -> None:
    replies = check_for_many_questions("sloppy")
    found = [verdict for reply in replies for verdict in verdicts(reply)]
    assert {verdict for verdict, _ in found} == {"contradicted"}
    assert len({words for _, words in found}) > 1
    assert 0 < sum('"document"' not in reply for reply in replies) < len(replies)


def test_weak_replies_are_broken_or_wrong_for_some_questions() -> None:
    replies = check_for_many_questions("weak")
    whole = [reply for reply in replies if "verdicts" in (json_in(reply) or {})]
    wrong = [reply for reply in whole if NOD in reply]
    assert 0 < len(wrong) < len(whole) < len(replies)


def test_answers_in_the_form_with_corrections_where_the_prompt_asks_for_it() -> None:
    reply = json.loads(check("honest", "You have 38 days of leave [7].", "Skates are free.", task=OLD_CHECK))
    first, second = reply["verdicts"]
    assert (first["verdict"], first["correction"]) == ("contradicted", "You have 28 days of leave.")
    assert second["verdict"] == "unsupported"


@pytest.mark.parametrize("verifier", VERIFIERS)
def test_answers_control_claims_by_their_label(verifier: str, tmp_path: Path) -> None:
    controls = tmp_path / "control_claims.json"
    claims = [
        {"claim": "Leave is paid.", "evidence": "28 days of paid leave", "label": "supported"},
        {"claim": "Leave is unpaid.", "evidence": "28 days of paid leave", "label": "contradicted"},
    ]
    controls.write_text(json.dumps(claims))
    reply = check(verifier, "Leave is paid.", "Leave is unpaid.", controls=controls)
    if verifier == "refusing":
        assert reply == REFUSAL
    elif verifier in {"honest", "overlooking", "sloppy"}:
        assert [one for one, _ in verdicts(reply)] == ["supported", "contradicted"]
    elif verifier != "weak":
        assert len({one for one, _ in verdicts(reply)}) == 1


@pytest.mark.parametrize(
    ("verifier", "text"),
    [
        ("honest", "You have 28 days of leave [7]."),
        ("overlooking", "You have 28 days of leave [7]."),
        ("nodding", "You have 38 days of leave [7]."),
        ("denying", ""),
    ],
)
def test_corrects_the_false_sentence(verifier: str, text: str) -> None:
    model = ScriptedModel([PAIR], verifier, false=True, titles=TITLES)
    failed = FENCE("sentence", "You have 38 days of leave [7].", n=3, fault="38 is not there")
    reply = model(request(prompts.REPAIR, document(), failed, question="")).text
    assert json.loads(reply) == {"sentences": [{"n": 3, "text": text}]}


@pytest.mark.parametrize("stream", [False, True])
async def test_reports_cached_tokens_in_blocks_of_a_repeated_prompt(stream: bool) -> None:
    model = ScriptedModel([PAIR], titles=TITLES)
    long = request(prompts.COMPOSE, document(LEAVE + " and so on" * 500))
    body = long.body | {"stream": stream, "stream_options": {"include_usage": True}}
    async with ScriptedEndpoint() as endpoint, ClientSession() as session:
        endpoint.answers_with(model)
        texts = []
        for _ in range(2):
            async with session.post(f"{endpoint.base_url}/chat/completions", json=body) as reply:
                texts.append(await reply.text())
    tokens = len(long.text) // 4
    assert "cached_tokens" not in texts[0]
    assert f'"cached_tokens": {tokens - tokens % 128}' in texts[1]
    assert model.conversations[PAIR.id].steps == ["compose", "compose"]
