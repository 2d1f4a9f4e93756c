"""Plain text: removes or defuses characters that make a reader's client act on a text.

Clients make links of characters that no one marked as a link. Defanging inserts an invisible, unbreakable joiner where
such a link would begin. A person reads the same text, but nothing can be clicked. What the clients look for:

- a scheme with slashes, anywhere: Slack https://docs.slack.dev/messaging/formatting-message-text#automatic-parsing,
  Discord (its client's rule ``https?://`` or ``steam://``, and ``<scheme:/…>``), terminals, CommonMark autolinks;
- schemes without slashes (``mailto:``, ``tel:``): both platforms' clients;
- names with a dot and a top-level domain, with or without ``www.``, and e-mail addresses: Slack's server, and
  linkify-it's fuzzy links, which Markdown renderers use;
- ``[label](address)``, ``[label]: address``: Markdown, recognised by the two characters after the label.
"""

import re
import unicodedata

JOINER = "\u2060"

# Characters that hide or reorder others (Unicode's Bidi_Control), and line ends that only some programs know.
_BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_UNSEEN = re.compile(rf"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufff9-\ufffb{_BIDI}]")
# Joiners have a meaning in other scripts and emoji; Thai and Khmer separate words by zero-width characters.
_NO_WIDTH = re.compile(r"[\u00ad\u2060\ufeff]|(?<=[\x00-\u024f])[\u200b-\u200d]|[\u200b-\u200d](?=[\x00-\u024f])")
_LIGATURES = {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "st", 0xFB06: "st"}
_FULL_WIDTH = (*range(0xFF10, 0xFF1A), *range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B))
_USUAL: dict[int, int | str] = {**{code: code - 0xFEE0 for code in _FULL_WIDTH}, **_LIGATURES}
_SURROGATE = re.compile(r"[\ud800-\udfff]")

_COLON = re.compile(r"(?<!\u2060)(?=[:：][/\\／])")
_SLASHES = re.compile(r"(?<=[/／])(?=[/／])")
_OPAQUE = re.compile(
    r"(mailto|tel|sms|callto|sip|sips|xmpp|facetime|skype|magnet|geo|data|javascript|vbscript|file|about|blob"
    r"|slack|discord|steam|https?|ftp|ssh|git|irc|ircs|intent|market|vscode|ms-[a-z]{1,20})(?=\\?:)",
    re.IGNORECASE,
)
_LABELLED = re.compile(r"\](?=[(:])")
_IMAGE = re.compile(r"!(?=\[)")
# A dot that a top-level domain could follow. Common file extensions that are not such domains stay as they are.
_DOT = re.compile(
    r"(?<![\s.])[.．。｡](?!(?:ya?ml|json|txt|csv|pdf|docx?|xlsx?|pptx?|html?|css|jsx?|tsx?|java|toml|ini|cfg|conf|xml"
    r"|log|sql|png|jpe?g|gif|svg|exe|bat|rb|go|lock|bak|tmp|env)(?![\w.-]))(?=[^\W\d_])",
    re.IGNORECASE,
)
# An IP address with a path or port.
_HOST_NUMBER = re.compile(r"(?<=\d)\.(?=\d{1,3}\.\d{1,3}\.\d{1,3}[:/])")
_CLOSING = ".,;:!?)\"'*_~`"
_CITED = re.compile(r"\[\d{1,4}\]\Z")
_CALL = re.compile(r"@(?=channel|here|everyone|group)", re.IGNORECASE)
_INVITE = re.compile(r"(?<=discord)\.(?=gg\b|com\b|new\b|gift)|(?<=discordapp)\.(?=com\b)", re.IGNORECASE)


def remove_controls(text: str) -> str:
    """Return the text without control characters (except line ends and tabs), bidi controls and surrogates."""
    text = text.replace("\r\n", "\n").replace("\u2028", "\n").replace("\u2029", "\n")
    return _SURROGATE.sub("\ufffd", _UNSEEN.sub("", text))


def compose(text: str) -> str:
    """Return the text in the form that people type, so that equal words have equal characters.

    Letters and accents become one character (NFC), full-width Latin letters and digits become usual ones, and ligatures
    are spelt out. Removes soft hyphens, zero-width characters between Latin letters, and surrogates.
    """
    if text.isascii():
        return text
    text = unicodedata.normalize("NFC", text.translate(_USUAL))
    return _SURROGATE.sub("", _NO_WIDTH.sub("", text))


def clipped(text: str, most: int) -> str:
    """Return the text in at most ``most`` characters, with an ellipsis if it is cut."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def one_line(text: str) -> str:
    """Return a title or name on one line, without control characters, in NFC."""
    return unicodedata.normalize("NFC", " ".join(remove_controls(text).split()))


def defang_schemes(text: str) -> str:
    """Return text that looks the same, in which no scheme and no Markdown label makes a link."""
    text = _SLASHES.sub(JOINER, _COLON.sub(JOINER, text))
    text = _OPAQUE.sub(lambda match: match.group(1) + JOINER, text)
    return _IMAGE.sub("!" + JOINER, _LABELLED.sub("]" + JOINER, text))


def defang_domains(text: str) -> str:
    """Return text that looks the same, in which no name with a dot makes a link."""
    return _HOST_NUMBER.sub("." + JOINER, _DOT.sub(lambda match: match.group() + JOINER, text))


def defang_invites(text: str) -> str:
    """Return text that looks the same, without the invitation links that Discord recognises by their host."""
    return _INVITE.sub("." + JOINER, text)


def defang_calls(text: str) -> str:
    """Return text that looks the same, in which mentions of everyone in a channel notify nobody."""
    return _CALL.sub("@" + JOINER, text)


def without_closing(bare: str) -> tuple[str, str]:
    """Split an address in a sentence from what only ends the sentence: punctuation, marks and citations."""
    address = bare.rstrip(_CLOSING)
    while cited := _CITED.search(address, max(0, len(address) - 6)):
        address = address[: cited.start()].rstrip(_CLOSING)
    return address, bare[len(address) :]
