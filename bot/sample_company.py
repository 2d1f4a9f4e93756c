"""The sample company's data, kept separate so that a fictional company never answers for a real one.

It answers only in the terminal, and only until someone adds a document of their own.
"""

from pathlib import Path

from bot.settings import Settings

BASE = "samples"
NOTICE = (
    "You have no documents of your own yet, so this searches the sample company. Add yours with footnote ingest PATH."
)
_APART = {"redis_url": None, "milvus_uri": None, "milvus_token": None, "blob_store_url": None}


def sample_settings(settings: Settings, home: Path | None = None) -> Settings:
    """Return settings with embedded stores for the sample company, in ``home`` or in the data directory."""
    return settings.model_copy(update={"footnote_home": home or settings.home / "demo", **_APART})


def has_samples(settings: Settings) -> bool:
    """Return whether ``footnote demo`` left the sample company in the data directory."""
    return (sample_settings(settings).home / "valkey").is_dir()


async def stands_in(settings: Settings) -> bool:
    """Return whether the sample company answers: ``footnote demo`` left it, and nothing else is indexed.

    Raises StoreUnavailable if the real catalog does not answer.
    """
    if not has_samples(settings):
        return False
    from bot.stores import has_documents

    return not await has_documents(settings)
