"""A link as it may be shown and logged: without a password, and without what may be a secret in its query."""

from urllib.parse import urlsplit


def redact_link(text: str) -> str:
    """The link without user, query and fragment; text that is no link of the web comes back as it is."""
    if not text.startswith(("http://", "https://")):
        return text
    try:
        parts = urlsplit(text)
    except ValueError:  # of brackets that hold no address of a host
        return text.partition("?")[0]
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}{'?…' if parts.query else ''}"
