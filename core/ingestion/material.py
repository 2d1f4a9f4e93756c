"""What wants to become a document: bytes, and what is known of them before they are read."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Material:
    """A file that wants to become knowledge. ``source`` names it within its base: a path or a link.

    ``origin`` says where it comes from (``core.model.file_content``); empty where the source says so.
    """

    source: str
    name: str
    data: bytes
    url: str | None = None
    added_by: str = ""
    title: str = ""
    etag: str = ""
    dated: str = ""  # YYYY-MM-DD, where its giver says so; else the text's own date counts
    origin: str = ""
