"""The bytes of a file as a document."""

from typing import Protocol

from core.model.parsed_document import Parsed


class Parser(Protocol):
    """Turns the bytes of a file into text with headings and places."""

    async def parse(self, name: str, data: bytes) -> Parsed:
        """The document's text. Raises DocumentRejected with the reason when it cannot become knowledge."""
