"""Whom a base is for, changed: without grants it is for everybody, and what loses its last grant is for nobody."""

from collections.abc import Collection
from dataclasses import replace

from core.model.errors import NotFound
from core.model.knowledge import KnowledgeBase

NOBODY = "footnote:nobody"  # a grant that no audience holds: keeps a base closed when its last grant is revoked


def grant(base: KnowledgeBase, principals: Collection[str]) -> KnowledgeBase:
    """The base, for these too; an open base is now for these alone."""
    return replace(base, grants=(base.grants | frozenset(principals)) - {NOBODY})


def revoke(base: KnowledgeBase, principals: Collection[str]) -> KnowledgeBase:
    """The base, not for these any more. Without any grant left it is for nobody, never suddenly for everybody.

    Raises NotFound when none of these was granted.
    """
    if not base.grants & frozenset(principals):
        raise NotFound(f"That was not granted on “{base.name}”.", remedy="The list shows whom it is for.")
    return replace(base, grants=(base.grants - frozenset(principals)) or frozenset({NOBODY}))
