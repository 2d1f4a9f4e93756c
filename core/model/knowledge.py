"""The knowledge model: bases contain documents, which have sections (parents) and passages (children)."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from urllib.parse import urlsplit

from core.model.conversation import Audience
from core.model.errors import NotFound


@dataclass(frozen=True, slots=True)
class KnowledgeBase:
    """A named collection of documents. The reasoner reads the description to choose between bases.

    Without ``grants`` the base is open to everyone; otherwise only audiences with one of these principals see it.
    ``connection`` names the source whose permissions ``grants`` mirror. Admins see such a base only if they may read it
    at the source. From ``rights_until`` (ISO) on the base is hidden, unless its permissions were refreshed.
    """

    name: str
    description: str = ""
    grants: frozenset[str] = frozenset()
    closed: bool = False  # after data loss in Redis: only admins read it until one of them confirms its readers
    connection: str = ""
    rights_until: str = ""

    def visible_to(self, audience: Audience) -> bool:
        """Return whether everyone in this audience may read from the base."""
        if audience.unrestricted or (audience.administers and not self.connection):
            return True
        if self.closed or self.is_stale(datetime.now(UTC)):
            return False
        if self.grants:
            return bool(self.grants & audience.principals)
        return audience.open_bases is None or self.name in audience.open_bases

    def is_stale(self, now: datetime) -> bool:
        """Return whether its permissions were not refreshed in time."""
        return bool(self.rights_until) and now >= datetime.fromisoformat(self.rights_until)


def find_base(bases: Iterable[KnowledgeBase], name: str) -> KnowledgeBase | None:
    """Return the base with this name, ignoring case; None if there is none."""
    wanted = name.strip().casefold()
    return next((base for base in bases if base.name.casefold() == wanted), None)


def narrowest_base(bases: Sequence[KnowledgeBase]) -> KnowledgeBase | None:
    """Return the base whose readers may read all the other bases too; None if there is none."""
    return next((one for one in bases if all(_is_within(one, other) for other in bases)), None)


def _is_within(one: KnowledgeBase, other: KnowledgeBase) -> bool:
    return not other.grants or (bool(one.grants) and one.grants <= other.grants)


@dataclass(frozen=True, slots=True)
class Locator:
    """The place of a passage in its document, as far as known."""

    page: int | None = None  # 1-based page or slide
    label: str = ""  # a sheet, an archive member, "slide"
    first_line: int | None = None  # 1-based, in the source file
    last_line: int | None = None

    @property
    def short(self) -> str:
        """The label and the page, without lines of the source file, which most readers do not open."""
        return ", ".join([self.label] * bool(self.label) + [f"page {self.page}"] * (self.page is not None))

    def __str__(self) -> str:
        parts = [self.short] if self.short else []
        if self.first_line is not None:
            same = self.last_line in (None, self.first_line)
            parts.append(f"line {self.first_line}" if same else f"lines {self.first_line}–{self.last_line}")
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class Passage:
    """The unit of search, grading and citation: some sentences of one section.

    Passages do not overlap. ``ordinal`` counts from 0 through the document, so that joining passages in this order
    gives the section. ``heading`` is the path of headings above it, outermost first.
    """

    id: str
    knowledge_base: str
    document: str
    version: str
    section: str
    ordinal: int
    title: str
    text: str
    heading: tuple[str, ...] = ()
    locator: Locator = field(default_factory=Locator)
    source: str = ""
    url: str | None = None
    dated: str = ""  # ISO date that the document states, as far as it does ("2026-03"); empty when it states none

    @property
    def place(self) -> str:
        """Section and locator in one line, for a person: ``Refunds › Annual plans, page 3``."""
        where = " › ".join(self.heading)
        return ", ".join(part for part in (where, str(self.locator)) if part)

    @property
    def short_place(self) -> str:
        """The innermost heading and the page, which a person looks for in the open document."""
        return ", ".join(part for part in ((self.heading or ("",))[-1], self.locator.short) if part)

    @property
    def searchable(self) -> str:
        """The text to embed and to index: the passage below its title and headings."""
        head = " › ".join(dict.fromkeys(part for part in (self.title, *self.heading) if part))
        return f"{head}\n{self.text}" if head else self.text


@dataclass(frozen=True, slots=True)
class Document:
    """One source in one base, in its visible version. ``id`` hashes base and source, ``version`` the content."""

    id: str
    knowledge_base: str
    source: str  # a path or a URL: unique within the base
    title: str
    version: str
    media_type: str
    passages: int
    dated: str = ""  # ISO date that the document states, as far as it does ("2026-03"); empty when it states none
    added_at: str = ""  # ISO timestamp of the ingest
    added_by: str = ""
    url: str | None = None
    etag: str = ""
    notes: tuple[str, ...] = ()
    origin: str = ""  # where it comes from; only for the operator (``core.model.document_content``)
    original: int = 0  # size in bytes of the stored original; 0 if it is not stored


NOBODY = "footnote:nobody"  # a grant that no audience has; keeps a base closed after its last grant is revoked


def grant(base: KnowledgeBase, principals: Collection[str]) -> KnowledgeBase:
    """Return the base readable by these principals too. If it was open, they become its only readers."""
    return replace(base, grants=(base.grants | frozenset(principals)) - {NOBODY})


def revoke(base: KnowledgeBase, principals: Collection[str]) -> KnowledgeBase:
    """Return the base without these readers. Without any grant left, nobody may read it, rather than everyone.

    Raises NotFound if none of these was granted.
    """
    if not base.grants & frozenset(principals):
        raise NotFound(
            f"That was not granted on “{base.name}”.", remedy="The list of knowledge bases shows who can read it."
        )
    return replace(base, grants=(base.grants - frozenset(principals)) or frozenset({NOBODY}))


_TITLES = 4


def matching_sources(documents: Sequence[Document], name: str) -> tuple[Document, ...]:
    """Return the documents that a name refers to: exact matches of id, title or path, otherwise all that contain it."""
    wanted = name.strip().casefold()
    exact = tuple(d for d in documents if wanted in {d.id, d.title.casefold(), d.source.casefold()})
    if exact or not wanted:
        return exact
    return tuple(d for d in documents if wanted in d.title.casefold() or wanted in d.source.casefold())


def list_titles(titles: Iterable[str]) -> str:
    """Return titles as a list for a sentence: each once, the first few by name; empty if there are none."""
    names = list(dict.fromkeys(titles))
    shown = ", ".join(f"*{name}*" for name in names[:_TITLES])
    return f"{shown} and {len(names) - _TITLES} more" if len(names) > _TITLES else shown


_SCHEMES = ("http://", "https://")


def is_link(text: str) -> bool:
    """Return whether this is a web address, which can be fetched."""
    return text.startswith(_SCHEMES)


_CONVERSATION = re.compile(r"([a-z][\w-]*)/[^/]*/[^/]+/(?:[\d.]+|\d{4}-\d\d-\d\d)")
_ANSWER = re.compile(r"answer (\S+) [\d.]+")  # as ``core.model.person_answers`` names it


def conversation_platform(source: str) -> str:
    """Return the platform of a document made from a conversation (a thread, a day, an answer); otherwise ''."""
    found = _CONVERSATION.fullmatch(_ANSWER.sub(r"\1", source))
    return found[1] if found else ""


def redact_link(text: str) -> str:
    """Return the link without user, query and fragment, which may contain secrets; other text unchanged."""
    if not is_link(text):
        return text
    try:
        parts = urlsplit(text)
    except ValueError:  # brackets around something that is not a host address
        return text.partition("?")[0]
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}{'?…' if parts.query else ''}"
