"""Permissions of the web page, and requests that it refuses."""

import re
from dataclasses import replace

import pytest

from adapters.web.access.rules import AccessRules, fits, hash_password
from adapters.web.access.sign_in import new_sign_in_path
from core.model.errors import ConfigurationError
from core.model.knowledge import KnowledgeBase
from tests.adapters.web.page_office import Browser, PageOffice

pytestmark = pytest.mark.e2e

CARL = frozenset({"web:user:carl"})
SECRET = "The canary is called Pelagia."
PATHS = ("/", "/ask", "/knowledge", "/inspect", "/inspect/trace?id=x", "/knowledge/audit", "/documents/x",
         "/setup", "/setup/slack", "/ask/0123456789abcdef", "/ask/0123456789abcdef/1/source/1",
         "/ask/0123456789abcdef/1/stream")  # fmt: skip
ADMINS_ALONE = ("/knowledge/jobs", "/knowledge/proposals", "/knowledge/removed", "/knowledge/audit", "/inspect",
                "/inspect/settings", "/inspect/doctor?run=yes", "/inspect/trace?id=x")  # fmt: skip
PASSWORDS = AccessRules(password_hash=hash_password("long and secret"), reader_password_hash=hash_password("read me"))
PROXY = AccessRules(identity_header="X-Forwarded-User", proxies=("127.0.0.1",), admins=("ada",))


async def sign_in(browser: Browser, password: str) -> int:
    await browser.get("/sign-in")
    reply = await browser.post("/sign-in", {"password": password})
    await browser.get("/knowledge")
    return reply.status


@pytest.mark.parametrize("path", PATHS)
async def test_nobody_sees_anything_without_a_session(path: str) -> None:
    async with PageOffice().open() as office:
        reply = await office.browser().get(path)
        assert reply.status == 303
        assert reply.headers["Location"].startswith("/sign-in")


async def test_the_link_signs_in_once() -> None:
    async with PageOffice().open() as office:
        link = await new_sign_in_path(office.sessions)
        first, second = office.browser(), office.browser()
        assert (await first.post(link)).status == 303
        assert (await second.post(link)).status == 403
        assert ((await first.get("/ask")).status, (await second.get("/ask")).status) == (200, 303)


async def test_looking_at_a_link_uses_nothing_up() -> None:
    async with PageOffice().open() as office:
        link, program = await new_sign_in_path(office.sessions), office.browser()
        for method in ("GET", "HEAD", "GET"):
            assert (await program.send(method, link, {})).status == 200
        assert program.cookies == {}
        for origin in ("https://evil.example", ""):
            assert (await program.post(link, Origin=origin)).status == 403
        shown = await office.browser().get(link)
        assert re.search(r'<form class="stack" method="post"><button', shown.text)
        assert (await office.browser().post(link)).status == 303


async def test_the_cookie_is_out_of_reach_of_scripts_and_foreign_forms() -> None:
    async with PageOffice().open() as office:
        reply = await office.browser().post(await new_sign_in_path(office.sessions))
        assert {"HttpOnly", "SameSite=Lax"} <= set(reply.headers["Set-Cookie"].split("; "))


async def test_signing_out_ends_the_session_for_good() -> None:
    async with PageOffice().open() as office:
        browser = await office.operator()
        kept = dict(browser.cookies)
        assert (await browser.post("/sign-out")).status == 303
        browser.cookies = kept
        assert (await browser.get("/ask")).status == 303


async def test_every_answer_keeps_what_is_foreign_out() -> None:
    async with PageOffice().open() as office:
        browser = await office.operator()
        for path in (*PATHS, "/sign-in", "/nothing/there"):
            headers = (await browser.get(path)).headers
            if path == "/nothing/there":
                continue  # not ours to answer
            policy = headers["Content-Security-Policy"]
            assert "script-src 'self'" in policy
            assert "unsafe" not in policy
            assert "frame-ancestors 'none'" in policy
            assert headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1", ""])
async def test_a_form_of_another_page_changes_nothing(origin: str) -> None:
    async with PageOffice().open() as office:
        browser = await office.operator()
        reply = await browser.post("/knowledge/do", {"verb": "create", "base": "mine"}, Origin=origin)
        assert reply.status == 403
        assert await office.harness.catalog.bases() == []


@pytest.mark.parametrize("token", ["", "guessed", "\u00e9"])
async def test_a_form_without_the_sessions_token_changes_nothing(token: str) -> None:
    async with PageOffice().open() as office:
        browser = await office.operator()
        browser.csrf = token
        assert (await browser.post("/knowledge/do", {"verb": "create", "base": "mine"})).status == 403
        browser.csrf = token  # the page that said no has the right one
        assert (await browser.drop("/knowledge/files", ("a.md", b"# A"))).status == 403
        assert await office.harness.catalog.bases() == []


async def test_a_foreign_name_that_leads_here_is_turned_away() -> None:
    async with PageOffice().open() as office:
        browser = await office.operator()
        assert (await browser.get("/ask", Host="evil.example")).status == 403
    async with PageOffice(AccessRules(address="https://footnote.example.com")).open() as office:
        browser = office.browser()
        assert (await browser.get("/sign-in", Host="footnote.example.com")).status == 200


async def test_a_password_lets_in_an_admin_or_a_reader_and_nobody_else() -> None:
    async with PageOffice(PASSWORDS).open() as office:
        admin, reader, stranger = office.browser(), office.browser(), office.browser()
        assert [await sign_in(admin, "long and secret"), await sign_in(reader, "read me")] == [303, 303]
        assert await sign_in(stranger, "long and secre") == 403
        for path in ADMINS_ALONE:
            assert (await reader.get(path)).status == 403, path
        assert (await admin.get("/knowledge/audit")).status == 200
        assert "page /knowledge/audit" in (await admin.get("/knowledge/audit")).text, "the refusal is on record"


async def test_who_guesses_passwords_is_slowed_down() -> None:
    async with PageOffice(PASSWORDS).open() as office:
        browser = office.browser()
        statuses = [await sign_in(browser, "guess") for _ in range(11)]
        assert statuses == [403] * 10 + [429]


async def test_who_guesses_behind_a_proxy_slows_nobody_else_down() -> None:
    async with PageOffice(replace(PASSWORDS, proxies=("127.0.0.1",))).open() as office:
        guesser = office.browser(**{"X-Forwarded-For": "10.0.0.9, 192.0.2.7"})
        assert [await sign_in(guesser, "guess") for _ in range(11)] == [403] * 10 + [429]
        other = office.browser(**{"X-Forwarded-For": "192.0.2.7, 192.0.2.8"})  # an earlier value is ignored
        assert await sign_in(other, "read me") == 303
        again = office.browser(**{"X-Forwarded-For": "made up, 192.0.2.7"})
        assert await sign_in(again, "guess") == 429


async def test_who_comes_by_no_proxy_is_counted_by_where_they_come_from_whatever_they_say() -> None:
    async with PageOffice(PASSWORDS).open() as office:
        browsers = [office.browser(**{"X-Forwarded-For": f"192.0.2.{number}"}) for number in range(11)]
        assert [await sign_in(browser, "guess") for browser in browsers] == [403] * 10 + [429]


async def test_two_readers_with_one_password_do_not_see_each_others_questions() -> None:
    async with PageOffice(PASSWORDS).open() as office:
        await office.harness.knows("Refunds take 14 days.", title="Refunds")
        one, other = office.browser(), office.browser()
        for browser in (one, other):
            await sign_in(browser, "read me")
        question = await office.asked(one, "How long do refunds take?")
        assert (await one.get(question.rpartition("/")[0])).status == 200
        for path in (question.rpartition("/")[0], f"{question}/source/1", f"{question}/trace", f"{question}/stream"):
            assert (await other.get(path)).status == 404, path


async def test_a_proxys_word_counts_and_nobody_elses() -> None:
    async with PageOffice(PROXY).open() as office:
        ada, ben = office.browser(**{"X-Forwarded-User": "Ada"}), office.browser(**{"X-Forwarded-User": "ben"})
        assert (await ada.get("/knowledge/audit")).status == 200
        assert [(await ben.get("/ask")).status, (await ben.get("/knowledge/audit")).status] == [200, 403]
        ada.headers = {}
        assert (await ada.get("/ask")).status == 303, "signed out at the proxy is signed out here"
    async with PageOffice(AccessRules(identity_header="X-Forwarded-User", proxies=("10.0.0.1",))).open() as office:
        assert (await office.browser(**{"X-Forwarded-User": "ada"}).get("/ask")).status == 303
    async with PageOffice().open() as office:  # off unless set
        assert (await office.browser(**{"X-Forwarded-User": "ada"}).get("/ask")).status == 303


def test_a_proxy_has_to_be_named() -> None:
    with pytest.raises(ConfigurationError, match="WEB_PROXIES"):
        AccessRules(identity_header="X-Forwarded-User")
    with pytest.raises(ConfigurationError, match="footnote web --hash"):
        AccessRules(password_hash="in the clear")


def test_a_hash_fits_its_password_alone() -> None:
    kept = hash_password("pässword")
    assert fits("pässword", kept)
    assert not fits("password", kept)
    assert not fits("x" * 100_000, kept)
    assert hash_password("pässword") != kept, "salted"


async def test_words_of_a_base_that_one_may_not_read_come_by_no_path() -> None:
    async with PageOffice(PASSWORDS).open() as office:
        await office.harness.knows(SECRET, title="Pelagia's file", base="board", grants=CARL)
        (hidden,) = await office.harness.catalog.documents(frozenset({"board"}))
        reader = office.browser()
        await sign_in(reader, "read me")
        question = await office.asked(reader, "What is the canary called?")
        conversation = question.rpartition("/")[0]
        for path in ("/ask", "/knowledge", "/knowledge/bases/board", conversation, f"{question}/why",
                     f"{question}/trace", f"{question}/source/1", f"/documents/{hidden.id}",
                     f"/documents/{hidden.id}/{hidden.version}/page/1.png"):  # fmt: skip
            text = (await reader.get(path)).text
            assert "Pelagia" not in text.replace("What is the canary called?", ""), path
        streamed = await reader.get(f"{question}/stream")
        assert "Pelagia" not in streamed.text


async def test_a_base_can_be_for_somebody_at_the_page() -> None:
    async with PageOffice(PROXY).open() as office:
        ada = office.browser(**{"X-Forwarded-User": "ada"})
        carl, ben = (office.browser(**{"X-Forwarded-User": f"{name}@example.com"}) for name in ("carl", "ben"))
        await office.harness.knows(SECRET, title="Pelagia's file", base="board")
        await ada.get("/knowledge")
        whom = {"verb": "grant", "base": "board", "principals": "web:user:carl@example.com", "confirmed": "yes"}
        assert "restricted to web:user:carl@example.com" in (await ada.post("/knowledge/do", whom)).text
        assert "/bases/board" in (await carl.get("/knowledge")).text
        assert "/bases/board" not in (await ben.get("/knowledge")).text


async def test_what_was_answered_is_hidden_again_when_its_base_is() -> None:
    async with PageOffice(PASSWORDS).open() as office:
        await office.harness.knows("Refunds take 14 days.", title="Refunds", base="default")
        reader = office.browser()
        await sign_in(reader, "read me")
        question = await office.asked(reader, "How long do refunds take?")
        assert "14 days" in (await reader.get(question.rpartition("/")[0])).text
        await office.harness.catalog.save_base(KnowledgeBase("default", "", CARL))
        for path in (question.rpartition("/")[0], f"{question}/source/1", f"{question}/trace", f"{question}/stream"):
            assert "14 days" not in (await reader.get(path)).text, path


@pytest.mark.parametrize("path", [
    "/static/x/..%2f..%2fplatform.py", "/static/x/%2e%2e%2fpages.py", "/static/x/VENDORED.md", "/static/x/style.css%00",
    "/documents/..%2f..%2fetc/passwd", "/documents/x/1/page/..%2f1.png", "/knowledge/bases/..%2f..%2fetc%2fpasswd",
    "/ask/..%2f..%2fetc",
])  # fmt: skip
async def test_no_path_leads_out(path: str) -> None:
    async with PageOffice().open() as office:
        reply = await (await office.operator()).get(path)
        assert reply.status in (403, 404)
        assert "root:" not in reply.text
        assert "import " not in reply.text


@pytest.mark.parametrize(
    "there", ["https://evil.example/", "//evil.example/", "/\\evil.example", "javascript:alert(1)"]
)
async def test_signing_in_leads_nowhere_else(there: str) -> None:
    async with PageOffice(PASSWORDS).open() as office:
        browser = office.browser()
        reply = await browser.post("/sign-in", {"password": "read me", "next": there})
        assert reply.headers["Location"] == "/"
        shown = (await office.browser().get(f"/sign-in?next={there}")).text
        assert re.search(r'name="next" value="/"', shown)


async def test_an_error_is_one_line_with_what_to_do() -> None:
    async with PageOffice().open() as office:
        browser = await office.operator()
        office.harness.catalog.bases = _broken  # type: ignore[method-assign]
        reply = await browser.get("/ask")
        assert reply.status == 500
        assert "Something went wrong on my side" in reply.text
        assert "Traceback" not in reply.text
        assert "kaput" not in reply.text


async def _broken() -> list[KnowledgeBase]:
    raise RuntimeError("kaput: /secret/path")


async def test_a_base_that_is_closed_after_a_loss_is_opened_by_the_button_on_its_page() -> None:
    async with PageOffice().open() as office:
        catalog = office.harness.catalog
        await catalog.save_base(KnowledgeBase("board", grants=frozenset({"web:user:ada"}), closed=True))
        admin = await office.operator()
        page = (await admin.get("/knowledge/bases/board")).text
        assert (
            "closed to everyone except admins, until an admin confirms that it is restricted to web:user:ada"
            in page.lower()
        )
        assert "Confirm the readers of board" in page
        reply = await admin.post("/knowledge/do", {"verb": "confirm", "base": "board"})
        assert (reply.status, "“board” is restricted to web:user:ada." in reply.text) == (200, True)
        assert [base.closed for base in await catalog.bases()] == [False]
        assert "Confirm the readers" not in (await admin.get("/knowledge/bases/board")).text


async def test_a_base_that_is_removed_takes_its_page_with_it() -> None:
    async with PageOffice().open() as office:
        await office.room.adds("handbook", refunds_md="Refunds take 14 days.")
        admin = await office.operator()
        asked = {"verb": "remove", "base": "handbook"}
        first = await admin.post("/knowledge/do", asked, **{"HX-Request": "true"})
        assert "HX-Retarget" not in first.headers, "it is asked in a dialog of the base's page"
        reply = await admin.post("/knowledge/do", asked | {"confirmed": "yes"}, **{"HX-Request": "true"})
        headers = {name: reply.headers.get(name, "") for name in ("HX-Retarget", "HX-Push-Url", "HX-Trigger")}
        assert headers == {"HX-Retarget": "#main", "HX-Push-Url": "/knowledge", "HX-Trigger": ""}
        assert '<main id="main"' in reply.text
        assert (await admin.get("/knowledge/bases/handbook")).status == 404
