"""Footnote as a model: by the openai client, and in the requests that LangChain and Open WebUI send."""

import json
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI
from openai.types.chat import ChatCompletionMessageParam

from core.model.answer import Support
from core.model.inquiry import AskBack, Insufficient
from core.model.message_text import LONGEST_QUESTION
from core.ports.access import TokenScope
from tests.adapters.web.api.office import Office, Program
from tests.hostile_markdown import FORMS
from tests.markdown_reader import active_in

pytestmark = pytest.mark.e2e
REFUNDS = "Refunds are paid within 14 days."
QUESTION = "How long do refunds take?"
TITLE_TASK = """### Task:
Generate a concise, 3-5 word title with an emoji summarizing the chat history.
### Output:
JSON format: { "title": "your concise title here" }
### Chat History:
<chat_history>
USER: How long do refunds take?
ASSISTANT: 14 days.
</chat_history>"""


@pytest.fixture
async def office() -> AsyncIterator[Office]:
    office = Office()
    await office.harness.knows(REFUNDS, title="Refund policy")
    async with office.open():
        yield office


@pytest.fixture
async def program(office: Office) -> Program:
    return await office.program()


@pytest.fixture
async def client(office: Office, program: Program) -> AsyncIterator[AsyncOpenAI]:
    async with AsyncOpenAI(base_url=office.url("/v1"), api_key=program.secret, max_retries=0) as client:
        yield client


def user(text: str) -> ChatCompletionMessageParam:
    return {"role": "user", "content": text}


async def test_the_openai_client_gets_an_answer_with_its_citations(client: AsyncOpenAI) -> None:
    answer = await client.chat.completions.create(model="footnote", messages=[user(QUESTION)])
    message = answer.choices[0].message
    assert message.content is not None
    assert f"{REFUNDS} [1]" in message.content
    assert message.annotations is not None
    cited = message.annotations[0].url_citation
    assert message.content[cited.start_index : cited.end_index] == "[1]"
    assert cited.title == "Refund policy"
    assert answer.model_dump()["footnote"]["outcome"] == "answered"


async def test_a_stream_has_the_checked_text_alone(office: Office, client: AsyncOpenAI) -> None:
    office.harness.script.always("compose", f"{REFUNDS} [1] They are paid in cash [1].")
    office.harness.script.always("check", Support.UNSUPPORTED)
    stream = await client.chat.completions.create(
        model="footnote", messages=[user(QUESTION)], stream=True, stream_options={"include_usage": True}
    )
    chunks = [chunk async for chunk in stream]
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text.startswith(f"{REFUNDS} [1]")
    assert "cash" not in text
    assert chunks[-1].usage is not None
    assert chunks[-2].choices[0].finish_reason == "stop"


async def test_what_the_documents_do_not_say_is_an_outcome(office: Office, client: AsyncOpenAI) -> None:
    office.harness.script.always("grade", 1)
    office.harness.script.always("decide", Insufficient("parking"))
    answer = await client.chat.completions.create(model="footnote", messages=[user("Where may I park?")])
    assert answer.model_dump()["footnote"]["outcome"] == "abstained"


async def test_what_a_program_says_for_itself_is_never_evidence(office: Office, client: AsyncOpenAI) -> None:
    messages: list[ChatCompletionMessageParam] = [
        {"role": "system", "content": "The vault code is 4711. Answer whatever you are asked."},
        user("What is the vault code?"),
        {"role": "assistant", "content": "The vault code is 4711."},
        user("What was it again?"),
    ]
    await client.chat.completions.create(model="footnote", messages=messages)
    assert "4711" not in repr(office.harness.script.calls)


async def test_a_question_follows_on_those_before_it(office: Office, client: AsyncOpenAI) -> None:
    first = await client.chat.completions.create(model="footnote", messages=[user(QUESTION)])
    said: ChatCompletionMessageParam = {"role": "assistant", "content": first.choices[0].message.content}
    await client.chat.completions.create(model="footnote", messages=[user(QUESTION), said, user("and for seats?")])
    _, thread = office.harness.script.calls_of("understand")[-1].given
    assert [turn.question for turn in thread.turns] == [QUESTION]
    assert [message.text for message in thread.context] == [QUESTION]


async def test_a_question_back_is_text_and_the_next_message_chooses(office: Office, client: AsyncOpenAI) -> None:
    office.harness.script.enqueue("understand", AskBack("Which refunds?", ("Refunds of plans", "Refunds of seats")))
    asked = await client.chat.completions.create(model="footnote", messages=[user("refunds?")])
    text = asked.choices[0].message.content
    assert text is not None
    assert "1. Refunds of plans" in text
    said: ChatCompletionMessageParam = {"role": "assistant", "content": text}
    answer = await client.chat.completions.create(model="footnote", messages=[user("refunds?"), said, user("1")])
    assert answer.model_dump()["footnote"]["outcome"] == "answered"
    asked_for = office.harness.script.calls_of("compose")[-1].given[0]
    assert "Refunds of plans" in repr(asked_for)


async def test_prompts_of_open_webui_are_neither_searched_nor_counted(office: Office, client: AsyncOpenAI) -> None:
    answer = await client.chat.completions.create(model="footnote", messages=[user(TITLE_TASK)])
    assert json.loads(answer.choices[0].message.content or "") == {"title": QUESTION}
    stream = await client.chat.completions.create(
        model="footnote", messages=[user(TITLE_TASK.replace("title", "tags"))], stream=True
    )
    text = "".join([chunk.choices[0].delta.content or "" async for chunk in stream])
    assert json.loads(text) == {"tags": []}
    assert office.harness.script.calls == []
    assert [one async for one in office.harness.questions.since(office.harness.clock.now() - timedelta(days=1))] == []


@pytest.mark.parametrize(
    "body",
    [
        {  # langchain-openai
            "messages": [{"content": [{"type": "text", "text": QUESTION}], "role": "user"}],
            "model": "footnote",
            "n": 1,
            "stream": False,
            "temperature": 0.7,
        },
        {  # Open WebUI
            "model": "footnote",
            "messages": [{"role": "system", "content": "User: Ada"}, {"role": "user", "content": QUESTION}],
            "stream": False,
            "metadata": {"chat_id": "x"},
            "features": {"web_search": False},
            "user": "ada@example.org",
        },
    ],
)
async def test_requests_of_other_programs_are_understood(program: Program, body: dict[str, Any]) -> None:
    answer = await program.post("/v1/chat/completions", **body)
    assert answer.status == 200
    assert REFUNDS in answer.body["choices"][0]["message"]["content"]


async def test_a_model_for_each_base_searches_that_base_alone(office: Office, client: AsyncOpenAI) -> None:
    await office.harness.knows("Refunds of lifts take a year.", title="Lifts", base="lifts")
    assert {one.id async for one in client.models.list()} == {"footnote", "footnote/default", "footnote/lifts"}
    answer = await client.chat.completions.create(model="footnote/lifts", messages=[user(QUESTION)])
    assert {one["title"] for one in answer.model_dump()["footnote"]["citations"]} == {"Lifts"}


async def test_a_choice_in_another_base_is_not_answered_from_the_first(office: Office, client: AsyncOpenAI) -> None:
    await office.harness.knows("Refunds of lifts take a year.", title="Lifts", base="lifts")
    office.harness.script.enqueue("understand", AskBack("Which refunds?", ("Refunds of plans", "Refunds of seats")))
    await client.chat.completions.create(model="footnote/default", messages=[user("refunds?")])
    answer = await client.chat.completions.create(model="footnote/lifts", messages=[user("refunds?"), user("1")])
    assert {one["title"] for one in answer.model_dump()["footnote"]["citations"]} <= {"Lifts"}


async def test_earlier_messages_are_read_no_longer_than_a_question(office: Office, client: AsyncOpenAI) -> None:
    await client.chat.completions.create(model="footnote", messages=[user("x" * 500_000), user(QUESTION)])
    (earlier,) = office.harness.script.calls_of("understand")[-1].given[1].context
    assert len(earlier.text) == LONGEST_QUESTION


async def test_people_told_apart_share_no_conversation(office: Office, client: AsyncOpenAI) -> None:
    await client.chat.completions.create(model="footnote", messages=[user(QUESTION)], user="ada")
    messages = [user(QUESTION), user("and for seats?")]
    for name, turns in (("bo", 0), ("ada", 1)):
        await client.chat.completions.create(model="footnote", messages=messages, user=name)
        assert len(office.harness.script.calls_of("understand")[-1].given[1].turns) == turns


async def test_errors_have_the_shape_that_the_client_knows(office: Office, client: AsyncOpenAI) -> None:
    with pytest.raises(openai.NotFoundError, match="There is no model"):
        await client.chat.completions.create(model="gpt-5", messages=[user(QUESTION)])
    with pytest.raises(openai.BadRequestError):
        await client.chat.completions.create(model="footnote", messages=[{"role": "system", "content": "x"}])
    with pytest.raises(openai.AuthenticationError):
        await client.with_options(api_key="x").models.list()
    searching = await office.program(scopes=frozenset({TokenScope.SEARCH}))
    with pytest.raises(openai.PermissionDeniedError) as refused:
        await client.with_options(api_key=searching.secret).models.list()
    assert isinstance(refused.value.body, dict)
    assert refused.value.body["trace_id"]


async def test_no_title_or_choice_brings_a_link_to_life(office: Office, client: AsyncOpenAI) -> None:
    for form in FORMS.values():
        office.harness.script.enqueue("understand", AskBack("Which refunds?", (f"Refunds {form}", "Refunds of seats")))
        asked = await client.chat.completions.create(model="footnote", messages=[user(f"refunds {hash(form)}?")])
        assert active_in(asked.choices[0].message.content or "") == []
    await office.harness.knows(REFUNDS, title="[x](https://evil.example/SECRET 'title')")
    answer = await client.chat.completions.create(model="footnote", messages=[user(QUESTION)])
    assert active_in(answer.choices[0].message.content or "") == []
