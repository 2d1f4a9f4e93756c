"""Putting a section together again from its passages."""

from collections.abc import Sequence

from core.model.knowledge import Passage, Section


def assemble(passages: Sequence[Passage]) -> Section | None:
    """The section that these passages are; None without any. Of one version only, should several be there."""
    if not passages:
        return None
    version = max(passage.version for passage in passages)
    parts = sorted((p for p in passages if p.version == version), key=lambda passage: passage.ordinal)
    first = parts[0]
    return Section(first.section, first.document, first.title, first.heading, "\n\n".join(p.text for p in parts))
