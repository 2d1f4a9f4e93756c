"""What a passage looks like as a row of Milvus, and how a scope reads as its filter.

Only what Milvus Lite 2.5, Standalone and Distributed all have: no partition keys (Lite has none), no filter templates
(Lite rejects them), no function output among the fields read back.

Two things are there for speed alone, because every search pays for them. A base is also a number (the field
``shelf``): comparing 100,000 strings takes Milvus 1.5 ms a leg and comparing as many numbers 0.1 ms. And a row's names
stand once more in its JSON, so that a search reads two fields of each hit instead of eight. Collections without them
go on working.
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
from core.model.sentence_vectors import SentenceVectors
from core.ports.index import PassageVectors, Scope

VARCHAR_BYTES = 65_535  # Milvus's limit, in bytes of UTF-8
KEY_BYTES = 1_024
JSON_BYTES = 65_000  # of a field, of which Milvus takes 65,536
SENTENCE_BYTES = 24_000  # a third more as base64: 62 sentences of 384 numbers; a batch of rows stays within 64 MB
FIELDS = ("id", "knowledge_base", "document", "version", "section", "ordinal", "text", "about")
HIT_FIELDS = ("text", "about")  # of a hit in a collection that has base hashes; its id comes with the score
BASE_HASH = "shelf"
_KEYS = ("id", "knowledge_base", "document", "version", "section")
_COMPARED = 16  # bases; from there on looking each row's up in a set is cheaper than comparing it with every one

# What a string literal of Milvus's filter language cannot carry in the same way everywhere, and our own mark.
_UNSAFE = re.compile(r"""[%"'\\\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]""")


def key(value: str) -> str:
    r"""``value`` as it is stored and filtered by: percent-encoded where it could end or escape a literal.

    Quoting rules differ (Lite does not read ``\n`` in a literal, the server refuses a raw line break), so stored keys
    simply hold nothing that needs quoting.
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
    """All of the conditions that are not empty."""
    return " and ".join(condition for condition in conditions if condition)


def within(scope: Scope) -> str:
    """Return the scope as a filter."""
    documents = "" if scope.documents is None else one_of("document", scope.documents)
    return both(one_of("knowledge_base", scope.bases), documents)


def base_hash(base: str) -> int:
    """Return a base as a number of 62 bits. Two bases may share one, so compare the hits' own base as well."""
    return int.from_bytes(blake2b(base.encode(errors="replace"), digest_size=8).digest()) >> 2


def base_hashes(scope: Scope) -> list[int]:
    """Return the numbers of a scope's bases."""
    return sorted({base_hash(base) for base in scope.bases})


def by_base_hash(scope: Scope) -> str:
    """Return the scope as a filter for collections that have base hashes; check its hits with ``in_scope``."""
    numbers = base_hashes(scope)
    if len(numbers) > _COMPARED:
        bases = f"{BASE_HASH} in {numbers}"
    else:
        bases = f"({' or '.join(f'{BASE_HASH} == {number}' for number in numbers)})"
    return both(bases, "" if scope.documents is None else one_of("document", scope.documents))


def in_scope(passages: Iterable[Passage], scope: Scope) -> list[Passage]:
    """Those whose base is in the scope by its full name."""
    return [passage for passage in passages if passage.knowledge_base in scope.bases]


def sees_nothing(scope: Scope) -> bool:
    """Whether the scope is empty, so that there is no need to ask."""
    return not scope.bases or (scope.documents is not None and not scope.documents)


def to_row(passage: Passage, vectors: PassageVectors) -> dict[str, Any]:
    """Return the row of a passage. ``text`` holds what is lexically indexed; the passage's own text is its end.

    Raises DocumentRejected when the passage is longer than a field can hold; the chunker makes none such.
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
    """Return the inverse of ``to_row``, of all ``FIELDS`` or, from a hit, of ``HIT_FIELDS`` and the id."""
    about = row["about"]
    names = [row["id"], *(about["keys"] if "keys" in about else (row[name] for name in _KEYS[1:]))]
    return Passage(
        # Nearly no name holds anything encoded, and a search makes a hundred passages.
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
    """Return the vectors of the first sentences as the row's JSON, as many as there is room for."""
    if not sentences.digest:
        return {}
    numbers = sentences.numbers[: max(0, min(SENTENCE_BYTES, room * 3 // 4)) // dimension * dimension]
    return {"sentences": [sentences.digest, base64.b64encode(numbers).decode()]}


def read_sentences(about: Mapping[str, Any]) -> SentenceVectors:
    """Return the sentences' vectors of a row by its JSON; none of a row that was written before they were kept."""
    digest, numbers = about.get("sentences", ("", ""))
    return SentenceVectors(digest, base64.b64decode(numbers))


def _clean(text: str) -> str:
    """Lone surrogates, which no protocol carries, become question marks; the length stays."""
    return text.encode(errors="replace").decode()
