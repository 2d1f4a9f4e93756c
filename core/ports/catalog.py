"""Bases, documents, and which version of each is visible."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from core.model.knowledge import Document, KnowledgeBase


class Catalog(Protocol):
    """The catalog: bases, documents, and which version of each is the visible one.

    ``publish`` is the one step that makes a new version visible: a search drops hits whose version is not the
    published one.
    """

    async def bases(self) -> Sequence[KnowledgeBase]:
        """All bases, by name."""

    async def save_base(self, base: KnowledgeBase) -> None:
        """Create or replace a base's description and grants."""

    async def remove_base(self, name: str) -> None:
        """Forget a base and the entries of its documents."""

    async def documents(self, bases: frozenset[str]) -> Sequence[Document]:
        """The documents of these bases, by base and title."""

    async def document(self, document_id: str) -> Document | None:
        """One document at its visible version."""

    async def publish(self, document: Document) -> Document | None:
        """Make this version the visible one, in one step; what it replaced."""

    async def republish(self, document: Document) -> bool:
        """Replace what is known of a document at its visible version; False where another version is visible."""

    async def withdraw(self, document_id: str) -> Document | None:
        """Make a document invisible at once; what it was."""

    async def visible_versions(self, document_ids: Sequence[str]) -> Mapping[str, str]:
        """The visible version of each of these documents; invisible ones are absent."""

    async def index_identity(self) -> str:
        """Which index the passages of these documents are in (``Index.identity``); empty where nobody has said."""

    async def remember_index(self, identity: str) -> None:
        """From now on they are in this one."""
