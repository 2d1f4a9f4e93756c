"""Names of sources: links and their secrets, and which documents a typed name means."""

from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

from core.model.knowledge import Document

_TITLES = 4


def matching_sources(documents: Sequence[Document], name: str) -> tuple[Document, ...]:
    """The documents that a name means: the exact title or path where there is one, else all that contain it."""
    wanted = name.strip().casefold()
    exact = tuple(d for d in documents if wanted in {d.id, d.title.casefold(), d.source.casefold()})
    if exact or not wanted:
        return exact
    return tuple(d for d in documents if wanted in d.title.casefold() or wanted in d.source.casefold())


def list_titles(titles: Iterable[str]) -> str:
    """Titles as a person reads them in a sentence, each once, the first few by name; empty where there are none."""
    names = list(dict.fromkeys(titles))
    shown = ", ".join(f"*{name}*" for name in names[:_TITLES])
    return f"{shown} and {len(names) - _TITLES} more" if len(names) > _TITLES else shown


_SCHEMES = ("http://", "https://")


def is_link(text: str) -> bool:
    """Whether this is the address of something in the web, which can be fetched (again)."""
    return text.startswith(_SCHEMES)


def redact_link(text: str) -> str:
    """The link without user, query and fragment, each of which may hold a secret; other text comes back as it is."""
    if not is_link(text):
        return text
    try:
        parts = urlsplit(text)
    except ValueError:  # of brackets that hold no address of a host
        return text.partition("?")[0]
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}{'?…' if parts.query else ''}"
