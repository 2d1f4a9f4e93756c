"""Asking: conversations, their answers as they are made, and what can be done with them."""

import re
import secrets
from contextlib import suppress
from dataclasses import dataclass, replace

from aiohttp import web

from adapters.web.access.forms import read_form
from adapters.web.ask.conversations import Conversations
from adapters.web.ask.live_streams import LiveStreams
from adapters.web.ask.question_state import AnswerStage, WebQuestionState
from adapters.web.ask.turn_views import TurnView, TurnViews
from adapters.web.knowledge.result_lines import told_with_jobs
from adapters.web.knowledge.uploads import LARGEST
from adapters.web.pages import Pages, wants_part
from adapters.web.routing import MenuEntry, Route, Visitor
from core.model.errors import DocumentRejected, FootnoteError, NotFound
from core.model.incoming_events import IncomingChoice, IncomingMessage
from core.model.inquiry import Checkpoint, Choice
from core.model.message_text import too_long
from core.ports.inbox import Inbox
from core.service.actions.user_actions import UserActions
from core.service.actions.wording import outcome_text
from core.service.delivery_codec import delivery
from core.service.kb.commands import MOST_FILES
from core.service.kb.knowledge_commands import KnowledgeCommands
from core.service.kb.results import is_success

LONGEST_WORDS = 1_000
SHOWN = 12  # conversations in the list beside the question
_NAME = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class AskScreen:
    """Asking, following up, choosing, stopping and rating on the page."""

    pages: Pages
    conversations: Conversations
    turns: TurnViews
    live: LiveStreams
    inbox: Inbox
    actions: UserActions
    kb: KnowledgeCommands
    menu: tuple[MenuEntry, ...] = (MenuEntry("Ask", "/ask"),)

    def routes(self) -> tuple[Route, ...]:
        """The routes of asking."""
        question = "/ask/{name}/{question}"
        return (
            Route("GET", "/", self._home),
            Route("GET", "/ask", self._home),
            Route("POST", "/ask", self._ask),
            Route("GET", "/ask/{name}", self._conversation),
            Route("POST", "/ask/{name}", self._ask),
            Route("POST", "/ask/{name}/forget", self._forget),
            Route("POST", "/forget-me", self._forget_me),
            Route("GET", question, self._question),
            Route("GET", question + "/stream", self._stream),
            Route("POST", question + "/stop", self._stop),
            Route("POST", question + "/choose", self._choose),
            Route("POST", question + "/rate", self._rate),
            Route("POST", question + "/correct", self._correct),
            Route("GET", question + "/why", self._why),
        )

    # --- looking

    async def _home(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        bases = await self.actions.overview.knowledge_bases(visitor.audience)
        return self.pages.html(
            request,
            visitor,
            "ask_home.html",
            bases=bases,
            documents=sum(one.documents for one in bases),
            conversations=(await self.conversations.of(visitor))[:SHOWN],
            most_files=MOST_FILES,
            largest=LARGEST // 2**20,
        )

    async def _conversation(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        name = _name(request)
        messages = await self.conversations.questions(visitor, name)
        if not messages:
            raise NotFound("There is no such conversation of yours (any more).")
        return self.pages.html(
            request,
            visitor,
            "conversation.html",
            name=name,
            turns=await self.turns.of(visitor, messages),
            conversations=(await self.conversations.of(visitor))[:SHOWN],
            bases=await self.actions.overview.knowledge_bases(visitor.audience),
        )

    async def _question(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        message = await self._message(request, visitor)
        if not wants_part(request):
            raise web.HTTPSeeOther(f"/ask/{message.thread.thread}#q-{message.id}")
        return self.pages.part("_turn.html", turn=await self.turns.one(visitor, message), visitor=visitor, fresh=False)

    async def _stream(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        return await self.live.send(request, visitor, await self._message(request, visitor))

    async def _why(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        message = await self._message(request, visitor)
        turn = await self.turns.one(visitor, message)
        explanation = await self.actions.answers.explain(message.thread, visitor.audience, turn.trace_id)
        steps = (*explanation.steps, f"Trace {explanation.trace_id}.")
        if wants_part(request):
            return self.pages.part("_why.html", steps=steps, turn=turn, visitor=visitor)
        return self.pages.html(request, visitor, "why.html", steps=steps, turn=turn, name=message.thread.thread)

    # --- asking

    async def _ask(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        form = await read_form(request)
        text = form.get("question", "").strip()
        if not text:
            raise DocumentRejected("There was no question in that.", remedy="Write one and send it again.")
        if refusal := too_long(text):
            raise DocumentRejected(refusal)
        name = request.match_info.get("name") or secrets.token_hex(8)
        if not _NAME.fullmatch(name):
            raise NotFound("There is no such conversation.")
        base = form.get("base", "").strip()
        message = await self.conversations.add(visitor, name, text, (base,) if base else ())
        try:
            await self.inbox.put(delivery(f"web:{message.id}", message))
        except FootnoteError:
            await self.conversations.withdraw(message)
            raise
        if wants_part(request) and "name" in request.match_info:
            turn = await self.turns.one(visitor, message)
            return self.pages.part("_turn.html", turn=turn, visitor=visitor, fresh=True)
        raise web.HTTPSeeOther(f"/ask/{name}#q-{message.id}")

    async def _stop(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        message = await self._message(request, visitor)
        question = WebQuestionState(thread=message.thread, message=message.id)
        with suppress(NotFound):  # it has ended in the meantime: how, is shown
            await self.actions.cancellation.stop(question, visitor.person, visitor.may_administer)
        return await self._respond(request, visitor, message)

    async def _choose(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        message = await self._message(request, visitor)
        form = await read_form(request)
        named, chosen = form.get("checkpoint", ""), form.get("choice", "")
        may_administer, thread = visitor.may_administer, message.thread
        parked, choice = await self.actions.choices.find(named, chosen, visitor.person, may_administer, thread)
        words = form.get("words", "").strip()[:LONGEST_WORDS]
        if choice.asks_text and not words:
            raise DocumentRejected("There was nothing in that field.", remedy="Write a few words and press again.")
        await self._take(visitor, message, parked.checkpoint, choice, words if choice.asks_text else "")
        return await self._respond(request, visitor, message)

    async def _take(
        self, visitor: Visitor, message: IncomingMessage, checkpoint: Checkpoint, choice: Choice, words: str
    ) -> None:
        """Put the choice in line. The same press again is the same delivery, and changes nothing."""
        chosen = f"{choice.label}: {words}" if words else choice.label
        pressed = IncomingChoice(
            checkpoint.id, choice.id, visitor.person, message.thread, text=words, subject=message.id
        )
        state = WebQuestionState(thread=message.thread, message=message.id, asker=visitor.person.id)
        taken, states = replace(state, stage=AnswerStage.CHOSEN, chosen=chosen), self.turns.message_states
        await states.save(taken)
        try:
            await self.actions.choices.enqueue(f"web:{checkpoint.id}:{choice.id}", pressed, chosen)
        except FootnoteError:  # it is not in line: the card can be answered still
            await states.save(replace(state, stage=AnswerStage.ENDED), was=taken)
            raise

    # --- what people think of it

    async def _rate(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        message = await self._message(request, visitor)
        form = await read_form(request)
        turn = await self.turns.one(visitor, message)
        helpful = form.get("helpful") == "yes"
        reason = form.get("reason", "").strip()[:LONGEST_WORDS]
        await self.actions.ratings.rate(message.thread, turn.trace_id, visitor.person, helpful=helpful, reason=reason)
        rating = "helpful" if helpful else "unhelpful"
        state = WebQuestionState(thread=message.thread, message=message.id, asker=visitor.person.id)
        await self.turns.message_states.save(replace(state, rating=rating))
        if wants_part(request):
            rated = replace(turn, rating=rating)
            return self.pages.part("_rating.html", turn=rated, visitor=visitor, said=bool(reason))
        return _back(message)

    async def _correct(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        message = await self._message(request, visitor)
        answer = (await read_form(request)).get("answer", "").strip()[: 4 * LONGEST_WORDS]
        turn = await self.turns.one(visitor, message)
        result = await self.kb.correct(turn.question, answer, None, visitor.caller(), trace_id=turn.trace_id)
        return self.pages.part("_reply.html", text=told_with_jobs(result), ok=is_success(result))

    # --- forgetting

    async def _forget(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        name = _name(request)
        await self.actions.memory.forget_thread(visitor.thread(name), visitor.person, is_admin=visitor.is_admin)
        await self.conversations.remove(visitor, name)
        raise web.HTTPSeeOther("/ask")

    async def _forget_me(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        text = (
            f"{outcome_text(await self.actions.memory.forget_person(visitor.person))} You are signed out of this page."
        )
        return self.pages.html(request, visitor, "said.html", text=text)

    # --- finding

    async def _message(self, request: web.Request, visitor: Visitor) -> IncomingMessage:
        message = await self.conversations.question(visitor, _name(request), request.match_info["question"])
        if message is None:
            raise NotFound("There is no such question of yours (any more).")
        return message

    async def _respond(self, request: web.Request, visitor: Visitor, message: IncomingMessage) -> web.StreamResponse:
        """The question as it stands now: in its place, or its page anew."""
        if not wants_part(request):
            return _back(message)
        turn: TurnView = await self.turns.one(visitor, message)
        return self.pages.part("_turn.html", turn=turn, visitor=visitor, fresh=True)


def _back(message: IncomingMessage) -> web.StreamResponse:
    raise web.HTTPSeeOther(f"/ask/{message.thread.thread}#q-{message.id}")


def _name(request: web.Request) -> str:
    name = request.match_info["name"]
    if not _NAME.fullmatch(name):
        raise NotFound("There is no such conversation.")
    return name
