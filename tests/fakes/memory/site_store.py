"""Sites in a dictionary, for tests."""

from collections.abc import Sequence

from core.model.jobs import Site
from core.ports.job_store import SiteStore


class InProcessSiteStore(SiteStore):
    """Keeps every site."""

    def __init__(self) -> None:
        self._sites: dict[tuple[str, str], Site] = {}

    async def save_site(self, site: Site) -> None:
        """Keep it, or without pages take it away."""
        self._sites.pop((site.base, site.link), None)
        if site.pages:
            self._sites[site.base, site.link] = site

    async def sites(self, base: str) -> Sequence[Site]:
        """The sites of a base, by link."""
        return sorted((site for site in self._sites.values() if site.base == base), key=lambda site: site.link)
