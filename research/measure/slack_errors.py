# ruff: noqa: T201 - a script speaks to its caller
"""Every error that Slack documents, played for one question each.

    python -m research.measure.slack_errors [METHOD …]

For every method that Footnote calls while it answers, every error word of ``../shared/specs/slack-methods`` and those
that any method may answer, once and for ever, plus what a network does: a 503, a page instead of JSON, a cut
connection, an answer that is lost. The real adapter over sockets, a scripted reasoner, stores in memory. Each question
must have exactly one visible outcome: in its place, or as a direct message to the one who asked. Where nothing can be
shown at all as long as the fault lasts, the question is kept, and has its one outcome as soon as it is over.
"""

import asyncio
import json
import logging
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import structlog

from adapters.slack.api.web_client import RateLimiter
from core.model.channel_settings import ChosenSettings
from core.model.principals import channel_principal
from tests.e2e.driver import Running
from tests.e2e.inprocess import REFUNDS, Bot
from tests.e2e.slack_driver import SlackDriver
from tests.e2e.work_count import WorkCount
from tests.fakes.memory.inbox import InProcessInbox
from tests.fakes.slack import Channel, FakeSlack, Message
from tests.fakes.slack.people import Person
from tests.fakes.slack.specs import SPECS

QUESTION = "how long do refunds take?"
MARK = "Refunds are paid within a fortnight"
ANSWER = [f"{MARK}, ", "as the policy of the house says, ", "since the spring [1]."]
LANES = 60
PATIENCE = 180.0  # seconds for one batch, on a machine that is busy with something else

# What a question is asked like, so that the method is called for it.
SITUATIONS = {
    "chat.startStream": ("stream",),
    "chat.appendStream": ("stream",),
    "chat.stopStream": ("stream",),
    "chat.postMessage": ("message", "uneditable"),
    "chat.update": ("message", "stream"),
    "chat.delete": ("uneditable",),
    "chat.postEphemeral": ("private",),
    "conversations.info": ("stream",),
    "conversations.replies": ("thread",),
    "conversations.history": ("direct",),
    "conversations.open": ("nowhere",),
    "users.info": ("direct", "thread"),
    "files.info": ("file",),
    "agents.sessions.setStatus": ("stream",),
}
PREPARED = {  # what goes wrong for ever in a situation, so that the method is called
    "message": (("chat.startStream", "channel_type_not_supported"),),
    "uneditable": (("chat.startStream", "channel_type_not_supported"), ("chat.update", "edit_window_closed")),
    "nowhere": (("chat.startStream", "is_archived"), ("chat.postMessage", "is_archived")),
}
# The descriptions leave out what every method may answer. https://docs.slack.dev/reference/methods/chat.postMessage#errors
EVERYWHERE = (
    "invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired", "not_allowed_token_type",
    "no_permission", "missing_scope", "org_login_required", "ekm_access_denied", "team_access_not_granted",
    "enterprise_is_restricted", "access_denied", "accesslimited", "two_factor_setup_required", "deprecated_endpoint",
    "method_deprecated", "invalid_arguments", "invalid_arg_name", "invalid_array_arg", "invalid_charset",
    "invalid_form_data", "invalid_post_type", "missing_post_type", "ratelimited", "rate_limited",
    "internal_error", "fatal_error", "request_timeout", "service_unavailable", "team_added_to_org",
)  # fmt: skip
NETWORK = ("503", "429", "not JSON", "dropped", "answer lost")
TRANSIENT = {"internal_error", "fatal_error", "request_timeout", "service_unavailable", "team_added_to_org",
             "external_channel_migrating", *NETWORK}  # fmt: skip


@dataclass
class Case:
    """One error of one method, in one situation, and what came of it."""

    method: str
    error: str
    situation: str
    always: bool
    outcome: str = ""
    asked: Message | None = None
    where: str = ""  # the channel, person or file whose calls go wrong
    person: Person | None = None
    notes: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.method} {self.error} {'always' if self.always else 'once'} ({self.situation})"

    @property
    def is_slow(self) -> bool:
        """Whether it is waited out, for as long as half a minute."""
        return self.always and self.error in TRANSIENT


def documented(method: str) -> list[str]:
    """Return the error words that the description of a method lists."""
    errors = json.loads((SPECS / f"{method}.json").read_text(encoding="utf-8")).get("errors") or {}
    return [one if isinstance(one, str) else str(one.get("name")) for one in errors]


def cases(methods: Iterable[str] = tuple(SITUATIONS)) -> list[Case]:
    """Every case, in a fixed order."""
    return [
        Case(method, error, situation, always)
        for method in methods
        for error in dict.fromkeys((*documented(method), *EVERYWHERE, *NETWORK))
        for situation in SITUATIONS[method]
        for always in (False, True)
        if not (always and error in {"429", "dropped", "answer lost"})  # Slack that never answers: an outage, see there
    ]


class UnpacedDriver(SlackDriver):
    """Slack without the pace that a whole workspace's limits impose: hundreds of questions come in a minute here."""

    @asynccontextmanager
    async def connecting(self, *given: Any, **more: Any) -> AsyncIterator[Running]:
        async with super().connecting(*given, **more) as platform:
            platform.workspace.web.rate_limiter = RateLimiter({})  # type: ignore[attr-defined]
            yield platform


class Stage:
    """One workspace and one bot, on which cases are played side by side, each in a channel of its own."""

    def __init__(self, slack: FakeSlack) -> None:
        self.slack = slack
        self.bot = Bot(UnpacedDriver(slack, "socket"))
        self.bot.inbox = InProcessInbox(self.bot.harness.state, clock=self.bot.harness.clock, most_waiting=10_000)
        self.bot.metrics = self._work = WorkCount()
        self.bot.reasoner.always("compose", ANSWER)
        self.bot.reasoner.pause = 0.5
        self._count = 0

    @asynccontextmanager
    async def open(self) -> AsyncIterator["Stage"]:
        await self.bot.harness.knows(REFUNDS, title="Refund policy")
        async with self.bot.running(lanes=LANES):
            yield self

    async def play(self, batch: Sequence[Case]) -> None:
        """Ask all their questions, wait until each has its outcome or is kept; then end the faults, and look again."""
        for case in batch:
            await self._ask(case)
        for case in batch:
            assert case.asked is not None
            await self.slack.acknowledged(case.asked, PATIENCE)
        await self._rest()
        kept = [case for case in batch if not self._outcomes(case)]
        for case in batch:
            self.slack.faults.clear(case.where)
        while await self.bot.inbox.count_waiting():
            self.bot.harness.clock.advance(60)  # the leases of what was kept run out
            await self._rest()
        for case in batch:
            shown = self._outcomes(case)
            word = {0: "LOST", 1: shown[0]}.get(len(shown), "DOUBLED: " + ", ".join(shown)) if shown else "LOST"
            case.outcome = f"kept, then {word}" if case in kept and shown else word

    async def _rest(self) -> None:
        """Until nothing waits, or what waits is worked on by nobody."""
        async with asyncio.timeout(PATIENCE):
            if await self.bot.inbox.count_waiting():
                await self._work.wait_for_rest()

    async def _ask(self, case: Case) -> None:
        self._count += 1
        case.person = person = self.slack.person(f"person{self._count}")
        channel = self.slack.channel(f"channel{self._count}", members=[person.user.name])
        thread = await person.says("we talked about refunds", channel) if case.situation == "thread" else None
        await self._prepare(case, channel, person)
        if case.situation == "file":
            case.asked = await person.says(f"<@bot> {QUESTION}", channel, files=[("notes.txt", b"Refunds are slow.")])
            case.where = case.asked.files[0].id
            self._plan(case)
            return
        self._plan(case)
        if case.situation == "direct":
            case.asked = await person.says(QUESTION)
        else:
            case.asked = await person.says(f"<@bot> {QUESTION}", channel, thread=thread)

    async def _prepare(self, case: Case, channel: Channel, person: Person) -> None:
        """Make the situation in which the method is called, and say whose calls go wrong."""
        case.where = channel.id
        for method, error in PREPARED.get(case.situation, ()):
            self.slack.faults.fail(method, error, None, channel=channel.id)
        if case.situation == "private":
            key = channel_principal("slack", self.slack.team_id, channel.id)
            await self.bot.user_actions.settings.store.write(
                key, ChosenSettings.from_mapping({"reply_style": "private"})
            )
        if case.situation == "direct":
            case.where = person.dm.id
        if case.method in {"users.info", "conversations.open"}:
            case.where = person.user.id

    def _plan(self, case: Case) -> None:
        times = None if case.always else 1
        faults, method = self.slack.faults, case.method
        match case.error:
            case "503":
                faults.server_error(method, times, channel=case.where)
            case "429":
                faults.rate_limit(method, times, channel=case.where)
            case "not JSON":
                faults.not_json(method, times, channel=case.where)
            case "dropped":
                faults.drop(method, times, channel=case.where)
            case "answer lost":
                faults.lose_answer(method, times, channel=case.where)
            case word:
                faults.fail(method, word, times, channel=case.where)

    def _outcomes(self, case: Case) -> list[str]:
        """Everything that tells the asker how it ended, in words."""
        assert case.asked is not None
        assert case.person is not None
        found = [f"in place: {_word(one)}" for one in self.slack.answers_to(case.asked) if _ends(one)]
        found += [f"privately: {_word(one)}" for one in case.person.private if _ends(one)]
        if case.situation != "direct":
            found += [f"directly: {_word(one)}" for one in self.slack.visible(case.person.dm) if _ends(one)]
        return found


def _ends(shown: Message) -> bool:
    return (
        MARK in shown.markdown and "Stop" not in shown.buttons() and not shown.streaming
    ) or "trace " in shown.markdown


def _word(shown: Message) -> str:
    if MARK not in shown.markdown:
        return "an error"
    return "the answer" if shown.blocks else "the answer, plain"


async def played(chosen: Sequence[Case]) -> list[Case]:
    """Play these cases, the quick ones first; each then has its outcome."""
    async with FakeSlack(retry_delays=(0.2, 0.5, 1.0, 2.0), echo=False) as slack, Stage(slack).open() as stage:
        ordered = sorted(chosen, key=lambda case: case.is_slow)
        for first in range(0, len(ordered), LANES):
            await stage.play(ordered[first : first + LANES])
            print(f"{min(first + LANES, len(ordered))} of {len(ordered)}", file=sys.stderr)
    return list(chosen)


async def _measure(methods: Sequence[str]) -> int:
    started = time.monotonic()
    done = await played(cases(methods or tuple(SITUATIONS)))
    print(f"{len(done)} questions, {time.monotonic() - started:.0f} s")
    for method in dict.fromkeys(case.method for case in done):
        told = Counter(case.outcome for case in done if case.method == method)
        print(f"| {method} | {len({case.error for case in done if case.method == method})} errors | "
              + ", ".join(f"{count} {word}" for word, count in told.most_common()) + " |")  # fmt: skip
    wrong = [case for case in done if "LOST" in case.outcome or "DOUBLED" in case.outcome]
    for case in wrong:
        print(f"WRONG {case}: {case.outcome}")
    return 1 if wrong else 0


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    sys.exit(asyncio.run(_measure(sys.argv[1:])))
