"""API clients: tokens with the audience of their questions, and reading knowledge without a question.

A token's audience is only its own principal. It reads open bases and those granted to it. If the token names bases, it
reads only those. The secret is shown once, when the token is created, and stored as a hash.
"""

import hashlib
import hmac
import re
import secrets
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, replace

from core.ingestion.change_ledger import Subject
from core.model.clock import Clock
from core.model.conversation import Audience, Person, ThreadKey
from core.model.errors import Busy, Denied, NotFound
from core.model.knowledge import Document, KnowledgeBase, Passage, grant, matching_sources, revoke
from core.ports.access import ApiToken, ApiTokens, Audit, KeptToken, TokenScope
from core.ports.catalog import Catalog
from core.ports.index import Index, Scope
from core.retrieval.hybrid import Retrieval, Retriever
from core.service.visibility import VisibleBases

PREFIX = "footnote"  # of every token, so that anyone who scans for leaked secrets finds them
API_PLATFORM = "api"  # in thread keys
MOST_RATE = 6_000  # a minute
_ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
_TOKEN = re.compile(rf"{PREFIX}_([A-Z0-9]{{8}})_([A-Za-z0-9_-]{{43}})")
_NAME = re.compile(r"[\w.@-]{1,64}")
_MINUTE = 60
NOT_A_TOKEN = "A token is required."  # noqa: S105 - a sentence
REMEDY = "Send the header Authorization: Bearer TOKEN. Create a token with footnote token create."


class Unauthenticated(Denied):
    """The token is missing, unknown or no longer valid."""


@dataclass(frozen=True, slots=True)
class ApiClient:
    """A program that asks questions. ``bases`` None: every base that its audience may read."""

    id: str
    name: str
    audience: Audience
    scopes: frozenset[TokenScope]
    bases: frozenset[str] | None = None

    def person(self, user: str = "") -> Person:
        """Return the asker: the program, or the user it names. Raises NotFound for an invalid name."""
        if user and not _NAME.fullmatch(user):
            raise NotFound("That is not a valid user name.", remedy="Use up to 64 letters, digits and . _ - @")
        return Person(f"{API_PLATFORM}:{self.id}/{user}" if user else f"{API_PLATFORM}:{self.id}", user or self.name)

    def thread(self, conversation: str, user: str = "") -> ThreadKey:
        """Return a conversation of this client and user; no other client or user can reach it. Raises NotFound."""
        if not _NAME.fullmatch(conversation):
            raise NotFound("That is not a valid conversation name.", remedy="Use up to 64 letters, digits and . _ - @")
        return ThreadKey(API_PLATFORM, "", self.person(user).id, conversation)

    def check(self, scope: TokenScope) -> None:
        """Raise Denied unless the token has this scope."""
        if scope not in self.scopes:
            raise Denied(f"This token may not {scope}.", remedy=f"Create a token with --scope {scope}.")

    async def visible_bases(self, catalog: Catalog) -> tuple[KnowledgeBase, ...]:
        """Return the bases that the client may read now."""
        return await VisibleBases(catalog).for_audience(self.audience, self.bases)

    async def select_bases(self, catalog: Catalog, name: str) -> frozenset[str]:
        """Return the names of the bases to search: the named one, or all that the client may read. Raises NotFound."""
        bases = VisibleBases(catalog)
        if name:
            return await bases.select(name, self.audience, self.bases)
        return await bases.names(self.audience, self.bases)


@dataclass(frozen=True, slots=True)
class ApiClients:
    """Creates, lists, revokes and authenticates tokens. ``record_end`` stores revocations in the ledger."""

    tokens: ApiTokens
    catalog: Catalog
    audit: Audit
    clock: Clock
    record_end: Callable[[Subject, str], Awaitable[None]] | None = None

    async def create(
        self,
        name: str,
        scopes: Collection[TokenScope],
        bases: Collection[str],
        by: Person,
        *,
        rate: int = 60,
        public: bool = False,
    ) -> tuple[ApiToken, str]:
        """Create a token; return it with its secret. It is granted each named base that is not open.

        Raises NotFound for a base that does not exist or if INGEST names none, Busy when there are too many tokens.
        """
        if not scopes:
            raise NotFound("The token has no scope.", remedy=f"Name at least one scope: {', '.join(TokenScope)}.")
        if TokenScope.INGEST in scopes and not bases:
            raise NotFound(
                "A token with the scope ingest needs a knowledge base.", remedy="Name the knowledge bases with --kb."
            )
        known = {base.name: base for base in await self.catalog.bases()}
        for base in bases:
            if base not in known:
                there = ", ".join(sorted(known)) or "none yet"
                raise NotFound(f"There is no knowledge base called “{base[:60]}”. Available: {there}.")
            if known[base].connection:
                raise Denied(
                    f"“{base}” has the readers of a connected source.",
                    remedy="Map a group to the token with footnote connections map.",
                )
        token = ApiToken(
            id="".join(secrets.choice(_ALPHABET) for _ in range(8)),
            name=" ".join(name.split())[:80] or "a program",
            scopes=frozenset(scopes),
            bases=frozenset(bases) or None,
            created_at=self.clock.now(),
            created_by=by.id,
            rate=max(1, min(rate, MOST_RATE)),
            public=public,
        )
        secret = f"{PREFIX}_{token.id}_{secrets.token_urlsafe(32)}"
        await self.tokens.keep(KeptToken(token, _digest(secret)))
        for name_ in sorted(token.bases or ()):
            if known[name_].grants:
                await self.catalog.save_base(grant(known[name_], {token.principal}))
        detail = f"{', '.join(sorted(token.scopes))}; {', '.join(sorted(token.bases or ())) or 'open bases'}"
        await self.audit.record(by.id, "create token", f"{token.id} {token.name}", allowed=True, detail=detail)
        return token, secret

    async def revoke(self, token_id: str, by: Person) -> ApiToken:
        """Revoke a token for good. Raises NotFound."""
        kept = await self.tokens.find(token_id.strip().upper())
        if kept is None:
            raise NotFound("There is no such token.", remedy="footnote token list shows them.")
        if kept.token.revoked_at is None:
            kept = replace(kept, token=replace(kept.token, revoked_at=self.clock.now()))
            await self.tokens.keep(kept)
        if self.record_end is not None:
            await self.record_end(Subject.TOKEN, kept.token.id)
        for base in await self.catalog.bases():
            if kept.token.principal in base.grants:
                await self.catalog.save_base(revoke(base, {kept.token.principal}))
        await self.audit.record(by.id, "revoke token", f"{kept.token.id} {kept.token.name}", allowed=True)
        return kept.token

    async def authenticate(self, secret: str) -> ApiClient:
        """Return the client that sends this request, and count it. Raises Unauthenticated, and Busy above the rate."""
        token = await self._token(secret)
        if await self.tokens.count_use(token.id, _MINUTE) > token.rate:
            raise Busy(f"More than {token.rate} requests within a minute.", remedy="Wait a moment, then try again.")
        return client_of(token)

    async def identify(self, secret: str) -> ApiClient:
        """Return the client of this token without counting a request. Raises Unauthenticated."""
        return client_of(await self._token(secret))

    async def _token(self, secret: str) -> ApiToken:
        found = _TOKEN.fullmatch(secret.strip())
        kept = await self.tokens.find(found[1]) if found else None
        if kept is None or not hmac.compare_digest(kept.digest, _digest(secret.strip())):
            raise Unauthenticated(NOT_A_TOKEN, remedy=REMEDY)
        if kept.token.revoked_at is not None:
            raise Unauthenticated("This token was revoked.", remedy="Ask an admin for a new token.")
        return kept.token


def local_owner() -> ApiClient:
    """Return the client of anyone who runs a process on this machine: they own the data and may read all of it."""
    return ApiClient("owner", "the owner", Audience(unrestricted=True), frozenset(TokenScope))


def client_of(token: ApiToken) -> ApiClient:
    """Return the client that holds this token."""
    audience = Audience(frozenset({token.principal}), public=token.public)
    return ApiClient(token.id, token.name, audience, token.scopes, token.bases)


def _digest(secret: str) -> str:
    """Return the SHA-256 of a secret. A slow hash is unnecessary, because nobody guesses 256 random bits."""
    return hashlib.sha256(secret.encode()).hexdigest()


MOST_HITS = 100  # of one search; programs may ask for 20
MOST_DOCUMENTS = 200  # listed at once
MOST_PASSAGES = 100  # of one section


@dataclass(frozen=True, slots=True)
class Listing:
    """Documents of the bases that a client may read, and how many more there are."""

    documents: Sequence[Document]
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a document, its passages in reading order; ``cut`` if it has more."""

    document: Document
    passages: Sequence[Passage]
    cut: bool = False

    @property
    def text(self) -> str:
        """Return the section's text."""
        return "\n\n".join(passage.text for passage in self.passages)


@dataclass(frozen=True, slots=True)
class KnowledgeReader:
    """Read-only access to knowledge. For a client, what it may not read does not exist."""

    catalog: Catalog
    index: Index
    retriever: Retriever

    async def search(
        self, client: ApiClient, query: str, *, base: str = "", source: str = "", limit: int = 8
    ) -> Retrieval:
        """Return the best passages, best first: from all bases, one base, or the documents that match ``source``.

        Raises NotFound for a base or a source that does not exist, and Unavailable.
        """
        bases = await client.select_bases(self.catalog, base)
        documents = None
        if source:
            chosen = matching_sources(await self.catalog.documents(bases), source)
            if not chosen:
                raise NotFound(
                    f"There is no source called “{source[:80]}”.", remedy="List the sources to see their names."
                )
            documents = frozenset(document.id for document in chosen)
        return await self.retriever.search(query, Scope(bases, documents), max(1, min(limit, MOST_HITS)))

    async def documents(self, client: ApiClient, *, base: str = "", name: str = "") -> Listing:
        """Return documents by base and title; ``name`` limits them by title or path. Raises NotFound."""
        found = await self.catalog.documents(await client.select_bases(self.catalog, base))
        chosen = matching_sources(found, name) if name.strip() else found
        return Listing(chosen[:MOST_DOCUMENTS], max(0, len(chosen) - MOST_DOCUMENTS))

    async def section(self, client: ApiClient, document_id: str, section_id: str) -> Section:
        """Return a section by the id from a search. Raises NotFound if it is missing or this client may not read it."""
        document = await self.catalog.document(document_id)
        bases = await client.select_bases(self.catalog, "")
        if document is None or document.knowledge_base not in bases:
            raise NotFound("There is no such document.", remedy="Search to see the existing documents.")
        scope = Scope(frozenset({document.knowledge_base}))
        passages = [
            one for one in await self.index.passages(document.id, document.version, scope) if one.section == section_id
        ]
        if not passages:
            raise NotFound("That document has no such section.", remedy="Search to see the current sections.")
        return Section(document, passages[:MOST_PASSAGES], len(passages) > MOST_PASSAGES)
