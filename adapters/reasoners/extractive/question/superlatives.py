"""What a question singles out by a superlative: "the newest LTS release" of "which LTS release is the newest?"."""

import re

_DEGREE = r"(?:(?:most|least)\s+[^\W\d_]+|[^\W\d_]{2,}est|best|worst)"
_SINGLED_OUT = re.compile(
    rf"^(?:(?:and|so|but)\s+)?(?:which|what)\s+(?!(?:ones?|of|day|time)\b)(?P<what>[\w'’.-]+(?:\s+[\w'’.-]+){{0,3}}?)\s+"
    rf"(?:is|was)\s+(?:the\s+)?(?P<how>{_DEGREE})$",
    re.IGNORECASE,
)


def singled_out(question: str) -> str:
    """The thing that was asked for by how it stands out among its kind; empty where none was."""
    said = _SINGLED_OUT.match(question.rstrip("?.! "))
    return f"the {said['how']} {said['what']}" if said else ""
