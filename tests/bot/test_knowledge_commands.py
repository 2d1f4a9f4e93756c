"""``footnote kb …``: output, streams and exit codes, with in-memory stores."""

import asyncio
import io
import json
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import pytest

from bot.__main__ import main
from core.model.conversation import Audience
from core.model.errors import StoreUnavailable
from core.model.jobs import JobKind, JobState
from core.service.workers import JobWorker
from tests.core.service.kb.knowledge_room import MEMBER, Room, conversation
from tests.fakes.memory.inbox import InProcessInbox


class Printed(NamedTuple):
    code: int
    out: str
    err: str


class Keyboard(io.StringIO):
    """Somebody sits there."""

    def isatty(self) -> bool:
        return True


class Terminal:
    """A terminal in front of a room."""

    def __init__(self, room: Room, type_: Callable[..., Printed]) -> None:
        self.room = room
        self._type = type_

    def __call__(self, *words: str, answers: str | None = None) -> Printed:
        """``footnote`` with these words; ``answers`` is what a person types when asked."""
        return self._type(words, answers)

    def has(self, **files: str) -> None:
        """Files in the current folder; an underscore stands for the dot."""
        for name, text in files.items():
            Path(name.replace("_", ".")).write_text(text)

    def audience(self, base: str) -> frozenset[str]:
        """Whom a base is for."""
        found = asyncio.run(self.room.trash.base(base))
        assert found is not None
        return found.grants


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Terminal:
    room = Room()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def worker() -> JobWorker:
        return JobWorker(name="terminal", inbox=room.inbox, runner=room.runner({}), tick=room.scheduler.tick)

    @asynccontextmanager
    async def opened(*_: object, **__: object) -> AsyncIterator[SimpleNamespace]:
        waiting = [one for line in room.inbox._lines.values() for one in line.deliveries]
        room.inbox = InProcessInbox(clock=room.clock)  # each command has a loop of its own
        room.wire()
        for delivery in waiting:
            await room.inbox.put(delivery)
        deps = SimpleNamespace(jobs=room.jobs)
        knowledge_stack = SimpleNamespace(kb_service=room.kb_service, deps=deps, terminal_worker=worker)
        yield SimpleNamespace(knowledge_stack=knowledge_stack, audit=room.audit, take_notices=tuple)

    def typed(words: tuple[str, ...], answers: str | None) -> Printed:
        monkeypatch.setattr(sys, "argv", ["footnote", *words])
        monkeypatch.setattr(sys, "stdin", io.StringIO() if answers is None else Keyboard(answers))
        with pytest.raises(SystemExit) as left:
            main()
        out, err = capfd.readouterr()
        assert "Traceback" not in out + err
        return Printed(int(left.value.code or 0), out, err)

    monkeypatch.setattr("bot.container.open_footnote", opened)
    monkeypatch.setattr("bot.stores.open_catalog", opened)
    return Terminal(room, typed)


# --- bringing in ----------------------------------------------------------------------------------------------------


def test_files_and_folders_come_in_and_the_base_is_made(terminal: Terminal) -> None:
    terminal.has(refunds_md="# Refunds\n\nThirty days.")
    Path("more/deep").mkdir(parents=True)
    Path("more/deep/leave.md").write_text("# Leave\n\nTwenty days.")
    printed = terminal("kb", "ingest", "refunds.md", "more", "--kb", "rules")
    assert printed.code == 0
    assert "The added documents are open to everyone." in printed.out
    assert "2 added" in printed.out
    shown = terminal("kb", "list", "--kb", "rules").out
    assert "Leave (1 passage" in shown
    assert "more/deep/leave.md" in shown
    again = terminal("kb", "ingest", "refunds.md", "more", "--kb", "rules")
    assert (again.code, "2 unchanged" in again.out) == (0, True)


def test_one_file_that_fails_is_named_the_others_are_in_and_the_exit_code_is_one(terminal: Terminal) -> None:
    terminal.has(good_md="# Good\n\nWords.", bad_md="\0")
    printed = terminal("kb", "ingest", "good.md", "bad.md", "--kb", "rules")
    assert printed.code == 1
    assert "1 added, 1 failed" in printed.out
    assert "bad.md: This is no text." in printed.out


def test_a_link_that_is_refused_is_one_line_with_the_reason(terminal: Terminal) -> None:
    printed = terminal("kb", "ingest", "https://docs.example/gone?token=s3cret", "--kb", "rules")
    assert printed.code == 1
    assert "https://docs.example/gone?…: The host replied with 404 Not Found." in printed.out
    assert "s3cret" not in printed.out + printed.err


def test_a_site_comes_in_with_a_limit(terminal: Terminal) -> None:
    root = "https://docs.example/guide/"
    terminal.room.site.pages = {root: f'<html><a href="{root}a">a</a>', f"{root}a": "# a\n\nWords."}
    printed = terminal("kb", "ingest", root, "--limit", "5", "--kb", "rules")
    assert (printed.code, "2 added" in printed.out) == (0, True)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("kb", "ingest"), "Missing argument 'what'. See: footnote kb ingest --help"),
        (("kb", "ingest", "nowhere.md"), "There is no file or folder nowhere.md. See: footnote kb ingest --help"),
        (("kb", "frobnicate"), "No such command 'frobnicate'. See: footnote kb --help"),
        (("kb", "list", "--colour"), "No such option: --colour. See: footnote kb list --help"),
        (("nonsense",), "No such command 'nonsense'. See: footnote --help"),
    ],
)
def test_a_wrong_call_is_one_line_that_says_where_to_look(
    terminal: Terminal, words: tuple[str, ...], says: str
) -> None:
    assert terminal(*words) == Printed(2, "", f"{says}\n")


def test_a_command_without_a_subcommand_shows_what_there_is(terminal: Terminal) -> None:
    printed = terminal("kb")
    assert printed.code == 2
    assert "ingest" in printed.out + printed.err


# --- looking --------------------------------------------------------------------------------------------------------


def test_nothing_yet_is_said_as_such(terminal: Terminal) -> None:
    assert terminal("kb", "list").out == "Knowledge bases\nThere is no knowledge base yet.\n"
    assert terminal("kb", "jobs").out == "Jobs\nThere are no jobs yet.\n"
    assert terminal("kb", "proposals").out == "Proposals\nNo proposals are waiting for review.\n"
    restorable = "Removed or replaced in the last 7 days\nNothing was removed or replaced in the last 7 days.\n"
    assert terminal("kb", "restore").out == restorable
    assert terminal("kb", "status").out == "0 jobs queued or running.\n"


def test_a_document_is_shown_and_one_that_is_not_there_is_a_line_on_stderr(terminal: Terminal) -> None:
    terminal.has(refunds_md="# Refunds\n\nThirty days.")
    terminal("kb", "ingest", "refunds.md", "--kb", "rules")
    shown = terminal("kb", "show", "refunds", "--kb", "rules")
    assert "line 3: Thirty days." in shown.out
    assert "added 0 seconds ago by the operator" in shown.out
    assert "rules (1 document, 1 passages" not in terminal("kb", "show", "--kb", "rules").out
    missing = terminal("kb", "show", "nothing", "--kb", "rules")
    assert missing == Printed(1, "", "There is no document called “nothing” here.\n")
    assert "Available: rules." in terminal("kb", "list", "--kb", "elsewhere").err


def test_pages_are_turned(terminal: Terminal) -> None:
    terminal.has(**{f"doc{n:02}_md": f"# Doc {n:02}\n\nWords {n}." for n in range(12)})
    terminal("kb", "ingest", ".", "--kb", "rules")
    assert "Page 1 of 2." in terminal("kb", "list", "--kb", "rules").out
    last = terminal("kb", "list", "--kb", "rules", "--page", "2").out
    assert "Doc 11" in last
    assert "Doc 01" not in last


# --- taking out and putting back ------------------------------------------------------------------------------------


@pytest.fixture
def filled(terminal: Terminal) -> Terminal:
    terminal.has(refunds_md="# Refunds\n\nThirty days.", leave_md="# Leave\n\nTwenty days.")
    terminal("kb", "ingest", "refunds.md", "leave.md", "--kb", "rules")
    return terminal


def test_removing_asks_and_no_means_no(filled: Terminal) -> None:
    printed = filled("kb", "remove", "refunds", "--kb", "rules", answers="n\n")
    assert printed.code == 1
    assert "Remove “Refunds” from “rules”? You can restore it within 7 days. [y/N]:" in printed.out + printed.err
    assert printed.err.endswith("Nothing was changed.\n")
    assert "Refunds" in filled("kb", "list", "--kb", "rules").out


def test_removing_asks_and_yes_means_yes_shown_by_a_search(filled: Terminal) -> None:
    printed = filled("kb", "remove", "refunds", "--kb", "rules", answers="y\n")
    assert printed.code == 0
    assert "Removed “Refunds” from “rules”." in printed.out
    assert "A search for its title now finds: Leave." in printed.out


def test_where_nobody_can_be_asked_removing_wants_yes(filled: Terminal) -> None:
    printed = filled("kb", "remove", "refunds", "--kb", "rules")
    assert printed.code == 1
    assert printed.err == "Remove “Refunds” from “rules”? You can restore it within 7 days. Confirm with --yes.\n"
    assert filled("kb", "remove", "refunds", "--kb", "rules", "--yes").code == 0
    assert "Refunds, until" not in filled("kb", "restore").out.splitlines()[0]
    assert "Refunds in “rules”, can be restored until" in filled("kb", "restore").out
    assert "Restored “Refunds” in “rules”." in filled("kb", "restore", "refunds").out


def test_a_whole_base_goes_and_comes_back(filled: Terminal) -> None:
    printed = filled("kb", "remove", "--kb", "rules", "-y")
    assert printed.code == 0
    assert (
        "Removed “rules”. Answers no longer use its documents. A search for its title now finds: nothing."
        in printed.out
    )
    assert "2 removed" in printed.out
    assert "no knowledge base yet" in filled("kb", "list").out
    assert "2 restored" in filled("kb", "restore", "--kb", "rules").out
    assert "rules (2 documents" in filled("kb", "list").out


# --- keeping current ------------------------------------------------------------------------------------------------


def test_links_are_fetched_again_and_files_are_told_apart(filled: Terminal) -> None:
    filled.room.site.pages["https://docs.example/a"] = "# A\n\nOld."
    filled("kb", "ingest", "https://docs.example/a", "--kb", "rules")
    printed = filled("kb", "refresh", "--kb", "rules")
    assert printed.code == 0
    assert "1 unchanged" in printed.out
    assert "2 documents of “rules” did not come from links and stay unchanged." in printed.out
    refused = filled("kb", "refresh", "refunds", "--kb", "rules")
    assert refused.code == 1
    assert refused.err.startswith(
        "“Refunds” did not come from a link, so it cannot be fetched again. To update one, add the new file"
    )


def test_a_link_is_scheduled_fetched_at_once_and_taken_off_again(terminal: Terminal) -> None:
    terminal.room.site.pages["https://docs.example/a"] = "# A\n\nOld."
    printed = terminal("kb", "schedule", "https://docs.example/a", "daily")
    assert printed.code == 0
    assert "https://docs.example/a in default: fetched daily, next on" in printed.out
    assert "1 added" in printed.out
    assert "daily, next" in terminal("kb", "status").out
    wrong = terminal("kb", "schedule", "https://docs.example/a", "sometimes")
    assert (wrong.code, wrong.err) == (1, "How often should I fetch it? Choose daily, weekly, on-change or never.\n")
    assert "no longer fetch" in terminal("kb", "schedule", "https://docs.example/a", "never").out
    assert "daily" not in terminal("kb", "status").out


def test_every_site_of_a_base_is_walked_again_and_waited_for(terminal: Terminal) -> None:
    for name in ("one", "two"):
        terminal.room.site.pages[f"https://docs.example/{name}/"] = f"# {name}\n\nWords."
        terminal("kb", "ingest", f"https://docs.example/{name}/", "--limit", "5", "--kb", "rules")
    printed = terminal("kb", "refresh", "--kb", "rules")
    assert printed.code == 0
    assert printed.out.count("1 unchanged") == 2
    refreshed = [job for job in asyncio.run(terminal.room.jobs.recent(2)) if job.kind is JobKind.SITE]
    assert [job.state for job in refreshed] == [JobState.DONE] * 2


# --- governing ------------------------------------------------------------------------------------------------------


def test_a_base_is_created_described_granted_and_revoked(terminal: Terminal) -> None:
    made = terminal("kb", "create", "sales", "What we sell", "--grant", "slack:channel:T/C")
    assert (made.code, made.out) == (0, "Created “sales”, restricted to slack:channel:T/C.\n")
    assert terminal("kb", "create", "sales").err == "“sales” cannot be created: the name is taken. Choose another.\n"
    assert terminal("kb", "describe", "sales", "All offers").out == "“sales” is now described as “All offers”.\n"
    assert "slack:group:T/S" in terminal("kb", "grant", "sales", "slack:group:T/S").out
    assert (
        "sales: All offers (0 documents, 0 passages, restricted to slack:channel:T/C, slack:group:T/S)"
        in terminal("kb", "list").out
    )
    terminal("kb", "revoke", "sales", "slack:group:T/S", "slack:channel:T/C")
    assert "nobody" in terminal("kb", "list").out
    assert terminal.audience("sales")
    assert "open to everyone" in terminal("kb", "grant", "sales", "everyone").out
    assert terminal("kb", "revoke", "sales", "slack:group:T/S").code == 1


def test_what_people_propose_is_looked_at_and_decided(terminal: Terminal) -> None:
    room = terminal.room

    async def proposed() -> list[str]:
        for number in range(2):
            said = conversation("Thirty days.", source=f"T/C/{number}", title=f"Refunds {number}?")
            await room.kb_service.proposals.propose(said, room.caller(MEMBER))
        return [one.id for one in await room.proposal_store.proposals()]

    first, second = asyncio.run(proposed())
    assert f"{first} Refunds 0?, by Bo:" in terminal("kb", "proposals").out
    assert "2 proposals to review: footnote kb proposals" in terminal("kb", "status").out
    assert "1 added" in terminal("kb", "approve", first, "--kb", "default").out
    assert terminal("kb", "reject", second).out == "Rejected the proposal “Refunds 1?”.\n"
    assert terminal("kb", "approve", second).err == "You already rejected this, just now.\n"


def test_a_job_is_shown_cancelled_and_an_unknown_one_is_not_found(filled: Terminal) -> None:
    room = filled.room
    done = asyncio.run(room.jobs.recent(1))[0]
    assert f"{done.id} Adding 2 files to “rules”: Done" in filled("kb", "jobs").out
    assert filled("kb", "jobs", done.id).out.endswith(f"job {done.id}\n")
    assert filled("kb", "cancel", done.id).err == "That job has already ended.\n"
    assert filled("kb", "cancel", "none").err == "There is no such job. The list of jobs shows them.\n"
    waiting = asyncio.run(room.job_queue.ingest_site("https://docs.example/", 5, "rules", room.caller(MEMBER)))
    assert "1 job queued or running." in filled("kb", "status").out
    assert "Cancelling." in filled("kb", "cancel", waiting.id).out


def test_the_audit_has_it_all_the_newest_first(filled: Terminal) -> None:
    filled("kb", "remove", "refunds", "--kb", "rules", "--yes")
    asyncio.run(_denied(filled.room))
    lines = filled("audit").out.splitlines()
    assert "kb restore" in lines[0]
    assert "refused" in lines[0]
    assert [line.split("kb ")[1].split()[0] for line in lines[1:]] == ["remove", "ingest", "create"]
    assert len(filled("audit", "-n", "1").out.splitlines()) == 1
    assert json.loads(filled("audit", "-n", "1", "--json").out)[0]["allowed"] is False


async def _denied(room: Room) -> None:
    from core.service.kb.commands import KbCommand, KbVerb

    caller = room.caller(MEMBER)
    assert caller.audience == Audience(frozenset({MEMBER.id}))
    await room.kb_service.handle(KbCommand(KbVerb.RESTORE, "rules", "refunds"), caller)


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (("list",), "document_list"),
        (("show", "refunds"), "document_details"),
        (("status",), "queue_status"),
        (("jobs",), "job_list"),
        (("refresh", "refunds"), "refused"),
        (("remove", "refunds", "--yes"), "document_removed"),
    ],
)
def test_json_is_one_document_and_nothing_else(filled: Terminal, words: tuple[str, ...], kind: str) -> None:
    printed = filled(
        "kb", words[0], *words[1:], *(() if words[0] in {"status", "jobs"} else ("--kb", "rules")), "--json"
    )
    told = json.loads(printed.out)
    assert set(told) == {"ok", "said", "results", "jobs"}
    assert [one["kind"] for one in told["results"]] == [kind]
    assert told["ok"] is (printed.code == 0)
    assert told["said"]


def test_a_base_that_cannot_be_called_that_is_refused_by_ingest_as_by_create(terminal: Terminal) -> None:
    terminal.has(rules_md="# Rules\n\nBe kind.")
    refused = terminal("kb", "ingest", "rules.md", "--kb", "with/slash")
    assert (refused.code, refused.out) == (1, "")
    assert refused.err == terminal("kb", "create", "with/slash").err
    assert asyncio.run(terminal.room.catalog.bases()) == []


@pytest.mark.parametrize("command", [("ingest",), ("kb", "ingest")])
def test_a_path_that_cannot_be_looked_at_is_one_reason(terminal: Terminal, command: tuple[str, ...]) -> None:
    refused = terminal(*command, "x" * 300)
    assert refused.code == 2
    assert "cannot be opened: File name too long." in " ".join(refused.err.replace("│", "").split())
    assert "Traceback" not in refused.err


def test_a_store_that_fails_under_a_job_says_what_is_done_and_how_to_go_on(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(*_: object) -> None:
        raise StoreUnavailable("Milvus does not respond.", remedy="Try again.")

    terminal.has(rules_md="# Rules\n\nBe kind.")
    with monkeypatch.context() as failing:
        failing.setattr(terminal.room.index, "add", fails)
        failed = terminal("kb", "ingest", "rules.md")
    (job,) = asyncio.run(terminal.room.jobs.recent())
    assert failed.code == 1
    assert failed.err == (
        f"Milvus does not respond. Try again. Job {job.id} waits, 0 of 1 are done: footnote serve goes on with it, "
        "or the same command, which repeats nothing.\n"
    )
