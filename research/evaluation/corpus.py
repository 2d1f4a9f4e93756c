"""Brings the corpus of a dataset into a temporary index, with the vectors of passages kept for the next run."""

import hashlib
import sqlite3
from asyncio import to_thread
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from bot.container import Footnote
from core.ingestion.ingestor import Change, Ingestor
from core.ingestion.originals import Material
from core.model.document_content import Block, ParsedDocument
from core.model.errors import ConfigurationError
from core.ports.index import Encoder
from core.ports.sources import PageProgress, Parser
from research.evaluation.dataset_loader import Dataset

if TYPE_CHECKING:
    from core.ports.index import Vectors

_AT_ONCE = 500  # parameters of one statement


class CorpusParser(Parser):
    """The parser of a corpus that is text already: ``name`` is the title."""

    async def parse(self, name: str, data: bytes, progress: PageProgress | None = None) -> ParsedDocument:
        """Return the text as one block, as corpora hold it."""
        return ParsedDocument(name, (Block(data.decode()),), "text/plain")


class WrappedEncoder(Encoder):
    """An encoder around another one: what a measurement changes it overrides, the rest is the wrapped one's."""

    def __init__(self, encoder: Encoder) -> None:
        """Around this one."""
        self._encoder = encoder

    @property
    def name(self) -> str:
        """The model."""
        return self._encoder.name

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        return self._encoder.dimension

    @property
    def window(self) -> int:
        """How many tokens of a text the model reads."""
        return self._encoder.window

    async def encode_queries(self, texts: Sequence[str]) -> "Vectors":
        """(n, dimension), float32, unit length."""
        return await self._encoder.encode_queries(texts)

    async def encode_passages(self, texts: Sequence[str]) -> "Vectors":
        """(n, dimension), float32, unit length."""
        return await self._encoder.encode_passages(texts)

    async def count_tokens(self, texts: Sequence[str]) -> Sequence[int]:
        """Tokens of each text."""
        return await self._encoder.count_tokens(texts)


class KeptVectors(WrappedEncoder):
    """An encoder that keeps the vectors of passages in a file, by model and text, so that a second run need not.

    Queries go to the encoder itself: their time is measured. The file grows with what is measured; delete it at will.
    """

    def __init__(self, encoder: Encoder, folder: Path) -> None:
        super().__init__(encoder)
        self._file = folder / "vectors.sqlite"

    async def encode_passages(self, texts: Sequence[str]) -> "Vectors":
        """(n, dimension), float32: what is kept, and the rest encoded and kept."""
        import numpy as np

        keys = [hashlib.sha256(f"{self.name}\x1fpassage\x1f{text}".encode(errors="replace")).digest() for text in texts]
        known = dict(await to_thread(self._read, keys))
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if missing:
            fresh = await self._encoder.encode_passages(list(missing.values()))
            known.update(zip(missing, fresh, strict=True))
            await to_thread(self._write, {key: known[key] for key in missing})
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        return np.stack([known[key] for key in keys])

    def _read(self, keys: Sequence[bytes]) -> "Mapping[bytes, Vectors]":
        import numpy as np

        found: dict[bytes, Vectors] = {}
        with self._open() as database:
            for start in range(0, len(keys), _AT_ONCE):
                some = keys[start : start + _AT_ONCE]
                marks = ",".join("?" * len(some))
                rows = database.execute(f"SELECT key, vector FROM vectors WHERE key IN ({marks})", some)  # noqa: S608 - marks only
                found.update((key, np.frombuffer(vector, dtype=np.float32)) for key, vector in rows)
        return found

    def _write(self, vectors: "Mapping[bytes, Vectors]") -> None:
        with self._open() as database, database:
            database.executemany(
                "INSERT OR REPLACE INTO vectors VALUES (?, ?)",
                [(key, vector.tobytes()) for key, vector in vectors.items()],
            )

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(self._file, timeout=30)) as database:
            database.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB)")
            yield database


async def fill(footnote: Footnote, dataset: Dataset, vectors: Path | None = None) -> int:
    """Bring the corpus in by the product's own ingestion; how many passages it became.

    Passages' vectors are kept in the folder ``vectors`` where one is given. Raises ConfigurationError when a file of
    the corpus cannot be read.
    """
    ingestor = Ingestor(
        index=footnote.index,
        encoder=footnote.encoder if vectors is None else KeptVectors(footnote.encoder, vectors),
        catalog=footnote.catalog,
        parser=CorpusParser() if dataset.documents else footnote.parser,
        clock=footnote.clock,
    )
    await ingestor.ensure_base(dataset.name)
    total = 0
    for material in _materials(dataset):
        done = await ingestor.ingest(material, dataset.name)
        if done.change is Change.FAILED and not dataset.documents:
            raise ConfigurationError(f"{done.source}: {done.reason}")
        total += done.passages
    return total


def _materials(dataset: Dataset) -> Sequence[Material]:
    texts = [Material(d.id, d.title or d.id, d.text.encode(errors="replace")) for d in dataset.documents]
    return texts or [Material(source, path.name, path.read_bytes()) for path, source in dataset.files]
