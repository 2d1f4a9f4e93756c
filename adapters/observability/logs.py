"""Logging, set up once: readable on a terminal, JSON elsewhere, and never a secret."""

import logging
import re
import sys
from collections.abc import Iterable, Mapping, MutableMapping
from typing import Any
from urllib.parse import quote

import structlog

# Token formats, so that tokens in messages, exceptions and URLs are redacted wherever they come from.
_SHAPES = re.compile(
    r"xox[a-z](?:\.xox[a-z])?-[\w.-]{6,400}|xapp-[\w-]{6,400}|xwfp-[\w-]{6,400}"  # Slack
    r"|(?<![\w-])[\w-]{23,30}\.[\w-]{6,7}\.[\w-]{27,90}"  # Discord
    r"|(?<![\w-])sk-[\w-]{8,400}|AKIA[0-9A-Z]{16}|AIza[\w-]{30,60}|(?:ghp|gho|ghs|ghu|github_pat|glpat|hf|gsk|r8)[_-]\w{16,200}"
    r"|eyJ[\w-]{10,4000}\.[\w-]{10,4000}\.[\w-]{10,4000}"  # a JSON web token
    r"|-----BEGIN[A-Z ]{0,40}-----[^-]{0,20000}(?:-----END[A-Z ]{0,40}-----)?"
    r"|(?<=hooks\.slack\.com/)[^\s\"'<>]{1,400}|(?<=/webhooks/)\d{5,25}/[\w-]{20,200}"
    r"|(?<=://)[^/\s:@]{0,200}:[^/\s@]{1,400}(?=@)"
    r"|(?i:(?<=\bbearer )|(?<=\bbearer%20))[\w.~+/=-]{8,4000}"
    r"|(?:(?<=\b[Bb]asic )|(?<=\bBASIC ))(?=\S{0,400}[A-Z0-9=])[\w+/=-]{8,4000}"
    r"|(?i:(?<=\bbot ))[\w-]{6,90}\.[\w-]{3,90}\.[\w-]{6,90}"
    r"|(?i:(?<=token=)|(?<=password=)|(?<=passwd=)|(?<=secret=)|(?<=api_key=)|(?<=apikey=)|(?<=signature=)"
    r"|(?<=access_key=)|(?<=[?&]key=)|(?<=[?&]sig=)|(?<=[?&]pwd=))[^\s&#\"'<>,;)\]]{1,4000}"
)
HIDDEN = "•••"
OURS = {"adapters", "bot", "core"}


class Redaction:
    """Redaction of configured secrets and token-like texts in all logs."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        """Redact these texts in addition to the known formats."""
        long = [secret for secret in secrets if len(secret) > 5]
        written = {*long, *map(quote, long), *(quote(secret, safe="") for secret in long)}
        known = sorted(map(re.escape, written), key=len, reverse=True)
        self._known = re.compile("|".join(known)) if known else None

    def clean(self, text: str) -> str:
        """Return the text without secrets."""
        text = self._known.sub(HIDDEN, text) if self._known else text
        return _SHAPES.sub(HIDDEN, text)

    def __call__(self, _logger: object, _method: str, event: MutableMapping[str, Any]) -> Mapping[str, Any]:
        """Redact an event (structlog processor)."""
        return {key: self._value(value) for key, value in event.items()}

    def _value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.clean(value)
        if isinstance(value, dict):
            return {key: self._value(inner) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self._value(inner) for inner in value]
        return value if isinstance(value, int | float | bool | None) else self.clean(str(value))


class _CleanFormatter(logging.Formatter):
    """Formatter for vendors' loggers: redacted, on one line. Our own loggers have fields, which ``ours`` shows."""

    def __init__(self, redaction: Redaction, ours: logging.Formatter) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s %(message)s")
        self._redaction = redaction
        self._ours = ours

    def format(self, record: logging.LogRecord) -> str:
        if record.name.partition(".")[0] in OURS:
            return self._ours.format(record)
        return self._redaction.clean(super().format(record))


def configure(level: str, style: str, secrets: Iterable[str] = ()) -> None:
    """Log to standard error at ``level``; ``style`` is auto, text or json."""
    redaction = Redaction(secrets)
    number = logging.getLevelNamesMapping().get(level.upper(), logging.INFO)
    readable = style == "text" or (style == "auto" and sys.stderr.isatty())
    readable_renderer: Any = structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    last: Any = readable_renderer if readable else structlog.processors.JSONRenderer()
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            redaction,
            last,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )
    ours = structlog.stdlib.ProcessorFormatter(
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, redaction, last],
        foreign_pre_chain=[
            structlog.contextvars.merge_contextvars,
            structlog.stdlib.add_log_level,
            structlog.stdlib.ExtraAdder(),
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
        ],
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_CleanFormatter(redaction, ours))
    logging.basicConfig(level=max(number, logging.WARNING), handlers=[handler], force=True)
    logging.getLogger("core").setLevel(number)  # core uses the standard library's logging: it imports no vendor
