"""Conversion between passages and Milvus rows, and of scopes to filters.

It uses only what Milvus Lite 2.5, Standalone and Distributed all support: no partition keys (Lite has none), no filter
templates (Lite rejects them), no function output among the fields read back.

Two things exist only for speed. A base is also stored as a number (the field ``shelf``): Milvus compares 100,000
strings in 1.5 ms per leg and as many numbers in 0.1 ms. A row's names are repeated in its JSON, so that a search reads
two fields per hit instead of eight. Collections without them still work.
"""

import base64
import json
import re
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import Any
from urllib.parse import unquote

from core.model.errors import DocumentRejected
from core.model.knowledge import Locator, Passage
from core.ports.index import PassageVectors, Scope, SentenceVectors

VARCHAR_BYTES = 65_535  # Milvus's limit, in bytes of UTF-8
KEY_BYTES = 1_024
JSON_BYTES = 65_000  # of a field; Milvus accepts 65,536
SENTENCE_BYTES = 24_000  # a third more as base64: 62 sentences of 384 numbers; a batch of rows stays within 64 MB
FIELDS = ("id", "knowledge_base", "document", "version", "section", "ordinal", "text", "about")
HIT_FIELDS = ("text", "about")  # of a hit in a collection with base hashes; its id comes with the score
BASE_HASH = "shelf"
_KEYS = ("id", "knowledge_base", "document", "version", "section")
_COMPARED = 16  # bases; with more, a set lookup per row is cheaper than one comparison per base

# Characters that string literals of Milvus's filter language do not carry the same way everywhere, and our own "%".
_UNSAFE = re.compile(r"""[%"'\\\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]""")


def key(value: str) -> str:
    r"""Return ``value`` as stored and filtered by: percent-encoded where it could end or escape a literal.

    Quoting rules differ (Lite does not read ``\n`` in a literal, the server refuses a raw line break). Stored keys
    therefore contain nothing that needs quoting.
    """
    return _UNSAFE.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode(errors="replace")), value)


def one_of(field: str, values: Iterable[str]) -> str:
    """Return a filter expression: ``field in ["…", …]``, values escaped."""
    quoted = ", ".join(f'"{key(value)}"' for value in sorted(values))
    return f"{field} in [{quoted}]"


def equal(field: str, value: str) -> str:
    """Return a filter expression: ``field == "…"``, the value escaped."""
    return f'{field} == "{key(value)}"'


def both(*conditions: str) -> str:
    """Join the conditions that are not empty with "and"."""
    return " and ".join(condition for condition in conditions if condition)


def within(scope: Scope) -> str:
    """Return the scope as a filter."""
    documents = "" if scope.documents is None else one_of("document", scope.documents)
    return both(one_of("knowledge_base", scope.bases), documents)


def base_hash(base: str) -> int:
    """Return a 62-bit hash of a base. Two bases may share one, so compare the hits' own base as well."""
    return int.from_bytes(blake2b(base.encode(errors="replace"), digest_size=8).digest()) >> 2


def by_base_hash(scope: Scope) -> str:
    """Return the scope as a filter for collections with base hashes; check the hits with ``in_scope``."""
    numbers = sorted({base_hash(base) for base in scope.bases})
    if len(numbers) > _COMPARED:
        bases = f"{BASE_HASH} in {numbers}"
    else:
        bases = f"({' or '.join(f'{BASE_HASH} == {number}' for number in numbers)})"
    return both(bases, "" if scope.documents is None else one_of("document", scope.documents))


def in_scope(passages: Iterable[Passage], scope: Scope) -> list[Passage]:
    """Return the passages whose base is in the scope by its full name."""
    return [passage for passage in passages if passage.knowledge_base in scope.bases]


def sees_nothing(scope: Scope) -> bool:
    """Return whether the scope is empty, so that no query is needed."""
    return not scope.bases or (scope.documents is not None and not scope.documents)


def to_row(passage: Passage, vectors: PassageVectors) -> dict[str, Any]:
    """Return the row of a passage. ``text`` is lexically indexed; its end is the passage's own text.

    Raises DocumentRejected if the passage is longer than a field allows; the chunker does not produce such passages.
    """
    locator = passage.locator
    text = _clean(passage.searchable)
    row: dict[str, Any] = {name: key(getattr(passage, name)) for name in _KEYS}
    if len(text.encode()) > VARCHAR_BYTES:
        raise DocumentRejected(
            f"A passage of {passage.title or passage.document} is longer than {VARCHAR_BYTES:,} bytes."
        )
    if any(len(value.encode()) > KEY_BYTES for value in row.values()):
        raise DocumentRejected(f"An id of {passage.title or passage.document} is longer than {KEY_BYTES:,} bytes.")
    about = {
        "title": _clean(passage.title),
        "heading": [_clean(part) for part in passage.heading],
        "locator": [locator.page, _clean(locator.label), locator.first_line, locator.last_line],
        "source": _clean(passage.source),
        "url": passage.url and _clean(passage.url),
        "dated": passage.dated,
        "head": len(text) - len(passage.text),
        "keys": [row[name] for name in _KEYS[1:]],
        "ordinal": passage.ordinal,
    }
    about |= _sentences_at_rest(vectors.sentences, len(vectors.whole), JSON_BYTES - len(json.dumps(about)))
    hashed = {BASE_HASH: base_hash(passage.knowledge_base)}
    return {**row, **hashed, "ordinal": passage.ordinal, "text": text, "about": about, "vector": vectors.whole}


def to_passage(row: Mapping[str, Any]) -> Passage:
    """Convert a row with all ``FIELDS``, or a hit with ``HIT_FIELDS`` and the id, to a passage."""
    about = row["about"]
    names = [row["id"], *(about["keys"] if "keys" in about else (row[name] for name in _KEYS[1:]))]
    return Passage(
        # Hardly any name is percent-encoded, and a search builds a hundred passages.
        **{name: unquote(value) if "%" in value else value for name, value in zip(_KEYS, names, strict=True)},
        ordinal=int(about["ordinal"] if "ordinal" in about else row["ordinal"]),
        title=about["title"],
        text=row["text"][about["head"] :],
        heading=tuple(about["heading"]),
        locator=Locator(*about["locator"]),
        source=about["source"],
        url=about["url"],
        dated=about["dated"],
    )


def _sentences_at_rest(sentences: SentenceVectors, dimension: int, room: int) -> dict[str, list[str]]:
    """Return the vectors of the first sentences as JSON, as many as fit."""
    if not sentences.digest:
        return {}
    numbers = sentences.numbers[: max(0, min(SENTENCE_BYTES, room * 3 // 4)) // dimension * dimension]
    return {"sentences": [sentences.digest, base64.b64encode(numbers).decode()]}


def read_sentences(about: Mapping[str, Any]) -> SentenceVectors:
    """Return the sentence vectors of a row from its JSON; empty for rows that were written without them."""
    digest, numbers = about.get("sentences", ("", ""))
    return SentenceVectors(digest, base64.b64decode(numbers))


def _clean(text: str) -> str:
    """Replace lone surrogates, which no protocol carries, with question marks; the length does not change."""
    return text.encode(errors="replace").decode()
