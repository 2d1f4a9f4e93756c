"""Asking on the web page, without a browser: queueing, storing and errors."""

import pytest

from adapters.web.ask.live_streams import LiveAnswer
from adapters.web.uploads import file_name
from core.model.channel_settings import ChannelSettings
from core.model.inquiry import AnswerPolicy, AskBack
from tests.adapters.web.page_office import Browser, Elements, PageOffice

pytestmark = pytest.mark.e2e


async def test_what_could_not_be_put_in_line_is_not_shown_as_waiting() -> None:
    async with PageOffice().open() as office:
        browser = await office.operator()
        first = await browser.post("/ask", {"question": "one?"})
        conversation = first.headers["Location"].partition("#")[0]
        accepted = 1
        while (reply := await browser.post(conversation, {"question": "and?"})).status == 303:
            accepted += 1
            assert accepted < 200, "there is no end to what one may have waiting"
        assert reply.status == 429
        page = (await browser.get(conversation)).text
        assert len(Elements(page).all("article")) == accepted


async def test_a_draft_stands_under_a_line_that_says_it_is_not_checked() -> None:
    async with PageOffice().open() as office:
        parts = dict(office.live.render(LiveAnswer(text="Refunds take **14")))
        assert "Draft, not checked yet" in parts["text"]
        assert "Refunds take **14" in parts["text"]
        assert dict(office.live.render(LiveAnswer()))["text"] == ""


async def test_the_final_answer_takes_the_place_of_the_draft_and_its_line() -> None:
    async with PageOffice().open() as office:
        await office.room.adds("handbook", refunds_md="Refunds take 14 days.")
        browser = await office.operator()
        question = await office.asked(browser, "How long do refunds take?")
        ended = (await browser.get(f"{question}/stream")).text
        assert "event: done" in ended
        assert "Refunds take 14 days." in ended
        assert "not checked yet" not in ended.partition("event: done")[2]


async def test_an_answer_is_asked_rated_and_forgotten() -> None:
    async with PageOffice().open() as office:
        await office.room.adds("handbook", refunds_md="Refunds take 14 days.")
        browser = await office.operator()
        question = await office.asked(browser, "How long do refunds take?")
        conversation = question.rpartition("/")[0]
        shown = (await browser.get(conversation)).text
        assert "14 days" in shown
        assert f'href="{question}/source/1"' in shown
        source = (await browser.get(f"{question}/source/1")).text
        assert '<mark id="quote">Refunds take 14 days</mark>' in source
        assert (await browser.post(f"{question}/rate", {"helpful": "no", "reason": "outdated"})).status == 303
        assert 'value="no" type="submit"' in (await browser.get(conversation)).text
        assert (await browser.post(f"{conversation}/forget")).status == 303
        assert (await browser.get(conversation)).status == 404
        assert "How long do refunds take?" not in (await browser.get("/ask")).text


async def test_an_admins_correction_goes_to_the_base_of_the_answer() -> None:
    async with PageOffice().open() as office:
        await office.room.adds("default", lunch_md="Lunch is at noon.")
        await office.room.adds("board", refunds_md="Refunds take 14 days.")
        browser = await office.operator()
        question = await office.asked(browser, "How long do refunds take?")
        await browser.post(f"{question}/correct", {"answer": "Refunds take 30 days."})
        jobs = [job for job in await office.room.jobs.recent(5) if job.platform == "web"]
        assert [(job.base, job.items[0].title) for job in jobs] == [("board", "How long do refunds take?")]


async def test_the_owner_is_told_of_sources_that_differ_and_decides_on_the_page() -> None:
    async with PageOffice().open() as office:
        await office.harness.knows("Logs are kept for 30 days.", title="Runbook", dated="2024-05-02")
        await office.harness.knows("Logs are kept for 90 days.", title="Retention", dated="2026-03-09")
        browser = await office.operator()
        question = await office.asked(browser, "How long are logs kept?")
        assert "Tell the document's owner" in (await browser.get(question.rpartition("/")[0])).text
        assert "can now decide" in (await browser.post(f"{question}/owner")).text
        again = await browser.post(f"{question}/owner")
        assert again.status == 400
        assert "already know" in again.text
        (proposal,) = await office.room.proposal_store.proposals()
        page = (await browser.get("/knowledge/proposals")).text
        assert f'value="{proposal.id} a"' in page
        assert "B is right" in page
        await browser.post("/knowledge/do", {"verb": "approve", "target": f"{proposal.id} a"})
        (job,) = await office.room.jobs.recent(5)
        assert "Logs are kept for 90 days." in job.items[0].reference


async def test_what_is_suggested_below_an_answer_is_asked_by_its_button() -> None:
    async with PageOffice(settings=ChannelSettings(AnswerPolicy(follow_ups=True))).open() as office:
        await office.harness.knows(
            "Refunds to credit cards are booked to the card that was charged, without a fee.",
            "Refunds to gift cards are paid as a voucher, good for twelve months from that day.",
            title="Cards",
            headings=("Credit cards", "Gift cards"),
        )
        office.harness.script.enqueue("compose", "They are booked to the card [1].")
        browser = await office.operator()
        question = await office.asked(browser, "How are refunds to cards paid?")
        conversation = question.rpartition("/")[0]
        page = Elements((await browser.get(conversation)).text)
        (asked, *_) = [one["value"] for one in page.all("button") if one.get("name") == "question"]
        assert asked.startswith("What does “Cards” say about “")
        assert (await browser.post(conversation, {"question": asked})).status == 303
        await office.works()
        assert len(Elements((await browser.get(conversation)).text).all("article")) == 2


@pytest.mark.parametrize(("sentences", "leads_there"), [(1, False), (40, True)])
async def test_a_long_answer_leads_to_its_sources_below_the_screen(sentences: int, *, leads_there: bool) -> None:
    async with PageOffice().open() as office:
        await office.harness.knows("Refunds to cards are booked to the card that was charged.", title="Cards")
        said = "Refunds to cards are booked to the card that was charged [1]."
        office.harness.script.enqueue("compose", "\n\n".join([said] * sentences))
        browser = await office.operator()
        question = await office.asked(browser, "How are refunds to cards paid?")
        page = Elements((await browser.get(question.rpartition("/")[0])).text)
        (sources,) = [one["id"] for one in page.all("section") if one.get("class") == "sources"]
        links = [one for one in page.all("a") if one.get("href") == f"#{sources}"]
        assert bool(links) is leads_there


async def test_a_choice_counts_once() -> None:
    async with PageOffice().open() as office:
        browser = await office.operator()
        question = await asked_back(office, browser)
        pressed = choices_on((await browser.get(question.rpartition("/")[0])).text)
        assert (await browser.post(f"{question}/choose", pressed)).status == 303
        again = (await browser.post(f"{question}/choose", pressed)).status
        assert again in {303, 404}, "the same press once more, or it is worked on already"
        await office.works()
        assert (await browser.post(f"{question}/choose", pressed)).status == 404, "when it is done"
        assert "45 minutes" in (await browser.get(question.rpartition("/")[0])).text


async def test_a_choice_that_could_not_be_put_in_line_can_be_made_again() -> None:
    async with PageOffice().open() as office:
        browser = await office.operator()
        question = await asked_back(office, browser)
        conversation = question.rpartition("/")[0]
        pressed = choices_on((await browser.get(conversation)).text)
        while (await browser.post("/ask", {"question": "one?"})).status == 303:
            pass
        assert (await browser.post(f"{question}/choose", pressed)).status == 429
        assert choices_on((await browser.get(conversation)).text) == pressed
        await office.works()
        assert (await browser.post(f"{question}/choose", pressed)).status == 303
        await office.works()
        assert "45 minutes" in (await browser.get(conversation)).text


async def asked_back(office: PageOffice, browser: Browser) -> str:
    """Have a question asked back; the path of the question, whose card waits."""
    await office.harness.knows("The job timeout is 45 minutes.", title="Timeouts")
    office.harness.script.enqueue("understand", AskBack("Which timeout?", ("What is the job timeout?", "Which other?")))
    return await office.asked(browser, "What is the timeout?")


def choices_on(page: str) -> dict[str, str]:
    """What the form of the first choice on a page sends."""
    (checkpoint, *_) = [one["value"] for one in Elements(page).all("input") if one.get("name") == "checkpoint"]
    (choice, *_) = [one["value"] for one in Elements(page).all("button") if one.get("name") == "choice"]
    return {"checkpoint": checkpoint, "choice": choice}


@pytest.mark.parametrize("question", ["", "   ", "x" * 4_001])
async def test_what_is_no_question_is_said_so(question: str) -> None:
    async with PageOffice().open() as office:
        reply = await (await office.operator()).post("/ask", {"question": question})
        assert reply.status == 422
        assert 'role="alert"' in reply.text


async def test_files_that_are_too_many_or_too_large_are_left_out_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adapters.web.uploads.LARGEST", 1_000)
    async with PageOffice().open() as office:
        browser = await office.operator()
        files = [(f"{n}.md", b"# A") for n in range(11)]
        reply = await browser.drop("/knowledge/files", ("large.md", b"x" * 1_001), *files, base="handbook")
        assert "large.md is left out" in reply.text
        assert "10.md is left out: at most 10 files" in reply.text
        (job,) = await office.room.jobs.recent()
        assert len(job.items) == 10


@pytest.mark.parametrize("given", ["../../etc/a.md", "..\\..\\a.md", "/a.md", "C:\\a.md", "\u202ea.md", "x/\x00a.md"])
def test_a_files_name_leads_into_no_folder(given: str) -> None:
    assert file_name(given) == "a.md"


async def test_why_tells_the_steps_alone_whatever_the_question_looks_like() -> None:
    async with PageOffice().open() as office:
        await office.room.adds("handbook", refunds_md="Refunds take 14 days.")
        browser = await office.operator()
        question = await office.asked(browser, "How long do\n• refunds take?")
        told = (await browser.get(f"{question}/why", **{"HX-Request": "true"})).text
        assert "I searched" in told
        assert "<li>Trace " in told
        assert "refunds take?”" not in told.partition("I searched")[0]
