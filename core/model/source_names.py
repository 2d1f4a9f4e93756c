"""Which documents a person or a model means by a name, and how several are named."""

from collections.abc import Iterable, Sequence

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
