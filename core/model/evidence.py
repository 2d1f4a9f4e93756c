"""Evidence: passages found for an inquiry, with their grades and ids that stay the same throughout a thread."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from core.model.knowledge import Passage


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that a search returned, with the score of every leg that found it.

    ``score`` is the fused score in [0, 1]; ``dense`` is a cosine in [-1, 1]; ``bm25`` is unbounded, as the index gives
    it; ``rerank`` is a cross-encoder's probability in [0, 1]. ``None``: that leg did not find or score the passage.
    """

    passage: Passage
    score: float
    dense: float | None = None
    bm25: float | None = None
    rerank: float | None = None


@dataclass(frozen=True, slots=True)
class Grade:
    """How well a passage answers the question, from 1 to 10, and a summary of at most two sentences.

    ``chance`` is the probability in [0, 1] that it answers, from graders that are more precise than the score. ``why``
    explains, for a trace, how the grader computed the grade.
    """

    score: int
    summary: str = ""
    chance: float | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A passage in this thread's library. ``[n]`` in a draft refers to ``id``."""

    id: int
    hit: Hit
    query: str  # the query that found it in this inquiry; empty if it is from an earlier turn
    grade: Grade | None = None

    @property
    def passage(self) -> Passage:
        """The passage itself."""
        return self.hit.passage


def first_of_each_document(hits: Iterable[Hit], but: Iterable[str]) -> tuple[Hit, ...]:
    """Return the first hit of each document, in order, without the documents with the ids in ``but``."""
    known, first = frozenset(but), dict[str, Hit]()
    for hit in hits:
        if hit.passage.document not in known:
            first.setdefault(hit.passage.document, hit)
    return tuple(first.values())


RANK_CONSTANT = 3  # k of reciprocal rank fusion: small, because one question gathers eight to forty passages
MOST_FURTHER = 16  # documents


@dataclass(frozen=True, slots=True)
class EvidenceLibrary:
    """All evidence so far, in the order it was found. Immutable; ids start at 1 and are never reused.

    ``further`` has one hit of each document that ranked lower and was not graded. These are not evidence, but show what
    else exists.
    """

    items: tuple[Evidence, ...] = ()
    further: tuple[Hit, ...] = ()

    def __iter__(self) -> Iterator[Evidence]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def get(self, evidence_id: int) -> Evidence | None:
        """Return the evidence of this id, or None."""
        return next((item for item in self.items if item.id == evidence_id), None)

    def add(
        self, hits: Iterable[Hit], query: str, further: Iterable[Hit] = ()
    ) -> tuple["EvidenceLibrary", tuple[Evidence, ...]]:
        """Return the library with the new hits, and those additions. A known passage keeps its better score."""
        known = {item.passage.id: item for item in self.items}
        next_id = max((item.id for item in self.items), default=0) + 1
        added: list[Evidence] = []
        for hit in hits:
            earlier = known.get(hit.passage.id)
            if earlier is None or not earlier.query:
                known[hit.passage.id] = Evidence(earlier.id if earlier else next_id, hit, query)
                added.append(known[hit.passage.id])
                next_id += earlier is None
            elif hit.score > earlier.hit.score:
                known[hit.passage.id] = replace(earlier, hit=hit)
        looked_at = (item.passage.document for item in known.values() if item.query)
        behind = first_of_each_document((*self.further, *further), looked_at)
        return EvidenceLibrary(tuple(known.values()), behind[:MOST_FURTHER]), tuple(added)

    def with_grades(self, grades: dict[int, Grade]) -> "EvidenceLibrary":
        """Return the library with these grades, by evidence id."""
        graded = (replace(item, grade=grades[item.id]) if item.id in grades else item for item in self.items)
        return replace(self, items=tuple(graded))

    def ungraded_items(self) -> tuple[Evidence, ...]:
        """Return the evidence that this inquiry found and that has no grade yet."""
        return tuple(item for item in self.items if item.grade is None and item.query)

    def items_found(self) -> tuple[Evidence, ...]:
        """Return the evidence that this inquiry found, whatever its grade."""
        return tuple(item for item in self.items if item.query)

    def carry_over(self) -> "EvidenceLibrary":
        """Return the library for a new question: ids stay; grades go, because they were for another question."""
        return EvidenceLibrary(tuple(replace(item, query="", grade=None) for item in self.items))

    def relevant(self, cutoff: int) -> tuple[Evidence, ...]:
        """Return the evidence graded at or above the cutoff, best first."""
        return tuple(item for item in self.best_first() if item.grade is not None and item.grade.score >= cutoff)

    def best_first(self) -> tuple[Evidence, ...]:
        """Return all evidence ranked by grade and search score together, ungraded evidence last.

        Uses reciprocal rank fusion (Cormack et al. 2009) of the order by grade and the order by score: a grader sees
        only one passage, a search compares all of them but knows little of each. Ties go to the search score if there
        was one search. With several searches they go to the grade, because scores of different queries are not
        comparable. Measured in docs/measurements.md.
        """
        by_score = sorted(self.items, key=lambda item: (-item.hit.score, item.id))
        by_grade = sorted(by_score, key=lambda item: -item.grade.score if item.grade else 0)
        graded = [item for item in by_grade if item.grade is not None]
        found = [item for item in by_score if item.grade is not None]
        worth = dict.fromkeys((item.id for item in graded), 0.0)
        for order in (graded, found):
            for rank, item in enumerate(order, 1):
                worth[item.id] += 1 / (RANK_CONSTANT + rank)
        of_one_search = len({item.query for item in graded}) == 1
        fused = sorted(found if of_one_search else graded, key=lambda item: -worth[item.id])
        return (*fused, *by_grade[len(graded) :])

    def readable_by(self, visible: frozenset[str]) -> "EvidenceLibrary":
        """Return the library without passages from bases that this audience may not read."""
        return EvidenceLibrary(
            tuple(item for item in self.items if item.passage.knowledge_base in visible),
            tuple(hit for hit in self.further if hit.passage.knowledge_base in visible),
        )
