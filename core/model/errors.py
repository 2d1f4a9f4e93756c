"""The error tree. Vendor exceptions are translated into these at the adapter that meets them.

    FootnoteError
    ├── ConfigurationError       a setting is missing or wrong
    │   └── IndexMismatch        the index was written with another model or dimension
    ├── Unavailable              something outside does not answer
    │   ├── StoreUnavailable     Redis or Milvus
    │   │   ├── StoreRefused     it answers, and does not let us in as we are configured
    │   │   └── DiskFull         the disk below it is full
    │   ├── ModelUnavailable     the model endpoint: refused, timed out, rate limited, breaker open
    │   │   └── ModelMisbehaved  it answered, but with nothing usable
    │   ├── PlatformUnavailable  a chat platform
    │   └── SourceUnavailable    a place where a team keeps documents; ``after``: seconds until it may be asked again
    │       └── SourceRefused    it answers, and refuses the token
    │           └── RightMissing the token is good, and may not do this
    ├── BudgetExhausted          a cap on searches, tokens, seconds or money is reached
    ├── NotFound                 a document, checkpoint, trace or knowledge base that is not there
    ├── Denied                   this person may not do this
    ├── AlreadyDone              it can be done once, and was
    ├── DocumentRejected         a file that cannot become knowledge, with its reason
    ├── FetchRefused             a link that must not or could not be fetched, with its reason
    ├── LeaseLost                another worker has taken this thread over
    └── Busy                     a bound is reached; try again later

Every message is one line that a person can read; ``remedy`` says what to do about it.
"""

from enum import StrEnum

WENT_WRONG = "Something went wrong on my side. Please try again."  # of what nobody foresaw; the log says what


class FootnoteError(Exception):
    """Anything that Footnote itself reports, in one line, with a remedy where there is one."""

    def __init__(self, message: str, *, remedy: str | None = None) -> None:
        super().__init__(message)
        self.remedy = remedy

    def __str__(self) -> str:
        message = super().__str__()
        return f"{message} {self.remedy}" if self.remedy else message


class ConfigurationError(FootnoteError):
    """A setting is missing or wrong."""


class IndexMismatch(ConfigurationError):
    """The index was written with another embedding model or dimension."""


class Unavailable(FootnoteError):
    """Something outside does not answer."""


class StoreUnavailable(Unavailable):
    """Redis or Milvus does not answer."""


class StoreRefused(StoreUnavailable):
    """A store answers, and does not let us in: no waiting mends that, other settings do."""


class DiskFull(StoreUnavailable):
    """The disk of a folder of ours is full. Nothing more is written there until somebody makes room."""

    def __init__(self, folder: object) -> None:
        super().__init__(f"The disk of {folder} is full.", remedy="Make room on it.")


class ModelFailure(StrEnum):
    """What was wrong at a model endpoint, for metrics and for the one who runs it."""

    DNS = "dns"
    TLS = "tls"
    CONNECTION = "connection"
    KEY = "key"
    MODEL = "model"
    QUOTA = "quota"
    RATE_LIMIT = "rate limit"
    CONTENT_FILTER = "content filter"
    CONTEXT = "context"
    TIMEOUT = "timeout"
    SERVER = "server"
    LOADING = "loading"
    MEMORY = "memory"
    NETWORK = "network"  # something between us and it: a firewall, a proxy
    REGION = "region"
    REFUSED = "refused request"
    REFUSED_TEXT = "refusal"
    LENGTH = "length"
    MALFORMED = "malformed"
    UNRELIABLE = "unreliable"  # it judges what it has not read
    BUDGET = "budget"  # nothing is wrong there: what a day may cost is spent
    OTHER = "other"


class ModelUnavailable(Unavailable):
    """The model endpoint refused, timed out, was rate limited, or its breaker is open."""

    def __init__(self, message: str, *, remedy: str | None = None, kind: ModelFailure = ModelFailure.OTHER) -> None:
        super().__init__(message, remedy=remedy)
        self.kind = kind


class ModelMisbehaved(ModelUnavailable):
    """The model answered, but with nothing usable."""


class PlatformUnavailable(Unavailable):
    """A chat platform does not answer, or refuses our credentials."""


class SourceUnavailable(Unavailable):
    """A source that a connector reads does not answer, or wants to be asked later: ``after`` so many seconds."""

    def __init__(self, message: str, *, remedy: str | None = None, after: float = 0.0) -> None:
        super().__init__(message, remedy=remedy)
        self.after = after


class SourceRefused(SourceUnavailable):
    """A source refuses the token, or something that the token may not do: retrying does not help."""


class SettingsRefused(SourceRefused):
    """A source does not accept what it was asked for: by a setting, or by a cursor that has expired."""


class RightMissing(SourceRefused):
    """A source knows the token, which may not do this."""


class BudgetExhausted(FootnoteError):
    """A cap on searches, tokens, seconds or money is reached."""


class NotFound(FootnoteError):
    """A document, checkpoint, trace or knowledge base that is not there."""


class Denied(FootnoteError):
    """This person may not do this."""


class AlreadyDone(FootnoteError):
    """It can be done once, and was."""


class DocumentRejected(FootnoteError):
    """A file that cannot become knowledge; the message is the reason."""


class NoText(DocumentRejected):
    """A file that is in order and says nothing: empty, blank, or without text. Left out, and no failure."""


class FetchRefused(FootnoteError):
    """A link that must not or could not be fetched; the message is the reason."""


class LeaseLost(FootnoteError):
    """Another worker has taken this thread over; what this one holds is stale."""


class Busy(FootnoteError):
    """A bound is reached; try again later."""


def first_of_ours(failures: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the first failure in a group, however deep, that is one of these; else the group itself."""
    for failure in failures.exceptions:
        found = first_of_ours(failure) if isinstance(failure, BaseExceptionGroup) else failure
        if isinstance(found, FootnoteError):
            return found
    return failures
