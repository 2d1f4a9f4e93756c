"""Notices of changed answers: one a day, within current permissions, also after crashes."""

from datetime import timedelta

import pytest

from core.agent.agent import Agent
from core.agent.run import Run
from core.model.budget import NOBODY, Account
from core.model.conversation import Person, Thread, ThreadKey
from core.model.errors import Denied, PlatformUnavailable
from core.model.inquiry import DailyLimits, Inquiry
from core.ports.memory import ThreadRecord
from core.ports.usage import DailyBudget
from core.service.standing_answers.checks import FollowedRecord, MutedNotices, toggle_notices
from core.service.standing_answers.service import MOST_CHECKED
from tests.core.harness import ALICE, BOB
from tests.core.service.standing_answers.company import FOURTEEN, QUESTION, THIRTY, Company, Killed

DAY = 86_400.0


@pytest.fixture
async def company() -> Company:
    """Alice was answered in a channel that has it on."""
    company = Company()
    await company.publishes(FOURTEEN, "v1")
    await company.switches()
    await company.process().look()
    company.clock.advance(300)
    await company.asks()
    return company


async def test_tells_what_was_said_and_what_holds_now(company: Company) -> None:
    process = company.process()
    assert await process.look() == 0
    await company.publishes(THIRTY, "v2")
    assert await process.look() == 1
    ((person, notice),) = company.post.sent
    assert person == ALICE.id
    text = "\n".join(notice.lines)
    assert "14 days is now 30 days." in text
    assert f"On 5 January 2026 you asked: “{QUESTION}”" in text
    assert f"I told you: “{FOURTEEN}”" in text
    assert f"Now the source says: “{THIRTY}”" in text
    assert notice.citation.title == "Refund policy"
    assert notice.link == "https://chat.example/t"


async def test_says_nothing_for_an_edit_that_changes_nothing(company: Company) -> None:
    process = company.process()
    await company.publishes(f"# Refunds\n\nHello.\n\n* **{FOURTEEN}**", "v2")
    assert await process.look() == 0
    await company.publishes("Refunds are paid out within two weeks.", "v3")
    assert await process.look() == 0
    company.clock.advance(DAY)
    assert await process.look() == 0
    assert company.post.sent == []


async def test_tells_a_person_once_a_day_and_the_next_change_the_day_after(company: Company) -> None:
    process = company.process()
    await company.publishes(THIRTY, "v2")
    assert await process.look() == 1
    await company.publishes("Refunds are paid within 60 days.", "v3")
    assert await process.look() == 0
    company.clock.advance(DAY)
    assert await process.look() == 1
    assert "30 days is now 60 days." in company.post.sent[-1][1].lines[0]
    assert await process.look() == 0


async def test_does_not_tell_the_same_again_when_another_sentence_changes(company: Company) -> None:
    process = company.process()
    await company.publishes(THIRTY, "v2")
    assert await process.look() == 1
    company.clock.advance(DAY)
    await company.publishes(f"{THIRTY} Ask the desk.", "v3")
    assert await process.look() == 0


async def test_tells_everyone_who_was_answered_but_the_same_once(company: Company) -> None:
    await company.asks(thread="u")
    await company.asks(thread="b", by=BOB)
    process = company.process()
    await process.look()
    await company.publishes(THIRTY, "v2")
    assert await process.look() == 2
    company.clock.advance(DAY)
    assert await process.look() == 0
    assert sorted(who for who, _ in company.post.sent) == [ALICE.id, BOB.id]


async def test_says_nothing_where_it_is_off_and_forgets_what_it_followed(company: Company) -> None:
    process = company.process()
    await process.look()
    await company.switches(on=False)
    await company.publishes(THIRTY, "v2")
    assert await process.look() == 0
    assert not any("14 days" in value for kept in _standing(company).values() for value in kept.values())


async def test_tells_nothing_that_changed_before_it_was_switched_on() -> None:
    company = Company()
    await company.publishes(FOURTEEN, "v1")
    await company.asks()
    await company.publishes(THIRTY, "v2")
    await company.switches()
    company.clock.advance(60)
    process = company.process()
    assert await process.look() == 0
    await company.publishes("Refunds are paid within 60 days.", "v3")
    assert await process.look() == 1


async def test_says_nothing_once_muted_until_it_is_undone(company: Company) -> None:
    process = company.process()
    await process.look()
    assert await toggle_notices(company.message_states, ALICE)
    await company.publishes(THIRTY, "v2")
    assert await process.look() == 0
    company.clock.advance(40 * DAY)
    assert await process.look() == 0
    assert not await toggle_notices(company.message_states, ALICE)
    await company.publishes("Refunds are paid within 60 days.", "v3")
    assert await process.look() == 1


@pytest.mark.parametrize("lost", ["the channel", "the base"])
async def test_says_nothing_to_who_lost_the_right(company: Company, lost: str) -> None:
    process = company.process()
    await process.look()
    if lost == "the channel":
        company.post.gone.add(ALICE.id)
    await company.publishes(THIRTY, "v2", grants=["finance"] if lost == "the base" else [])
    assert await process.look() == 0
    company.clock.advance(DAY)
    assert await process.look() == 0


async def test_a_right_that_is_lost_before_it_is_sent_counts(company: Company) -> None:
    company.post.failing = PlatformUnavailable("away")
    process = company.process()
    await company.publishes(THIRTY, "v2")
    assert await process.look() == 0
    company.post.failing = None
    company.post.gone.add(ALICE.id)
    company.clock.advance(120)
    assert await process.look() == 0
    assert company.post.sent == []


async def test_a_base_that_is_lost_after_a_notice_quoted_it_is_not_quoted(company: Company) -> None:
    process = company.process()
    await process.look()
    await company.publishes("Ask the desk.", "v2")
    await company.publishes(THIRTY, "n1", title="New policy", base="new")
    assert await process.look() == 1
    await company.publishes("Refunds are paid within 60 days.", "v3")
    await company.publishes(
        "Refunds are paid within 60 days.", "n2", title="New policy", base="new", grants=["finance"]
    )
    company.clock.advance(DAY)
    assert await process.look() == 0


async def test_a_source_that_goes_before_it_is_sent_is_not_quoted(company: Company) -> None:
    company.post.failing = PlatformUnavailable("away")
    process = company.process()
    await process.look()
    await company.publishes("Ask the desk.", "v2")
    await company.publishes(THIRTY, "n1", title="New policy")
    assert await process.look() == 0
    await company.publishes("Ask us.", "n2", title="New policy")
    company.post.failing = None
    assert await process.look() == 0
    company.clock.advance(DAY)
    assert await process.look() == 0
    assert company.post.sent == []


async def test_tells_again_when_a_value_comes_back(company: Company) -> None:
    process = company.process()
    await process.look()
    for version, text in (("v2", THIRTY), ("v1", FOURTEEN), ("v2", THIRTY)):
        await company.publishes(text, version)
        assert await process.look() == 1
        company.clock.advance(DAY)
    assert [notice.lines[0][-24:] for _, notice in company.post.sent] == [
        " 14 days is now 30 days.",
        " 30 days is now 14 days.",
        " 14 days is now 30 days.",
    ]


async def test_what_changed_while_the_platform_was_away_is_told(company: Company) -> None:
    company.post.away = PlatformUnavailable("away")
    process = company.process()
    await company.publishes(THIRTY, "v2")
    assert await process.look() == 0
    company.post.away = None
    assert await process.look() == 1


async def test_what_was_taken_out_is_not_quoted(company: Company) -> None:
    process = company.process()
    await process.look()
    await company.publishes(THIRTY, "v1", title="Another policy")
    for document in await company.harness.catalog.documents(frozenset({"default"})):
        if document.title == "Refund policy":
            await company.harness.catalog.withdraw(document.id)
    assert await process.look() == 0
    assert not any("14 days" in value for kept in _standing(company).values() for value in kept.values())


async def test_an_unreachable_platform_is_tried_again_a_refusal_is_not(company: Company) -> None:
    process = company.process()
    await process.look()
    company.post.failing = PlatformUnavailable("away")
    await company.publishes(THIRTY, "v2")
    assert await process.look() == 0
    company.post.failing = None
    assert await process.look() == 1
    company.post.failing = Denied("takes no messages")
    company.clock.advance(DAY)
    await company.publishes("Refunds are paid within 60 days.", "v3")
    assert await process.look() == 0
    company.post.failing = None
    company.clock.advance(DAY)
    assert await process.look() == 0


async def test_forgetting_a_person_removes_what_is_followed(company: Company) -> None:
    process = company.process()
    await process.look()
    await company.harness.memory.forget_person(ALICE.id)
    await company.publishes(THIRTY, "v2")
    assert await process.look() == 0
    assert not any("14 days" in value for kept in _standing(company).values() for value in kept.values())


async def test_does_not_follow_an_answer_that_is_forgotten_before_it_is_saved(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    recall = company.harness.memory.recall

    async def recall_before_it_is_forgotten(key: ThreadKey) -> ThreadRecord:
        record = await recall(key)
        await company.harness.memory.forget_person(ALICE.id)
        return record

    monkeypatch.setattr(company.harness.memory, "recall", recall_before_it_is_forgotten)
    await company.process().look()
    assert not any("14 days" in value for kept in _standing(company).values() for value in kept.values())


async def test_answers_are_followed_for_90_days(company: Company) -> None:
    process = company.process()
    for _ in range(8):
        await process.look()
        company.clock.advance(10 * DAY)
    await company.publishes(THIRTY, "v2")
    assert await process.look() == 1
    company.clock.advance(11 * DAY)
    await company.publishes("Refunds are paid within 60 days.", "v3")
    assert await process.look() == 0


async def test_at_most_200_answers_are_asked_again_a_day(company: Company) -> None:
    for number in range(MOST_CHECKED + 5):
        await company.asks(thread=f"t{number}", by=Person(f"test:p{number}"))
    process = company.process()
    await process.look()
    asked = len(company.harness.script.calls_of("understand"))
    await company.publishes(THIRTY, "v2")
    await process.look()
    await process.look()
    assert len(company.harness.script.calls_of("understand")) - asked == MOST_CHECKED
    company.clock.advance(DAY)
    await process.look()
    assert len(company.post.sent) == MOST_CHECKED + 6


async def test_a_day_whose_checks_are_used_up_asks_the_platform_no_more(company: Company) -> None:
    for number in range(5):
        await company.asks(thread=f"t{number}", by=Person(f"test:p{number}"))
    company.budget = HalfSpent()
    process = company.process()
    await process.look()
    await company.publishes(THIRTY, "v2")
    await process.look()
    assert company.post.looked_up == 1


class HalfSpent(DailyBudget):
    """A day's budget of which people have used half."""

    share = 0.5

    async def reserve(self, amount: float, account: Account = NOBODY) -> str:
        return ""

    async def spent_share(self) -> float:
        return self.share

    async def settle(self, reserved: float, spent: float, account: Account = NOBODY, *, day: str) -> None: ...


async def test_leaves_half_of_the_days_budget_to_people(company: Company) -> None:
    company.budget = budget = HalfSpent()
    process = company.process()
    await process.look()
    await company.publishes(THIRTY, "v2")
    assert await process.look() == 0
    budget.share = 0.1
    assert await process.look() == 1


async def test_checks_spend_nothing_of_the_channels_money(company: Company) -> None:
    company.post.limits = DailyLimits(person_answers=1, channel_answers=1, channel_money=0.1)
    process = company.process()
    await process.look()
    seen: list[DailyLimits] = []
    run = Agent.run

    def noting(self: Agent, inquiry: Inquiry, thread: Thread) -> Run:
        seen.append(inquiry.policy.limits)
        return run(self, inquiry, thread)

    await company.publishes(THIRTY, "v2")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Agent, "run", noting)
        assert await process.look() == 1
    assert seen == [DailyLimits()]


@pytest.mark.parametrize("on", [True, False], ids=["on", "off everywhere"])
async def test_what_is_kept_is_written_again_while_nothing_changes(company: Company, on: bool) -> None:
    await company.message_states.save(MutedNotices(name=BOB.id, person=BOB.id, at=company.clock.now().timestamp()))
    process = company.process()
    await process.look()
    await company.switches(on=on)
    company.clock.advance(8 * DAY)
    await process.look()
    now = company.clock.now().timestamp()
    (muted,) = await company.message_states.read_entries(MutedNotices(name=""))
    followed = await company.message_states.read_entries(FollowedRecord(channel=str(company.harness.key("")), trace=""))
    assert muted.at == now
    assert [one.answer.kept_at for one in followed if one.answer] == [now] * on


async def _look_until_done(company: Company) -> None:
    """Run processes within a day, and kill one at the fuse's call."""
    for seconds in (200.0, 200.0, 200.0, 200.0):
        try:
            await company.process().look()
        except Killed:
            company.fuse.at, company.fuse.dead = 0, False
        company.clock.advance(seconds)


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
async def test_a_kill_at_any_call_tells_exactly_once(company: Company, after: bool) -> None:
    await company.process().look()
    company.clock.advance(200)
    company.fuse.calls = 0
    await company.publishes(THIRTY, "v2")
    await _look_until_done(company)
    calls, company.fuse.after = company.fuse.calls, after
    assert len(company.post.sent) == 1
    assert calls > 6  # it is checked, taken, looked for, sent, marked and settled
    for at in range(1, calls + 1):
        other = await _another()
        other.fuse.calls, other.fuse.at, other.fuse.after = 0, at, after
        await _look_until_done(other)
        assert len(other.post.sent) == 1, f"call {at}"


async def _another() -> Company:
    company = Company()
    await company.publishes(FOURTEEN, "v1")
    await company.switches()
    await company.process().look()
    company.clock.advance(300)
    await company.asks()
    await company.process().look()
    company.clock.advance(200)
    await company.publishes(THIRTY, "v2")
    return company


async def test_of_two_processes_one_looks(company: Company) -> None:
    one, other = company.process(), company.process()
    await one.look()
    await company.publishes(THIRTY, "v2")
    assert [await other.look(), await one.look()] == [0, 1]
    company.clock.advance(timedelta(minutes=4).total_seconds())
    assert await other.look() == 0


async def test_a_preview_counts_and_gives_an_example_without_telling(company: Company) -> None:
    assert "none of my answers here has changed" in await company.preview()
    await company.asks(thread="b", by=BOB)
    await company.publishes(THIRTY, "v2")
    told = await company.preview()
    assert "I would have told 2 people about 2 changed answers. I sent nothing." in told
    assert f"For example: “{QUESTION}” 14 days is now 30 days." in told
    assert company.post.sent == []


async def test_a_preview_keeps_to_what_the_channel_reads(company: Company) -> None:
    await company.publishes(THIRTY, "v2", grants=["finance"])
    assert "none of my answers here has changed" in await company.preview()


def _standing(company: Company) -> dict[tuple[str, str], dict[str, str]]:
    return {at: kept for at, kept in company.harness.state.records.items() if "standing" in at[0]}
