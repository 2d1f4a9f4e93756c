"""The error tree. Vendor exceptions are translated into these at the adapter that meets them.

    FootnoteError
    ├── ConfigurationError       a setting is missing or wrong
    │   └── IndexMismatch        the index was written with another model or dimension
    ├── Unavailable              something outside does not answer
    │   ├── StoreUnavailable     Redis or Milvus
    │   │   ├── StoreRefused     it refuses our credentials or settings
    │   │   └── DiskFull         the disk below it is full
    │   ├── ModelUnavailable     the model endpoint: refused, timed out, rate limited, breaker open
    │   │   └── ModelMisbehaved  it answered, but with nothing usable
    │   ├── PlatformUnavailable  a chat platform
    │   └── SourceUnavailable    a place where a team keeps documents; ``after``: seconds until a retry is allowed
    │       └── SourceRefused    it refuses the token
    │           └── RightMissing the token is valid but lacks this permission
    ├── BudgetExhausted          a cap on searches, tokens, seconds or money is reached
    ├── NotFound                 a document, checkpoint, trace or knowledge base does not exist
    ├── Denied                   this person may not do this
    ├── AlreadyDone              it can be done only once, and was done
    ├── DocumentRejected         a file that cannot become knowledge, with its reason
    ├── FetchRefused             a link that must not or could not be fetched, with its reason
    ├── LeaseLost                another worker has taken this thread over
    └── Busy                     a limit is reached; try again later

Every message is one line that a person can read; ``remedy`` says what to do about it.
"""

from enum import StrEnum

WENT_WRONG = "Something went wrong on my side. Please try again."  # for unexpected errors; the log has the details


class FootnoteError(Exception):
    """Base of all errors that Footnote reports: one line, with a remedy if there is one."""

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
    """An external service does not answer."""


class StoreUnavailable(Unavailable):
    """Redis or Milvus does not answer."""


class StoreRefused(StoreUnavailable):
    """A store refuses the connection. Retrying does not help; other settings do."""


class DiskFull(StoreUnavailable):
    """The disk of one of our folders is full. No writes succeed there until someone frees space."""

    def __init__(self, folder: object) -> None:
        super().__init__(f"The disk of {folder} is full.", remedy="Free some space.")


class ModelFailure(StrEnum):
    """Failures of a model endpoint, for metrics and the operator."""

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
    NETWORK = "network"  # something in between: a firewall, a proxy
    REGION = "region"
    REFUSED = "refused request"
    REFUSED_TEXT = "refusal"
    LENGTH = "length"
    MALFORMED = "malformed"
    UNRELIABLE = "unreliable"  # it gives verdicts on text that it has not read
    BUDGET = "budget"  # the endpoint is fine; the day's budget is spent
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
    """A connector's source does not answer, or asks to retry after ``after`` seconds."""

    def __init__(self, message: str, *, remedy: str | None = None, after: float = 0.0) -> None:
        super().__init__(message, remedy=remedy)
        self.after = after


class SourceRefused(SourceUnavailable):
    """A source refuses the token, or an action that the token does not permit. Retrying does not help."""


class SettingsRefused(SourceRefused):
    """A source rejects a request because of a setting or an expired cursor."""


class RightMissing(SourceRefused):
    """A source accepts the token, but the token lacks the permission for this."""


class BudgetExhausted(FootnoteError):
    """A cap on searches, tokens, seconds or money is reached."""


class NotFound(FootnoteError):
    """A document, checkpoint, trace or knowledge base does not exist."""


class Denied(FootnoteError):
    """This person may not do this."""


class AlreadyDone(FootnoteError):
    """It can be done only once, and was done."""


class DocumentRejected(FootnoteError):
    """A file that cannot be indexed; the message is the reason."""


class NoText(DocumentRejected):
    """A valid file without text. It is skipped, which is not a failure."""


class FetchRefused(FootnoteError):
    """A link that must not be fetched, or could not be; the message is the reason."""


class LeaseLost(FootnoteError):
    """Another worker has taken over this thread; this worker's state is stale."""


class Busy(FootnoteError):
    """A limit is reached; try again later."""


def first_of_ours(failures: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the first FootnoteError in a group, at any depth; otherwise the group itself."""
    for failure in failures.exceptions:
        found = first_of_ours(failure) if isinstance(failure, BaseExceptionGroup) else failure
        if isinstance(found, FootnoteError):
            return found
    return failures
