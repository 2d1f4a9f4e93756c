"""Commands that create and describe bases, and set who may read them.

Everyone can read a base until it is restricted. Admins can always manage a base.
"""

import re
from dataclasses import dataclass, replace

from core.model.conversation import Audience
from core.model.errors import NotFound
from core.model.knowledge import KnowledgeBase, find_base, grant, revoke
from core.model.principals import EVERYONE, PRINCIPAL_FORMS, Principal, PrincipalForm, PrincipalKind
from core.ports.catalog import Catalog
from core.ports.job_store import JobStore
from core.service.kb.commands import Caller, KbCommand
from core.service.kb.job_queue import RECENT
from core.service.kb.queries import KnowledgeQueries
from core.service.kb.results import BaseCreated, BaseDescribed, GrantsChanged, KbResult, ReadersPreview
from core.service.kb.summaries import OfferedCommand, readers_of

MOST_DESCRIPTION = 500  # characters
_NAME = re.compile(r"^[\w][\w .-]{0,59}$")


@dataclass(frozen=True, slots=True)
class Bases:
    """Handles CREATE, DESCRIBE, GRANT, REVOKE, CONFIRM. ``forms`` are the notations of the kinds of readers."""

    catalog: Catalog
    queries: KnowledgeQueries
    forms: tuple[PrincipalForm, ...] = PRINCIPAL_FORMS

    async def find(self, name: str) -> KnowledgeBase | None:
        """Return the base of this name, ignoring case. Does not check who may see it."""
        return find_base(await self.catalog.bases(), name)

    async def create(self, command: KbCommand, caller: Caller) -> KbResult:
        """CREATE a base, open to everybody unless principals are named."""
        name = base_name(command.base or command.target)
        if await self.find(name) is not None:
            raise NotFound(f"“{name}” cannot be created: the name is taken.", remedy="Choose another.")
        principals = self._principals(command)
        grants = frozenset() if EVERYONE in principals else principals
        base = KnowledgeBase(name, _description(command), grants)
        await self.catalog.save_base(base)
        return BaseCreated(base.name, readers_of(base))

    async def discard_empty(self, base: KnowledgeBase, jobs: JobStore) -> bool:
        """Remove a base without documents and without a job that will add some; return whether it was removed."""
        of_base = [one for one in await jobs.recent(RECENT) if one.base == base.name]
        waiting = any(not one.over and not one.cancelled_by for one in of_base)
        if waiting or await self.catalog.documents(frozenset({base.name})):
            return False
        await self.catalog.remove_base(base.name)
        return True

    async def describe(self, command: KbCommand, caller: Caller) -> KbResult:
        """DESCRIBE a base, so that a reasoner can choose between bases."""
        base = replace(await self.queries.base(command.base, caller), description=_description(command))
        await self.catalog.save_base(base)
        return BaseDescribed(base.name, base.description)

    async def grant(self, command: KbCommand, caller: Caller) -> KbResult:
        """GRANT: restrict an open base to these readers, or add them to a restricted one; “everyone” opens it.

        Asks for confirmation if many people lose or get access: a base with documents is restricted, or opened to
        everyone.
        """
        base = await self.queries.own_base(command.base, caller)
        if not command.principals:
            raise NotFound("Who should read it?", remedy="Name a channel, a role, a group or a person, or everyone.")
        principals = self._principals(command)
        granted = replace(base, grants=frozenset()) if EVERYONE in principals else grant(base, principals)
        return await self._change_readers(command, base, granted, caller)

    async def revoke(self, command: KbCommand, caller: Caller) -> KbResult:
        """REVOKE: remove these readers. Without grants nobody may read a base, so removing the last one asks first."""
        base = await self.queries.own_base(command.base, caller)
        return await self._change_readers(command, base, revoke(base, command.principals), caller)

    async def _change_readers(
        self, command: KbCommand, base: KnowledgeBase, changed: KnowledgeBase, caller: Caller
    ) -> KbResult:
        now, then = readers_of(base), readers_of(changed)
        documents = len(await self.queries.documents(base))
        asks = now.everybody != then.everybody or (now.principals and not then.principals)
        if documents and asks and not command.confirmed:
            return _preview(replace(command, base=base.name), changed, documents, caller)
        await self.catalog.save_base(changed)
        wider = not now.everybody and (then.everybody or set(then.principals) - set(now.principals))
        return GrantsChanged(base.name, then, documents if wider else 0)

    async def confirm(self, command: KbCommand, caller: Caller) -> KbResult:
        """CONFIRM that a base's readers are right after a data loss in Redis, and reopen it to them."""
        name = command.base or command.target
        if not name.strip():
            closed = [base.name for base in await self.queries.visible(caller) if base.closed]
            there = f"Closed: {', '.join(closed)}." if closed else "None is closed."
            raise NotFound("Which knowledge base do you want to confirm?", remedy=there)
        base = replace(await self.queries.own_base(name, caller), closed=False)
        await self.catalog.save_base(base)
        return GrantsChanged(base.name, readers_of(base))

    def _principals(self, command: KbCommand) -> frozenset[str]:
        """Return the named readers. Raises NotFound for an invalid one, which would close the base to all."""
        for one in command.principals:
            if one != EVERYONE and not any(form.accepts(one) for form in self.forms):
                remedy = f"Use {EVERYONE}, or with their ids {', '.join(map(str, self.forms))}."
                raise NotFound(f"“{one[:80]}” is not a valid reader.", remedy=remedy)
        return frozenset(command.principals)


def _preview(command: KbCommand, changed: KnowledgeBase, documents: int, caller: Caller) -> ReadersPreview:
    """Return the effect of a change of readers, and the commands that confirm it."""
    readers, confirmed = readers_of(changed), replace(command, confirmed=True)
    if readers.everybody or not readers.principals:
        label = "Open it to everyone" if readers.everybody else "Take the last reader away"
        return ReadersPreview(changed.name, readers, documents, OfferedCommand(label, confirmed, once=True))
    own = frozenset(filter(_is_person, caller.permissions.principals))
    loses = not caller.audience.unrestricted and not changed.visible_to(Audience(caller.permissions.principals))
    with_me = replace(confirmed, principals=(*command.principals, *sorted(own)))
    return ReadersPreview(
        changed.name,
        readers,
        documents,
        OfferedCommand("Restrict to these", confirmed, once=True),
        with_me=OfferedCommand("Restrict to these and me", with_me, once=True) if loses and own else None,
        caller_loses=loses,
    )


def _is_person(principal: str) -> bool:
    try:
        return Principal.parse(principal).kind == PrincipalKind.USER
    except ValueError:
        return False


def _description(command: KbCommand) -> str:
    return " ".join(command.text.split())[:MOST_DESCRIPTION]


def base_name(text: str) -> str:
    """Return the normalized name. Raises NotFound if it is not valid."""
    name = " ".join(text.split())
    if not _NAME.match(name):
        raise NotFound(
            "That is not a valid name for a knowledge base.",
            remedy="Use up to 60 letters, digits, spaces, dots and dashes, beginning with a letter or digit.",
        )
    return name
