"""Setup as a page, only for this machine's operator, with the same steps as ``footnote setup``.

A token is entered once in a hidden field and never sent back. The page shows only where it is set.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from aiohttp import web

from adapters.web.access.forms import read_form
from adapters.web.pages import Pages
from adapters.web.routing import MenuEntry, Right, Route, Visitor
from adapters.web.uploads import LARGEST
from core.model.errors import NotFound
from core.model.health import Check, RunningOptions, SetupStep, SetupStepState, TokenOutcome
from core.ports.access import Audit
from core.ports.sources import LocalFiles
from core.service.kb.commands import MOST_FILES, KbCommand, KbVerb
from core.service.kb.results import BaseList
from core.service.kb.service import KnowledgeService

LONGEST_TOKEN = 1_000
_ANCHOR = "next"  # where the page continues


class SetupGuide(Protocol):
    """The setup of this installation. It stores a token but never returns one."""

    def platforms(self) -> Mapping[str, str]:
        """Return the labels of the platforms that can be set up, by their names."""

    def steps(self, platform: str) -> Sequence[SetupStep]:
        """Return the steps of a platform, in order."""

    def first_messages(self, platform: str) -> Sequence[str]:
        """Return the first messages to write in a channel once Footnote runs, in order."""

    def configured_platforms(self) -> frozenset[str]:
        """Return the platforms with a token, whether it works or not."""

    async def look(self, platform: str, step: SetupStep) -> SetupStepState:
        """Return the state of this step by asking the platform. Problems there become checks, never exceptions."""

    async def take_token(self, setting: str, pasted: str) -> TokenOutcome:
        """Test a token as pasted, and save it if it works.

        Raises NotFound for a setting that no step asks for, and ConfigurationError if the file cannot be written.
        """

    def running_options(self) -> RunningOptions:
        """Return the ways to keep Footnote running on this machine."""

    def write_unit(self) -> str:
        """Write the systemd unit and return its path. Raises ConfigurationError if that fails."""

    async def files(self, path: str) -> LocalFiles:
        """Return the files at a path, recursively. Raises NotFound if there is nothing readable."""


@dataclass(frozen=True, slots=True)
class ShownStep:
    """A step on the page. ``open``: it is the one to do now. ``outcome`` is the result for a token just submitted."""

    step: SetupStep
    state: SetupStepState
    open: bool
    outcome: TokenOutcome | None = None


@dataclass(frozen=True, slots=True)
class SetupScreen:
    """The setup screen. ``examine`` runs doctor."""

    pages: Pages
    guide: SetupGuide
    kb: KnowledgeService
    audit: Audit
    examine: Callable[[], Awaitable[Sequence[Check]]]
    menu: tuple[MenuEntry, ...] = (MenuEntry("Set up", "/setup", Right.OPERATOR),)

    def routes(self) -> tuple[Route, ...]:
        """Return the routes."""
        return (
            Route("GET", "/setup", self._choice, Right.OPERATOR),
            Route("GET", "/setup/{place}", self._place, Right.OPERATOR),
            Route("POST", "/setup/{place}/token", self._token, Right.OPERATOR),
            Route("POST", "/setup/{place}/unit", self._unit, Right.OPERATOR),
        )

    async def _choice(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        """Show the choice of platforms."""
        return self.pages.html(
            request,
            visitor,
            "setup_choice.html",
            platforms=self.guide.platforms(),
            configured=self.guide.configured_platforms(),
            tokens={name: sum(bool(one.token) for one in self.guide.steps(name)) for name in self.guide.platforms()},
        )

    async def _place(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        checks = await self.examine() if request.query.get("doctor") else None
        return await self._html(request, visitor, checks=checks)

    async def _token(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        """Test a token and save it if it works. It appears in no address, log or page."""
        place, form = self._platform(request), await read_form(request)
        setting = form.get("setting", "")
        outcome = await self.guide.take_token(setting, form.get("token", "")[:LONGEST_TOKEN])
        if outcome.kept:
            await self.audit.record(visitor.person.id, f"setup {place}", setting, allowed=True)
            raise web.HTTPSeeOther(f"/setup/{place}#{_ANCHOR}")
        return await self._html(request, visitor, given={setting: outcome}, status=422)

    async def _unit(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        place = self._platform(request)
        path = await asyncio.to_thread(self.guide.write_unit)
        await self.audit.record(visitor.person.id, f"setup {place}", path, allowed=True)
        raise web.HTTPSeeOther(f"/setup/{place}#running")

    async def _html(
        self, request: web.Request, visitor: Visitor, *, given: dict[str, TokenOutcome] | None = None, **context: Any
    ) -> web.StreamResponse:
        place = self._platform(request)
        steps = await self._shown_steps(place, given or {})
        found = await self.kb.handle(KbCommand(KbVerb.LIST), visitor.caller())
        return self.pages.html(
            request,
            visitor,
            "setup_place.html",
            **{"checks": None, **context},
            place=place,
            name=self.guide.platforms()[place],
            steps=steps,
            reached=all(one.state.done or one.step.optional for one in steps),
            anchor=_ANCHOR,
            first_messages=self.guide.first_messages(place),
            documents=sum(base.documents for base in found.bases) if isinstance(found, BaseList) else 0,
            running=await asyncio.to_thread(self.guide.running_options),
            most_files=MOST_FILES,
            largest=LARGEST // 2**20,
        )

    async def _shown_steps(self, place: str, given: dict[str, TokenOutcome]) -> Sequence[ShownStep]:
        """Return all steps with their states. The steps to do now are open; later ones are not."""
        steps = self.guide.steps(place)
        states = await asyncio.gather(*(self.guide.look(place, step) for step in steps))
        shown: list[ShownStep] = []
        waiting = False  # an earlier step has to be done first
        for step, state in zip(steps, states, strict=True):
            outcome = given.get(step.token.setting) if step.token is not None else None
            shown.append(ShownStep(step, state, open=not waiting and not state.done, outcome=outcome))
            needed = step.token is not None or bool(step.until and not step.optional)
            waiting = waiting or (needed and not state.done)
        return shown

    def _platform(self, request: web.Request) -> str:
        place, platforms = request.match_info["place"], self.guide.platforms()
        if place not in platforms:
            labels = " and ".join(platforms.values()) or "No platform"
            raise NotFound("There is no such platform.", remedy=f"{labels} can be set up here.")
        return place
