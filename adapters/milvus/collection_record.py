"""Metadata of a collection, stored as JSON in its description: identity, model, schema version."""

import json
import uuid
from dataclasses import asdict, dataclass
from typing import Self

from core.model.errors import IndexMismatch

# 1 (not written to the record): first version, with or without base hashes. 2: has an identity.
SCHEMA = 2


@dataclass(frozen=True, slots=True)
class CollectionRecord:
    """``model`` and ``dimension`` of the vectors; ``identity`` is unique to the collection, empty before schema 2."""

    model: str
    dimension: int
    schema: int = 1
    identity: str = ""

    @classmethod
    def new(cls, model: str, dimension: int) -> Self:
        """Return the record of a new collection, with a new identity."""
        return cls(model, dimension, SCHEMA, uuid.uuid4().hex)

    @classmethod
    def of(cls, description: str) -> Self:
        """Parse a collection's description; for a foreign collection, return a record that fails every check."""
        try:
            kept = json.loads(description)
            return cls(
                str(kept["model"]), int(kept["dimension"]), int(kept.get("schema", 1)), str(kept.get("identity", ""))
            )
        except (ValueError, KeyError, TypeError):
            return cls("something else", 0)

    def to_json(self) -> str:
        """Return the record as JSON for the collection's description; ``of`` parses it."""
        return json.dumps(asdict(self))

    def check(self, model: str, dimension: int) -> None:
        """Raise IndexMismatch unless model and dimension match and this version of Footnote supports the schema.

        Collections of schema 1 are read and written unchanged.
        """
        if self.schema > SCHEMA:
            raise IndexMismatch(
                f"The index was written by a newer Footnote: its schema is {self.schema}, and this one knows {SCHEMA}.",
                remedy="Upgrade Footnote. Or set MILVUS_URI to a new place and run footnote kb repair to fill it.",
            )
        if (self.model, self.dimension) != (model, dimension):
            raise IndexMismatch(
                f"The index was written with {self.model} ({self.dimension} dimensions), "
                f"but EMBEDDING_MODEL is {model} ({dimension}).",
                remedy=(
                    f"Set EMBEDDING_MODEL back to {self.model}. Or set MILVUS_URI to a new place and run footnote kb"
                    " repair to fill it."
                ),
            )
