"""What there is to read, for whoever asks: told from the catalog, so that nothing in it can be invented."""

from collections.abc import Sequence
from itertools import groupby

from core.agent.outcomes import end_run, nothing_to_read
from core.agent.run import Run
from core.model.answer import Outcome
from core.model.events import AgentCompleted
from core.model.inquiry import Overview
from core.model.knowledge import Document, KnowledgeBase

LISTED = 40  # titles at most, shared by the bases
LINES = 25  # titles of a single base, one below the other


async def overview(run: Run, plan: Overview) -> AgentCompleted:
    """The titles of what this audience may read, base by base; of one base where the person named it."""
    documents = await run.deps.catalog.documents(run.inquiry.scope)
    chosen = [base for base in run.inquiry.bases if plan.knowledge_base in (None, base.name)]
    named = frozenset(base.name for base in chosen)
    shown = [document for document in documents if document.knowledge_base in named]
    if not documents:
        return await nothing_to_read(run)
    lines = [_document_count(shown, chosen), *(_title_list(shown) if len(chosen) == 1 else _base_lines(shown, chosen))]
    lines.append("Ask about any of them, and I answer with its own sentences.")
    return end_run(run, Outcome.ANSWERED, "\n\n".join(lines))


def _base_of(document: Document) -> str:
    return document.knowledge_base


def _document_count(documents: Sequence[Document], bases: Sequence[KnowledgeBase]) -> str:
    count = f"{len(documents):,} document{'' if len(documents) == 1 else 's'}"
    if len(bases) == 1:
        about = f" ({bases[0].description})" if bases[0].description else ""
        return f"I can read {count} here, in the knowledge base **{bases[0].name}**{about}:"
    return f"I can read {count} here, in {len(bases)} knowledge bases:"


def _title_list(documents: Sequence[Document]) -> list[str]:
    titles = sorted(dict.fromkeys(document.title for document in documents), key=str.casefold)
    more = [f"- … and {len(titles) - LINES:,} more"] if len(titles) > LINES else []
    return ["\n".join([*(f"- *{title}*" for title in titles[:LINES]), *more])] if titles else []


def _base_lines(documents: Sequence[Document], bases: Sequence[KnowledgeBase]) -> list[str]:
    share = max(5, LISTED // max(1, len(bases)))
    ordered = sorted(documents, key=lambda one: (one.knowledge_base, one.title))
    return [_base_line(name, list(group), share, bases) for name, group in groupby(ordered, _base_of)]


def _base_line(name: str, documents: Sequence[Document], share: int, bases: Sequence[KnowledgeBase]) -> str:
    about = next((base.description for base in bases if base.name == name and base.description), "")
    titles = list(dict.fromkeys(document.title for document in documents))
    more = f", and {len(titles) - share} more" if len(titles) > share else ""
    head = f"**{name}**" + (f" ({about})" if about else "")
    return f"{head}: " + ", ".join(f"*{title}*" for title in titles[:share]) + f"{more}."
