"""What an ingested document means for its job."""

from core.ingestion.ingestor import Change
from core.model.jobs import ItemState


def state_of(change: Change) -> ItemState:
    """The item's state for what an ingest did."""
    return ItemState(change.value)
