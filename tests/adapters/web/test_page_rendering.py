"""The web page never links to, loads or runs anything that a document or a model wrote.

Every hostile text of the platforms' tests goes through the real answer view and the real screens, and what a browser
would get is read by the standard library's parser.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace

import pytest

from adapters.web.ask.answer_view import WebQuestionState
from adapters.web.ask.live_streams import LiveAnswer
from adapters.web.markdown import render_answer, render_passage, render_quote, words_of
from adapters.web.routing import Visitor
from adapters.web.source_screen import mark_quote
from core.ingestion.passage_vectors import vectors_of
from core.model.answer import Outcome
from core.model.conversation import Audience, Person, Turn
from core.model.events import AgentEvent
from core.model.knowledge import Document, KnowledgeBase, Passage
from core.ports.platform import MessageState
from core.service.event_presenter import EventPresenter
from tests.adapters.web.page_office import Browser, Elements, PageOffice
from tests.e2e.hostile_runs import TRACE, answering, asking, citation, failing
from tests.e2e.hostile_texts import ALLOWED, HOSTILE

pytestmark = pytest.mark.e2e

OPERATOR = Visitor(Person("web:operator", "you"), Audience(unrestricted=True), is_admin=True, csrf="")
OURS = {"html", "head", "meta", "title", "link", "script", "body", "header", "main", "nav", "form", "button", "input",
        "label", "textarea", "select", "option", "section", "article", "aside", "footer", "div", "span", "p", "a", "h1",
        "h2", "h3", "ul", "ol", "li", "table", "thead", "tbody", "tr", "th", "td", "code", "pre", "em", "strong", "sup",
        "blockquote", "br", "hr", "del", "s", "mark", "details", "summary", "fieldset", "legend", "noscript",
        "datalist", "dl", "dt", "dd", "svg", "rect", "img", "h4", "h5", "h6", "progress", "dialog", "kbd"}  # fmt: skip
DISGUISE = set("\x00\x07\x0b\x1b\x9b\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2028\u2066\u2067\u2068\u2069")
MORE = {
    "a tag": "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "out of an attribute": '" onmouseover="alert(1)" x="',
    "out of a title": "</title></textarea></script><script>alert(1)</script>",
    "htmx": '<p hx-get="https://evil.example" hx-trigger="load">x</p>',
    "style": '<style>*{display:none}</style><p style="position:fixed">x</p>',
    "template": "{{ 7 * 7 }}{% raw %}",
    "svg": '<svg onload="alert(1)"><a href="javascript:alert(1)">x</a></svg>',
    "mark of ours": '<mark id="quote">x</mark>&lt;script&gt;',
}
EVERY = {**HOSTILE, **MORE}


def assert_harmless(html: str, what: str = "", source: str = ALLOWED) -> None:
    """Assert that there are only our elements, no scripts, and no addresses except ours and the source's."""
    for tag, attributes in Elements(html).found:
        assert tag in OURS, (what, tag)
        for name, value in attributes.items():
            assert not name.startswith("on"), (what, name)
            assert name != "style", what
            if name in ("href", "src", "action", "formaction", "hx-get", "hx-post", "sse-connect"):
                path = value.startswith(("/", "#")) and not value.startswith(("//", "/\\"))
                assert path or value in (ALLOWED, source), (what, tag, name, value)
        if tag == "script":
            assert attributes.get("src", "").startswith("/static/"), what
        if tag == "img":
            assert attributes["src"].startswith("/documents/"), what
    assert not DISGUISE & set(html), what


async def many(play: Callable[[str, str], Awaitable[None]]) -> None:
    places = asyncio.Semaphore(32)

    async def one(name: str, hostile: str) -> None:
        async with places:
            await play(name, hostile)

    await asyncio.gather(*(one(name, hostile) for name, hostile in EVERY.items()))


@pytest.mark.parametrize("name", EVERY)
def test_an_answer_and_a_passage_render_to_nothing_that_acts(name: str) -> None:
    text = f"Before. {EVERY[name]}\n\nRefunds take [14 days]({ALLOWED}) [1]. {EVERY[name]} [1]"
    answer = render_answer(text, (1,), lambda n: f"/ask/a/b/source/{n}", (ALLOWED,))
    assert_harmless(answer, name)
    assert 'href="/ask/a/b/source/1"' in answer or "```" in EVERY[name], "code keeps its brackets"
    assert_harmless(mark_quote(render_passage(text), "Refunds take 14 days"), name)
    assert_harmless(f"<p>{mark_quote(render_passage(EVERY[name]), words_of(EVERY[name]))}</p>", name)
    assert_harmless(render_quote(text), name)
    for shown in (render_passage(text), render_quote(text)):
        assert not Elements(shown).all("a"), "a document's own links lead nowhere"


def test_rows_of_a_table_are_a_table_in_a_quote_without_an_empty_head() -> None:
    html = render_quote("| Up to €250 | The agent |\n| Above €250 | The lead |")
    assert [tag for tag, _ in Elements(html).found if tag in ("thead", "tr", "td")] == [
        "tr",
        "td",
        "td",
        "tr",
        "td",
        "td",
    ]
    assert "|" not in html
    whole = render_quote("| Amount | Who |\n|---|---|\n| Up to €250 | The agent |")
    assert len(Elements(whole).all("th")) == 2


def test_a_heading_in_a_quote_is_bold_and_no_heading() -> None:
    html = render_quote("## Hotels\n\nThe limit is €140.")
    assert "<strong>Hotels</strong>" in html
    assert "<h2" not in html


async def _shown(office: PageOffice, browser: Browser, events: AsyncIterator[AgentEvent], text: str) -> None:
    """A run as it streams, and as it stands at its end."""
    name = f"{abs(hash(text)) % 16**16:016x}"
    message = await office.conversations.add(OPERATOR, name, text)
    state = WebQuestionState(thread=message.thread, message=message.id, asker=OPERATOR.person.id)
    message_state = MessageState(office.message_states, state, delivery=message.id)
    view = office.page.answer_view(message, message_state, TRACE + name)
    turn = Turn(text, text, Outcome.ANSWERED, OPERATOR.person, office.harness.clock.now(), TRACE + name)
    await office.harness.memory.remember(message.thread, replace(turn, citations=(citation(text),)), ())
    await view.open()
    await EventPresenter(view, TRACE + name).show(events)
    live = LiveAnswer()
    live.apply((await office.stream.read(str(message.thread), message.id)).updates)
    for _, part in office.live.render(live):
        assert_harmless(part, text)
    conversation = await browser.get(f"/ask/{name}")
    assert conversation.status == 200
    assert_harmless(conversation.text, text)
    assert_harmless((await browser.get(f"/ask/{name}/{message.id}/trace")).text, text)


async def test_no_conversation_holds_anything_that_acts() -> None:
    async with PageOffice().open() as office:
        await office.harness.catalog.save_base(KnowledgeBase("default"))
        browser = await office.operator()

        async def play(name: str, hostile: str) -> None:
            for run in (answering, asking, failing):
                await _shown(office, browser, run(hostile), f"{hostile} {run.__name__}")

        await many(play)
        assert_harmless((await browser.get("/ask")).text)


async def test_no_document_and_no_base_holds_anything_that_acts() -> None:
    async with PageOffice().open() as office:
        browser = await office.operator()

        async def play(name: str, hostile: str) -> None:
            key, catalog = f"d{abs(hash(hostile))}", office.harness.catalog
            base = KnowledgeBase(key, hostile, frozenset({hostile}))
            await catalog.save_base(base)
            document = Document(key, base.name, hostile, hostile, "v1", hostile, 1, url=hostile, dated=hostile)
            passage = Passage(key, base.name, key, "v1", "s", 0, hostile, hostile, (hostile,), source=hostile)
            await office.harness.index.add([passage], await vectors_of([passage], office.harness.encoder))
            await catalog.publish(document)
            await office.room.audit.record(hostile, hostile, hostile, allowed=False, detail=hostile)
            for path in (f"/documents/{key}", f"/knowledge/bases/{base.name}"):
                reply = await browser.get(path)
                assert reply.status == 200, (name, reply.text)
                assert_harmless(reply.text, name, source=hostile)  # where it came from may be opened, and that alone

        await many(play)
        for path in ("/knowledge", "/knowledge/audit", "/inspect?q=refund", "/inspect/settings?place=%3Cscript%3E"):
            assert_harmless((await browser.get(path)).text, path)


def test_the_small_headings_of_a_merged_passage_are_lines_of_their_own() -> None:
    html = render_passage("Hotels\nThe hotel limit is €140 per night.\n\nPer diem\nThe daily allowance is €38.")
    for heading in ("Hotels", "Per diem"):
        assert f"<p><strong>{heading}</strong></p>" in html
