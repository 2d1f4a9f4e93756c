"""What a collection remembers about itself, as JSON in its description: which one it is, its model, its layout."""

import json
import uuid
from dataclasses import asdict, dataclass
from typing import Self

from core.model.errors import IndexMismatch

# 1 (said nowhere): the first version's, with or without the number of a row's base. 2: has an identity.
SCHEMA = 2


@dataclass(frozen=True, slots=True)
class CollectionRecord:
    """``model`` and ``dimension`` of the vectors; ``identity`` is this collection's alone, empty before schema 2."""

    model: str
    dimension: int
    schema: int = 1
    identity: str = ""

    @classmethod
    def new(cls, model: str, dimension: int) -> Self:
        """Of a collection that is about to be created."""
        return cls(model, dimension, SCHEMA, uuid.uuid4().hex)

    @classmethod
    def of(cls, description: str) -> Self:
        """As a collection tells it; of one that is not ours, a record that no check lets pass."""
        try:
            kept = json.loads(description)
            return cls(
                str(kept["model"]), int(kept["dimension"]), int(kept.get("schema", 1)), str(kept.get("identity", ""))
            )
        except (ValueError, KeyError, TypeError):
            return cls("something else", 0)

    def to_json(self) -> str:
        """As it is kept on the collection; ``of`` reads it."""
        return json.dumps(asdict(self))

    def check(self, model: str, dimension: int) -> None:
        """Raise IndexMismatch unless this model may write here, and this version of Footnote can read what is there.

        Collections of schema 1 are read and written as they are.
        """
        if self.schema > SCHEMA:
            raise IndexMismatch(
                f"The index was written by a newer Footnote: its schema is {self.schema}, and this one knows {SCHEMA}.",
                remedy="Upgrade Footnote, or set MILVUS_URI to a new place and let footnote kb repair fill it.",
            )
        if (self.model, self.dimension) != (model, dimension):
            raise IndexMismatch(
                f"The index was written with {self.model} ({self.dimension} dimensions), "
                f"and EMBEDDING_MODEL is {model} ({dimension}).",
                remedy=f"Set EMBEDDING_MODEL back to {self.model}, or MILVUS_URI to a new place and let "
                "footnote kb repair fill it.",
            )
