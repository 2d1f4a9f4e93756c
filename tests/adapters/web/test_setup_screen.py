"""The setup page: only for this machine's operator, and it never shows a token."""

import pytest

from adapters.web.access.rules import AccessRules, hash_password
from tests.adapters.web.page_office import PageOffice

pytestmark = pytest.mark.e2e

PASSWORDS = AccessRules(password_hash=hash_password("long and secret"))


async def test_an_admin_who_is_not_at_this_machine_neither_sees_the_setup_nor_changes_it() -> None:
    async with PageOffice(PASSWORDS).open() as office:
        admin = office.browser()
        await admin.get("/sign-in")
        await admin.post("/sign-in", {"password": "long and secret"})
        assert "/setup" not in (await admin.get("/knowledge")).text
        for path in ("/setup", "/setup/slack"):
            reply = await admin.get(path)
            assert (reply.status, "Only the operator of this machine" in reply.text) == (403, True)
        form = {"setting": "ONE_TOKEN", "token": office.guide.works, "path": "~/handbook"}
        for path in ("/setup/slack/token", "/setup/slack/unit", "/knowledge/folder"):
            assert (await admin.post(path, form)).status == 403
        assert (office.guide.kept, office.guide.units) == ({}, 0)
        assert await office.harness.catalog.bases() == []


async def test_a_token_is_tried_kept_and_never_shown() -> None:
    async with PageOffice().open() as office:
        browser = await office.operator()
        page = await browser.get("/setup/slack")
        assert "https://example.com/new-app" in page.text
        assert page.text.count('type="password"') == 1, "what comes after the first token waits for it"
        refused = await browser.post("/setup/slack/token", {"setting": "ONE_TOKEN", "token": "xoxb-wrong"})
        assert (refused.status, "refused: invalid_auth" in refused.text) == (422, True)
        assert "xoxb-wrong" not in refused.text
        kept = await browser.post("/setup/slack/token", {"setting": "ONE_TOKEN", "token": office.guide.works})
        assert (kept.status, kept.headers["Location"]) == (303, "/setup/slack#next")
        after = (await browser.get("/setup/slack")).text
        assert "is set in /home/ada/.env" in after
        assert "second token" in after.lower()
        audit = (await browser.get("/knowledge/audit")).text
        assert "ONE_TOKEN" in audit
        for shown in (after, audit):
            assert office.guide.works not in shown


async def test_a_form_of_another_page_keeps_no_token() -> None:
    async with PageOffice().open() as office:
        browser = await office.operator()
        form = {"setting": "ONE_TOKEN", "token": office.guide.works}
        assert (await browser.post("/setup/slack/token", form, Origin="https://evil.example")).status == 403
        browser.csrf = "guessed"
        assert (await browser.post("/setup/slack/token", form)).status == 403
        assert office.guide.kept == {}


@pytest.mark.parametrize("place", ["terminal", "model", "teams", "x"])
async def test_only_platforms_are_set_up_here(place: str) -> None:
    async with PageOffice().open() as office:
        assert (await (await office.operator()).get(f"/setup/{place}")).status == 404


async def test_a_folder_of_this_machine_becomes_a_job_and_what_is_left_out_is_said() -> None:
    async with PageOffice().open() as office:
        browser = await office.operator()
        reply = await browser.post("/knowledge/folder", {"path": "~/handbook", "base": "default"})
        assert "Adding handbook/ferry.md" in reply.text
        assert "handbook/secret.md is left out: it cannot be read" in reply.text
        assert (await browser.post("/knowledge/folder", {"path": "~/nowhere", "base": ""})).status == 404


async def test_the_unit_is_written_once_it_is_asked_for() -> None:
    async with PageOffice().open() as office:
        browser = await office.operator()
        assert "Create the systemd unit" in (await browser.get("/setup/slack")).text
        assert (await browser.post("/setup/slack/unit")).status == 303
        assert "is written" in (await browser.get("/setup/slack")).text
        assert office.guide.units == 1
