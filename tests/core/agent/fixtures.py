"""Small pieces that tests are made of."""

from core.model.evidence import EvidenceLibrary, Grade, Hit
from core.model.knowledge import Locator, Passage


def passage(number: int, text: str = "", *, url: str | None = None, base: str = "default") -> Passage:
    """A passage with a number for an id."""
    return Passage(
        id=f"p{number}",
        knowledge_base=base,
        document=f"d{number}",
        version="v1",
        section=f"s{number}",
        ordinal=0,
        title=f"Document {number}",
        text=text or f"This is what passage {number} says about refunds.",
        heading=("Refunds",),
        locator=Locator(page=number),
        source=f"doc{number}.md",
        url=url,
        dated="2026-01-01",
    )


def library(*passages: Passage, grade: int = 8) -> EvidenceLibrary:
    """A library of graded evidence, ids from 1."""
    found, added = EvidenceLibrary().add((Hit(p, 0.8) for p in passages), "refunds")
    return found.with_grades({item.id: Grade(grade) for item in added})
