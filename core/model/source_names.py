"""Which documents a person or a model means by a name."""

from collections.abc import Sequence

from core.model.knowledge import Document


def matching_sources(documents: Sequence[Document], name: str) -> tuple[Document, ...]:
    """The documents that a name means: the exact title or path where there is one, else all that contain it."""
    wanted = name.strip().casefold()
    exact = tuple(d for d in documents if wanted in {d.id, d.title.casefold(), d.source.casefold()})
    if exact or not wanted:
        return exact
    return tuple(d for d in documents if wanted in d.title.casefold() or wanted in d.source.casefold())
