"""Replies to ``/kb``: results as blocks with buttons, and plain text as a fallback."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from adapters.slack.kb import blocks as kb_blocks
from adapters.slack.kb.command_parser import KB
from adapters.slack.kb.principals import PrincipalNames
from adapters.slack.outbound import blocks
from core.model.records import PERSON
from core.service.delivery.job_cards import JobCards
from core.service.kb.commands import Caller
from core.service.kb.job_cards import job_title
from core.service.kb.kept_commands import KeptCommand, KeptCommands
from core.service.kb.results import KbOutcome, KbResult, KbView, ProposalDecided, ProposalList, accepted_jobs
from core.service.kb.summaries import OfferedCommand
from core.service.kb.text_layout import Part, lay_out, plain_lines
from core.service.kb.text_spans import Line, line_text, strong
from core.service.kb.wording import outcome_layout, outcome_lines


@dataclass(frozen=True, kw_only=True)
class SlackKeptCommand(KeptCommand, place="slack/kb/{person}", subject="{id}"):
    """A button below a reply with its command, or a form with the channel where it was opened."""

    person: str = field(metadata=PERSON)
    once: bool = False  # the button acts once; others can be pressed repeatedly
    channel: str = ""

    @property
    def acts_once(self) -> bool:
        """Whether only the first press counts."""
        return self.once


ON_THE_CARD = "I show the progress in our direct message."
IN_WORDS = "I can't send you a direct message. `{command}` shows the progress."
APPROVE = f"`{KB} approve ID --kb NAME` adds a proposal to another knowledge base."


@dataclass(frozen=True, slots=True)
class KbReply:
    """A reply to the caller: the blocks, and the text for where there are none.

    ``outcome`` is the result of a press, without the rest of what is shown below it.
    """

    text: str
    blocks: list[blocks.Block]
    outcome: tuple[Line, ...] = ()


def text_reply(text: str) -> KbReply:
    """Return a reply of plain text lines, without buttons."""
    return lines_reply(plain_lines(text.splitlines()))


def lines_reply(lines: Sequence[Line]) -> KbReply:
    """Return a reply of these lines, without buttons."""
    return KbReply("\n".join(map(line_text, lines)), kb_blocks.reply([(lines, ())]), tuple(lines))


def outcome_text(result: KbResult) -> str:
    """Return the outcome in words of a command that has no view, or an empty string."""
    return "\n".join(outcome_lines(result)) if isinstance(result, KbOutcome) else ""


@dataclass(frozen=True, slots=True)
class ReplyRenderer:
    """Renders results for one caller. It stores their buttons and names the principals that they may know."""

    principal_names: PrincipalNames
    kept_commands: KeptCommands[SlackKeptCommand]
    cards: JobCards

    async def render_proposals(self, result: ProposalList, caller: Caller) -> list[blocks.Block]:
        """Render proposals with their buttons for the Home tab, which has its own heading."""
        head, *rest = lay_out(result).parts
        parts = [replace(head, lines=head.lines[1:]), *rest]
        more = f"More: `{KB} proposals --page 2`" if result.page.next is not None else ""
        return kb_blocks.reply(await self._with_buttons(parts, caller), note=more)

    async def render(self, result: KbResult, caller: Caller) -> KbReply:
        """Return a result with its buttons. For jobs, say where their cards are."""
        if isinstance(result, KbOutcome):
            return lines_reply(await self.render_outcomes([result], caller))
        outcome = (
            tuple(await self.render_outcomes([result.outcome], caller)) if isinstance(result, ProposalDecided) else ()
        )
        view: KbView = result.remaining if isinstance(result, ProposalDecided) else result
        layout = lay_out(view)
        is_admin = caller.permissions.is_admin
        shown = [
            replace(one, lines=tuple(await self.principal_names.name_principals(one.lines, is_admin=is_admin)))
            for one in layout.parts
        ]
        parts = [*([Part(outcome)] if outcome else []), *shown]
        row: list[blocks.Block] = []
        if layout.confirm is not None:
            offer = await self._offer(layout.confirm, caller)
            row.append(blocks.button(layout.confirm.label, kb_blocks.CONFIRM, offer, style="danger"))
        for one in layout.page.buttons:
            action = kb_blocks.PAGE_BACK if one.command == layout.page.previous else kb_blocks.PAGE_ON
            row.append(blocks.button(one.label, action, await self._offer(one, caller)))
        note = APPROVE if isinstance(view, ProposalList) and view.proposals else ""
        text = "\n".join(line_text(line) for part in parts for line in part.lines)
        return KbReply(text, kb_blocks.reply(await self._with_buttons(parts, caller), row, note), outcome)

    async def _with_buttons(
        self, parts: Sequence[Part], caller: Caller
    ) -> list[tuple[Sequence[Line], list[blocks.Block]]]:
        """Return the parts, each with a button for every action below it."""
        rows: list[tuple[Sequence[Line], list[blocks.Block]]] = []
        for number, part in enumerate(parts):
            row = [
                blocks.button(one.label, f"{kb_blocks.CHOICE}_{number}_{place}", await self._offer(one, caller))
                for place, one in enumerate(part.actions)
            ]
            rows.append((part.lines, row))
        return rows

    async def _offer(self, action: OfferedCommand, caller: Caller) -> str:
        """Return the id that a button for this action carries."""
        offered = SlackKeptCommand(person=caller.person.id, command=action.command, once=action.once)
        return await self.kept_commands.keep(offered)

    async def render_outcomes(self, results: Sequence[KbResult], caller: Caller) -> list[Line]:
        """Post a card for each job. Return the outcomes of the commands, and where the cards are."""
        titles: list[Line] = []
        where = ""
        for job in (job for result in results for job in accepted_jobs(result)):
            titles.append((strong(job_title(job)),))
            posted = await self.cards.post(job, caller)
            where = ON_THE_CARD if posted else IN_WORDS.format(command=f"{KB} jobs")
        words = [line for result in results if isinstance(result, KbOutcome) for line in outcome_layout(result)]
        words += plain_lines(filter(None, [where]))
        for result in results:
            words += plain_lines(await self.principal_names.partner_notes(result))
        words = await self.principal_names.name_principals(words, is_admin=caller.permissions.is_admin)
        return [*titles, *dict.fromkeys(words)]  # notes that apply to all results appear once
