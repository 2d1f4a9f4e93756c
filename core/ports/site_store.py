"""Which pages a site had when it was last read through."""

from collections.abc import Sequence
from typing import Protocol

from core.model.sites import Site


class SiteStore(Protocol):
    """Keeps one site for each link of a base. Raises StoreUnavailable."""

    async def save_site(self, site: Site) -> None:
        """Keep it, replacing what was known of the same link in the same base; without pages it goes."""

    async def sites(self, base: str) -> Sequence[Site]:
        """The sites of a base, by link."""
