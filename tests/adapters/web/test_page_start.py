"""The start page and the field to ask in: example questions, files beside a question, finding a conversation."""

import re

import pytest

from adapters.web.ask.conversations import attached_texts
from adapters.web.routing import Visitor
from core.model.conversation import Audience, Person
from core.service.attached_files import ABOUT_FILES
from tests.adapters.web.page_office import Browser, PageOffice

LONG = "It is described here in enough words for a reader to learn something about it."
OPERATOR = Visitor(Person("web:operator", "you"), Audience(unrestricted=True), is_admin=True, csrf="")


def examples(text: str) -> list[str]:
    return re.findall(r'<button class="quiet" type="submit" name="question" value="([^"]+)"', text)


async def attached(
    office: PageOffice, browser: Browser, *files: tuple[str, bytes], question: str = "What is it?"
) -> str:
    """Ask with files, as a browser without scripts does; the name of the conversation."""
    await browser.get("/ask")
    there = (await browser.drop("/ask", *files, question=question)).headers["Location"]
    return there.removeprefix("/ask/").partition("#")[0]


async def test_three_questions_of_three_documents_are_offered_headings_that_ask_first() -> None:
    async with PageOffice().open() as office:
        for n in range(4):
            await office.harness.knows(LONG, title=f"Paper {n}", headings=["Opening hours"])
        await office.harness.knows(LONG, title="FAQ", headings=["How do I reset my password?"])
        shown = examples((await (await office.operator()).get("/ask")).text)
        assert shown[0] == "How do I reset my password?"
        assert len(set(shown)) == 3
        assert all("Opening hours" in one for one in shown[1:])


async def test_no_example_comes_from_a_base_that_the_reader_may_not_read() -> None:
    async with PageOffice().open() as office:
        visitor = Visitor(Person("web:user/ben", "ben"), Audience(frozenset({"web:user:ben"})), is_admin=False, csrf="")
        await office.harness.knows(
            LONG, title="Salaries", base="board", headings=["Who earns what?"], grants=frozenset({"x"})
        )
        screen = office.ask_screen
        assert await screen.examples.suggest(visitor.caller()) == ()
        assert await screen.examples.suggest(OPERATOR.caller()) == ("Who earns what?",)


async def test_a_file_beside_a_question_is_read_and_forgotten_with_its_conversation() -> None:
    async with PageOffice().open() as office:
        browser = await office.operator()
        name = await attached(office, browser, ("ferry.md", b"# Ferry\n\nIt leaves at nine."))
        (message,) = await office.conversations.questions(OPERATOR, name)
        (text,) = await office.page.attachments(message)
        assert (text.author, text.text) == ("ferry.md", "# Ferry\n\nIt leaves at nine.")
        assert "Attached: ferry.md" in (await browser.get(f"/ask/{name}")).text
        await browser.post(f"/ask/{name}/forget")
        assert await attached_texts(office.message_states, message) == ()


async def test_a_file_alone_asks_what_is_in_it_and_a_bad_one_says_why() -> None:
    async with PageOffice().open() as office:
        browser = await office.operator()
        files = [("a.md", b"# A"), ("bad.bin", b"\0"), ("c.md", b"# C"), ("d.md", b"# D")]
        name = await attached(office, browser, *files, question="")
        (message,) = await office.conversations.questions(OPERATOR, name)
        assert message.text == ABOUT_FILES
        texts = await office.page.attachments(message)
        assert [bool(text.unread) for text in texts] == [False, True, False, True]
        assert "no text" in texts[1].unread
        assert "first 3 files" in texts[3].unread


async def test_a_long_question_in_a_form_with_files_is_refused_and_not_cut() -> None:
    async with PageOffice().open() as office:
        browser = await office.operator()
        await browser.get("/ask")
        reply = await browser.drop("/ask", ("a.md", b"# A"), question="ä" * 4_001)
        assert reply.status == 422
        assert "4,001 characters" in reply.text
        assert (await browser.drop("/ask", ("a.md", b"# A"), question="ä" * 4_000)).status == 303


@pytest.mark.parametrize(
    ("words", "found"), [("refunds", 1), ("REFUNDS monthly", 1), ("monthly", 1), ("ferry", 0), ("", 2)]
)
async def test_conversations_are_found_by_the_words_of_all_their_questions(words: str, found: int) -> None:
    async with PageOffice().open() as office:
        await office.harness.knows(LONG, title="Paper")
        for name, texts in (
            ("a" * 16, ("How long do refunds take?", "And on a monthly plan?")),
            ("b" * 16, ("Who is on call?",)),
        ):
            for text in texts:
                await office.conversations.add(OPERATOR, name, text)
        page = (await (await office.operator()).get(f"/ask?find={words}")).text
        assert page.count('<li><a href="/ask/') == found
        assert ("None of your conversations contains these words." in page) is (found == 0)


async def test_the_same_form_sent_again_is_the_same_question() -> None:
    async with PageOffice().open() as office:
        add = office.conversations.add
        first = await add(OPERATOR, "a" * 16, "Who?", form="f")
        assert (await add(OPERATOR, "a" * 16, "Who?", form="f")).id == first.id
        assert (await add(OPERATOR, "a" * 16, "What?", form="f")).id != first.id
        assert (await add(OPERATOR, "a" * 16, "Who?")).id != first.id
        assert len(await office.conversations.questions(OPERATOR, "a" * 16)) == 3
