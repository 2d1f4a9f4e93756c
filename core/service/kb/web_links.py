"""Links of the web: what is one, and how it may be shown and logged."""

from urllib.parse import urlsplit

_SCHEMES = ("http://", "https://")


def is_link(text: str) -> bool:
    """Whether this is the address of something in the web, which can be fetched (again)."""
    return text.startswith(_SCHEMES)


def redact_link(text: str) -> str:
    """The link without user, query and fragment, each of which may hold a secret; other text comes back as it is."""
    if not is_link(text):
        return text
    try:
        parts = urlsplit(text)
    except ValueError:  # of brackets that hold no address of a host
        return text.partition("?")[0]
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}{'?…' if parts.query else ''}"
