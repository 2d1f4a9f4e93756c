"""Ask screen: conversations, live answers, and actions on answers."""

import asyncio
import re
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from aiohttp import web

from adapters.web.access.forms import read_form
from adapters.web.ask.answer_view import AnswerStage, WebQuestionState
from adapters.web.ask.conversations import AttachedTexts, Conversations
from adapters.web.ask.live_streams import LiveStreams
from adapters.web.ask.turn_views import TurnView, TurnViews
from adapters.web.knowledge_screen import told_with_jobs
from adapters.web.pages import Pages, wants_part
from adapters.web.routing import MenuEntry, Route, Visitor
from adapters.web.uploads import LARGEST, Upload
from core.model.conversation import Audience, ContextMessage
from core.model.errors import DocumentRejected, FootnoteError, NotFound
from core.model.incoming_events import FileReference, IncomingChoice, IncomingMessage
from core.model.inquiry import Checkpoint, Choice
from core.model.message_text import LONGEST_QUESTION, too_long
from core.ports.inbox import Inbox
from core.service.actions.presses import AnswerButton, AnswerPress, press_button
from core.service.actions.user_actions import UserActions
from core.service.actions.wording import TOLD_OWNER, outcome_text
from core.service.attached_files import ABOUT_FILES
from core.service.explanations import Explanation
from core.service.help import ExampleQuestions
from core.service.incoming import delivery
from core.service.kb.commands import MOST_FILES, KbCommand, KbVerb
from core.service.kb.results import BaseList, is_success
from core.service.kb.service import KnowledgeService

LONGEST_WORDS = 1_000
READING_SECONDS = 300.0  # for the files of one question, on a slow connection
SHOWN, MOST_FOUND = 12, 50  # conversations in the side list, and in search results
LONGEST_FIND = 100  # characters
_LONGEST_KEY = 40  # characters of a form's id
_NAME = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class AskScreen:
    """The ask screen: asking, following up, choosing, stopping and rating."""

    pages: Pages
    conversations: Conversations
    turns: TurnViews
    live: LiveStreams
    inbox: Inbox
    actions: UserActions
    kb: KnowledgeService
    attached: AttachedTexts
    examples: ExampleQuestions
    menu: tuple[MenuEntry, ...] = (MenuEntry("Ask", "/ask"),)

    def routes(self) -> tuple[Route, ...]:
        """Return the routes of asking."""
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
            Route("POST", question + "/owner", self._tell_owner),
        )

    # --- looking

    async def _home(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        bases = await self.actions.overview.knowledge_bases(visitor.audience)
        documents = sum(one.documents for one in bases)
        find = request.query.get("find", "")[:LONGEST_FIND].strip()
        return self.pages.html(
            request,
            visitor,
            "ask_home.html",
            bases=bases,
            documents=documents,
            examples=await self.examples.suggest(visitor.caller()) if documents else (),
            find=find,
            restricted=not documents and await self._manages_documents(visitor),
            conversations=(await self.conversations.find(visitor, find))[: MOST_FOUND if find else SHOWN],
            most_files=MOST_FILES,
            largest=LARGEST // 2**20,
        )

    async def _manages_documents(self, visitor: Visitor) -> bool:
        """Return whether there are documents that this admin manages but may not be able to read."""
        found = await self.kb.handle(KbCommand(KbVerb.LIST), visitor.caller()) if visitor.is_admin else None
        return isinstance(found, BaseList) and any(base.documents for base in found.bases)

    async def _conversation(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        name = _name(request)
        messages = await self.conversations.questions(visitor, name)
        if not messages:
            raise NotFound("This conversation was not found.")
        return self.pages.html(
            request,
            visitor,
            "conversation.html",
            name=name,
            find="",
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
        async with press_button(self.actions.answers, AnswerButton.WHY, _pressed(visitor, message, turn)) as outcome:
            assert isinstance(outcome, Explanation)
        steps = (*outcome.steps, f"Trace {outcome.trace_id}.")
        if wants_part(request):
            return self.pages.part("_why.html", steps=steps, turn=turn, visitor=visitor)
        return self.pages.html(request, visitor, "why.html", steps=steps, turn=turn, name=message.thread.thread)

    # --- asking

    async def _ask(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        form, files = await self._read_form(request)
        text = form.get("question", "").strip() or (ABOUT_FILES if files else "")
        if not text:
            raise DocumentRejected("The question was empty.", remedy="Write a question and send it.")
        if refusal := too_long(text):
            raise DocumentRejected(refusal)
        sent = form.get("form", "")[:_LONGEST_KEY]
        is_new = "name" not in request.match_info
        name = request.match_info.get("name") or (sent if _NAME.fullmatch(sent) else secrets.token_hex(8))
        if not _NAME.fullmatch(name):
            raise NotFound("This conversation was not found.")
        base = form.get("base", "").strip()
        hung = tuple(FileReference(str(n), file.author) for n, file in enumerate(files))
        message = await self.conversations.add(visitor, name, text, (base,) if base else (), form=sent, files=hung)
        try:
            await self.attached.keep(message, files)
            await self.inbox.put(delivery(f"web:{message.id}", message))
        except FootnoteError:
            await self.conversations.withdraw(message)
            raise
        there = f"/ask/{name}#q-{message.id}"
        if not wants_part(request):
            raise web.HTTPSeeOther(there)
        if is_new:
            return web.Response(status=204, headers={"HX-Redirect": there})
        turn = await self.turns.one(visitor, message)
        return self.pages.part("_turn.html", turn=turn, visitor=visitor, fresh=True)

    async def _read_form(self, request: web.Request) -> tuple[Mapping[str, str], tuple[ContextMessage, ...]]:
        """Return the fields of a question's form, and the text of its files."""
        if request.content_type != "multipart/form-data":
            return await read_form(request), ()
        upload = Upload(request, longest_field=8 * LONGEST_QUESTION)  # bytes; a longer question is rejected
        try:
            async with asyncio.timeout(READING_SECONDS):
                await upload.read_fields()
                return upload.fields, await self.attached.read(upload)
        except TimeoutError:
            raise DocumentRejected(
                ("Reading the files took too long."), remedy="Attach fewer or smaller files."
            ) from None

    async def _stop(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        message = await self._message(request, visitor)
        question = WebQuestionState(thread=message.thread, message=message.id)
        with suppress(NotFound):  # it has ended; the result is shown
            await self.actions.questions.stop(question, visitor.person, visitor.may_administer)
        return await self._respond(request, visitor, message)

    async def _choose(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        message = await self._message(request, visitor)
        form = await read_form(request)
        named, chosen = form.get("checkpoint", ""), form.get("choice", "")
        may_administer, thread = visitor.may_administer, message.thread
        parked, choice = await self.actions.questions.find_choice(named, chosen, visitor.person, may_administer, thread)
        words = form.get("words", "").strip()[:LONGEST_WORDS]
        if choice.asks_text and not words:
            raise DocumentRejected("That field was empty.", remedy="Write a few words and try again.")
        await self._take(visitor, message, parked.checkpoint, choice, words if choice.asks_text else "")
        return await self._respond(request, visitor, message)

    async def _take(
        self, visitor: Visitor, message: IncomingMessage, checkpoint: Checkpoint, choice: Choice, words: str
    ) -> None:
        """Queue the choice. Pressing again is the same delivery and changes nothing."""
        chosen = f"{choice.label}: {words}" if words else choice.label
        pressed = IncomingChoice(
            checkpoint.id, choice.id, visitor.person, message.thread, text=words, subject=message.id
        )
        state = WebQuestionState(thread=message.thread, message=message.id, asker=visitor.person.id)
        taken, states = replace(state, stage=AnswerStage.CHOSEN, chosen=chosen), self.turns.message_states
        await states.save(taken)
        try:
            await self.actions.questions.enqueue_choice(f"web:{checkpoint.id}:{choice.id}", pressed, chosen)
        except FootnoteError:  # not queued: the card can still be answered
            await states.save(replace(state, stage=AnswerStage.ENDED), was=taken)
            raise

    # --- what people think of it

    async def _rate(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        message = await self._message(request, visitor)
        form = await read_form(request)
        turn = await self.turns.one(visitor, message)
        helpful = form.get("helpful") == "yes"
        reason = form.get("reason", "").strip()[:LONGEST_WORDS]
        action = AnswerButton.HELPFUL if helpful else AnswerButton.UNHELPFUL
        async with press_button(self.actions.answers, action, _pressed(visitor, message, turn, reason)):
            pass  # the page shows the stored rating
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
        kept = await self.actions.answers.read(message.thread, turn.trace_id, visitor.audience)
        result = await self.kb.proposals.correct(
            turn.question, answer, None, visitor.caller(), trace_id=turn.trace_id, bases=kept.source_bases
        )
        return self.pages.part("_reply.html", text=told_with_jobs(result), ok=is_success(result))

    async def _tell_owner(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        message = await self._message(request, visitor)
        turn = await self.turns.one(visitor, message)
        async with press_button(self.actions.answers, AnswerButton.OWNER, _pressed(visitor, message, turn)):
            pass  # pressing is all there is to do
        if wants_part(request):
            return self.pages.part("_reply.html", text=TOLD_OWNER, ok=True)
        return self.pages.html(request, visitor, "said.html", text=TOLD_OWNER)

    # --- forgetting

    async def _forget(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        name = _name(request)
        await self.actions.memory.forget_thread(visitor.thread(name), visitor.person, is_admin=visitor.is_admin)
        await self.conversations.remove(visitor, name)
        raise web.HTTPSeeOther("/ask")

    async def _forget_me(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        text = (
            f"{outcome_text(await self.actions.memory.forget_person(visitor.person))} You are now signed out of this"
            " page."
        )
        return self.pages.html(request, visitor, "said.html", text=text)

    # --- finding

    async def _message(self, request: web.Request, visitor: Visitor) -> IncomingMessage:
        message = await self.conversations.question(visitor, _name(request), request.match_info["question"])
        if message is None:
            raise NotFound("This question was not found.")
        return message

    async def _respond(self, request: web.Request, visitor: Visitor, message: IncomingMessage) -> web.StreamResponse:
        """Return the question with its current state, as part of the page, or redirect to the whole page."""
        if not wants_part(request):
            return _back(message)
        turn: TurnView = await self.turns.one(visitor, message)
        return self.pages.part("_turn.html", turn=turn, visitor=visitor, fresh=True)


def _back(message: IncomingMessage) -> web.StreamResponse:
    raise web.HTTPSeeOther(f"/ask/{message.thread.thread}#q-{message.id}")


def _name(request: web.Request) -> str:
    name = request.match_info["name"]
    if not _NAME.fullmatch(name):
        raise NotFound("This conversation was not found.")
    return name


def _pressed(visitor: Visitor, message: IncomingMessage, turn: TurnView, reason: str = "") -> AnswerPress:
    async def reader() -> Audience:
        return visitor.audience

    return AnswerPress(message.thread, turn.trace_id, visitor.person, reader, reader, reason)
