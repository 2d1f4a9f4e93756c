"""Which bases there are, what they say of themselves, and whom they are for: granted, revoked, confirmed."""

import re
from dataclasses import dataclass, replace

from core.model.errors import NotFound
from core.model.grants import grant, revoke
from core.model.knowledge import KnowledgeBase, find_base
from core.model.principals import EVERYONE, PRINCIPAL_FORMS, PrincipalForm
from core.ports.catalog import Catalog
from core.service.kb.commands import Caller, KbCommand
from core.service.kb.queries import KnowledgeQueries
from core.service.kb.results import BaseCreated, BaseDescribed, GrantsChanged, KbResult
from core.service.kb.summaries import readers_of
from core.service.kb.text_spans import join_names

MOST_DESCRIPTION = 500  # characters
_NAME = re.compile(r"^[\w][\w .-]{0,59}$")


@dataclass(frozen=True, slots=True)
class Bases:
    """Handles CREATE, DESCRIBE, GRANT, REVOKE and CONFIRM. ``forms``: how principals are written."""

    catalog: Catalog
    queries: KnowledgeQueries
    forms: tuple[PrincipalForm, ...] = PRINCIPAL_FORMS

    async def find(self, name: str) -> KnowledgeBase | None:
        """The base of this name, whatever the case of its letters; whether anybody may see it is not asked."""
        return find_base(await self.catalog.bases(), name)

    async def create(self, command: KbCommand, caller: Caller) -> KbResult:
        """CREATE, for everybody unless principals are named."""
        name = base_name(command.base or command.target)
        if await self.find(name) is not None:
            raise NotFound(f"“{name}” cannot be created: the name is taken.", remedy="Choose another.")
        principals = self._principals(command)
        grants = frozenset() if EVERYONE in principals else principals
        base = KnowledgeBase(name, _description(command), grants)
        await self.catalog.save_base(base)
        return BaseCreated(base.name, readers_of(base))

    async def describe(self, command: KbCommand, caller: Caller) -> KbResult:
        """DESCRIBE: what a reasoner reads to choose between bases."""
        base = replace(await self.queries.base(command.base, caller), description=_description(command))
        await self.catalog.save_base(base)
        return BaseDescribed(base.name, base.description)

    async def grant(self, command: KbCommand, caller: Caller) -> KbResult:
        """GRANT: for these too; an open base is then for these alone, and everyone opens it."""
        base = await self.queries.base(command.base, caller)
        if not command.principals:
            raise NotFound("Whom should it be for?", remedy="Name a channel, a role or a group, or everyone.")
        principals = self._principals(command)
        base = replace(base, grants=frozenset()) if EVERYONE in principals else grant(base, principals)
        await self.catalog.save_base(base)
        return GrantsChanged(base.name, readers_of(base))

    async def revoke(self, command: KbCommand, caller: Caller) -> KbResult:
        """REVOKE: not for these any more; without any grant left it is for nobody."""
        base = revoke(await self.queries.base(command.base, caller), command.principals)
        await self.catalog.save_base(base)
        return GrantsChanged(base.name, readers_of(base))

    async def confirm(self, command: KbCommand, caller: Caller) -> KbResult:
        """CONFIRM: after a loss in Redis, these readers are right, and the base is for them again."""
        name = command.base or command.target
        if not name.strip():
            closed = [base.name for base in await self.queries.visible(caller) if base.closed]
            there = f"Closed: {join_names(closed)}." if closed else "None is closed."
            raise NotFound("Of which knowledge base are the readers right?", remedy=there)
        base = replace(await self.queries.base(name, caller), closed=False)
        await self.catalog.save_base(base)
        return GrantsChanged(base.name, readers_of(base))

    def _principals(self, command: KbCommand) -> frozenset[str]:
        """Whom it is granted to. Raises NotFound for what no audience can hold: a slip would close the base to all."""
        for one in command.principals:
            if one != EVERYONE and not any(form.accepts(one) for form in self.forms):
                remedy = f"Write {EVERYONE}, or with their ids {join_names(map(str, self.forms))}."
                raise NotFound(f"“{one[:80]}” is nobody whom a base can be for.", remedy=remedy)
        return frozenset(command.principals)


def _description(command: KbCommand) -> str:
    return " ".join(command.text.split())[:MOST_DESCRIPTION]


def base_name(text: str) -> str:
    """The name as it will be used. Raises NotFound when nothing can be called that."""
    name = " ".join(text.split())
    if not _NAME.match(name):
        raise NotFound(
            "A knowledge base cannot be called that.",
            remedy="Use up to 60 letters, digits, spaces, dots and dashes, beginning with a letter or digit.",
        )
    return name
