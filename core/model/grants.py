"""Grants of a base: without any, everyone may read it; when the last one is revoked, nobody may."""

from collections.abc import Collection
from dataclasses import replace

from core.model.errors import NotFound
from core.model.knowledge import KnowledgeBase

NOBODY = "footnote:nobody"  # a grant that no audience holds: keeps a base closed when its last grant is revoked


def grant(base: KnowledgeBase, principals: Collection[str]) -> KnowledgeBase:
    """The base, which these may read too; of an open base they are now the only readers."""
    return replace(base, grants=(base.grants | frozenset(principals)) - {NOBODY})


def revoke(base: KnowledgeBase, principals: Collection[str]) -> KnowledgeBase:
    """The base, which these may no longer read. Without any grant left nobody may, and never suddenly everyone.

    Raises NotFound when none of these was granted.
    """
    if not base.grants & frozenset(principals):
        raise NotFound(f"That was not granted on “{base.name}”.", remedy="The list of bases shows who may read it.")
    return replace(base, grants=(base.grants - frozenset(principals)) or frozenset({NOBODY}))
