"""Causes of endpoint errors, by status and error text. Vendors use many statuses for the same cause.

The order matters: a rate limit error that links to a billing page is a rate limit, and a wrong key may come as a 400.
"""

import re
from dataclasses import dataclass

from core.model.errors import ModelFailure, ModelMisbehaved, ModelUnavailable

FILTERED = re.compile(
    r"content.?(?:filter|management|policy)|responsible.?ai|safety|moderation|input was flagged", re.IGNORECASE
)
LONGEST_READ = 4_000  # characters of an error that are searched


@dataclass(frozen=True, slots=True)
class Cause:
    """Cause of an error. ``words`` continue "The model endpoint at …". Empty ``statuses`` match any status."""

    kind: ModelFailure
    words: str = ""  # empty if ``failures`` has the whole error
    remedy: str = ""
    pattern: str = ""
    statuses: frozenset[int] = frozenset()
    error: type[ModelUnavailable] = ModelUnavailable

    def explains(self, status: int, said: str) -> bool:
        """Return whether an error with this status and text has this cause."""
        if self.statuses and status not in self.statuses:
            return False
        return not self.pattern or bool(re.search(self.pattern, said, re.IGNORECASE))


_ANY_REFUSAL = frozenset({200, 400, 401, 402, 403, 404, 410, 422, 424, 429, 500, 503})
_UNPAID = ("wants to be paid first: its quota is used up", "Check the account behind LLM_API_KEY.")
_BUSY = ("has too many requests at the moment", "Try again in a while, or raise the account's limit.")
_KEY = ("does not accept our key", "Check LLM_API_KEY.")
_UNKNOWN = ("does not know the model", "Check LLM_MODEL.")
_BETWEEN = "Something between Footnote and the model refuses it: check the firewall, the proxy and LLM_BASE_URL."

_ADDRESS = "Check that LLM_BASE_URL ends where /chat/completions begins, usually in /v1."
_RUNS = "Check LLM_BASE_URL and that the server runs."
NO_COMPLETION = Cause(
    ModelFailure.MALFORMED, "sent something that is no chat completion", _ADDRESS, error=ModelMisbehaved
)
ENDLESS = Cause(
    ModelFailure.MALFORMED,
    "sent a reply without an end",
    "Check what answers at LLM_BASE_URL.",
    error=ModelMisbehaved,
)
IN_CIRCLES = Cause(
    ModelFailure.MALFORMED,
    "sends us in circles",
    "Set LLM_BASE_URL to the address where chat completions are answered.",
)
BROKE_OFF = Cause(ModelFailure.CONNECTION, "broke the answer off in the middle", "Try again.")
REPORTED = Cause(ModelFailure.SERVER, "reported an error of its own", "Try again in a moment.")
DISCONNECTED = Cause(ModelFailure.CONNECTION, "broke the connection off", _RUNS)
NO_NAME = Cause(ModelFailure.DNS, "cannot be reached: its name is not known (DNS)", "Check the host in LLM_BASE_URL.")
NO_TLS = Cause(
    ModelFailure.TLS,
    "cannot be reached: no secure connection (TLS)",
    "Check http or https in LLM_BASE_URL, and whether its certificate is trusted here.",
)
CLOSED_PORT = Cause(
    ModelFailure.CONNECTION,
    "cannot be reached: the connection is refused",
    "Check the port in LLM_BASE_URL and that the server runs.",
)
NO_ADDRESS = Cause(
    ModelFailure.DNS, "cannot be reached: it is no address", "LLM_BASE_URL begins with http:// or https://."
)
INTERNAL = Cause(ModelFailure.SERVER, "has an internal error", "Try again in a moment.")
ELSEWHERE = Cause(ModelFailure.MALFORMED, "sends us elsewhere", "Set LLM_BASE_URL to the address it names.")
REFUSED = Cause(
    ModelFailure.REFUSED,
    "refused the request",
    "Its own log says what it has against it; LLM_MODEL may also be a model that does not chat.",
)

CAUSES = (
    Cause(
        ModelFailure.LENGTH,  # sent as an error if a reasoning model wrote nothing within its token cap
        pattern=r"could not finish the message because max_tokens|model output limit was reached",
        statuses=frozenset({200, 400}),
    ),
    Cause(ModelFailure.CONTENT_FILTER, pattern=FILTERED.pattern, statuses=frozenset({200, 400, 403})),
    Cause(
        ModelFailure.REGION,
        "does not serve this country",
        "Use an endpoint in a region that the provider serves.",
        r"(?:country|region|territory|user location)\b.{0,40}\bnot supported|unsupported_country",
        frozenset({200, 400, 403, 451}),
    ),
    Cause(ModelFailure.NETWORK, "is behind a proxy that wants a login", _BETWEEN, statuses=frozenset({407})),
    Cause(
        ModelFailure.NETWORK,
        "is shut off by a firewall",
        _BETWEEN,
        r"virtual network|firewall|private endpoint|public access is disabled|<title>just a moment|cloudflare"
        r"|check your network",
        frozenset({403}),
    ),
    Cause(
        ModelFailure.MEMORY,
        "has too little memory for the model",
        "Use a smaller model, or a smaller context there.",
        r"out of memory|more system memory|insufficient memory|not enough memory",
        _ANY_REFUSAL,
    ),
    Cause(
        ModelFailure.LOADING,
        "is still loading the model",
        "Try again in a minute.",
        r"loading model|model is (?:still |currently )?loading|warming up",
        frozenset({200, 500, 503}),
    ),
    Cause(
        ModelFailure.SERVER,
        "lost its connection to the model",
        "Try again in a moment.",
        r"disconnected|connection (?:was )?(?:reset|closed|aborted|lost)|received from peer|upstream connect error",
        frozenset({200, 400, 500, 502, 503}),
    ),
    Cause(
        ModelFailure.QUOTA,
        *_UNPAID,
        r"insufficient.?(?:quota|balance|credits?|funds)|budget.?(?:has been )?exceeded|over budget|credit balance"
        r"|exceeded.?budget|requires more credits|payment required",
        _ANY_REFUSAL,
    ),
    Cause(ModelFailure.QUOTA, *_UNPAID, statuses=frozenset({402})),
    Cause(
        ModelFailure.RATE_LIMIT,
        *_BUSY,
        r"rate.?limit|(?:try again|retry) in \d|overloaded|\b(?:429|529)\b|per.?minute",
        frozenset({200, 429}),
    ),
    Cause(ModelFailure.QUOTA, *_UNPAID, r"\bquota\b|billing|credits?\b", frozenset({200, 403, 429})),
    Cause(ModelFailure.RATE_LIMIT, *_BUSY, statuses=frozenset({429, 498, 529})),
    Cause(ModelFailure.RATE_LIMIT, *_BUSY, r"server busy|pending requests exceeded", frozenset({503})),
    Cause(ModelFailure.KEY, *_KEY, statuses=frozenset({401})),
    Cause(
        ModelFailure.KEY, *_KEY, r"api.?key.{0,20}(?:not valid|invalid)|invalid.{0,12}api.?key", frozenset({200, 400})
    ),
    Cause(
        ModelFailure.MODEL,
        "cannot serve the model",
        "Check LLM_MODEL, and whether the server has loaded it as a model that chats.",
        r"chat.?template|does not work with the specified model|model (?:is |has |was )?(?:not |un)loaded"
        r"|no models? loaded|decommissioned|deprecated|no longer (?:available|supported)",
        _ANY_REFUSAL,
    ),
    Cause(
        ModelFailure.MODEL,
        *_UNKNOWN,
        r"model.{0,80}(?:not found|does not exist|not available)|unknown model|invalid.model|not a valid model"
        r"|model.?not.?(?:found|available)|access to model|unable to access model",
        frozenset({200, 400, 403, 404, 422}),
    ),
    Cause(ModelFailure.MODEL, *_UNKNOWN, r"model", frozenset({404})),
    Cause(
        ModelFailure.MODEL,
        "does not know the address or the model",
        "Check LLM_BASE_URL and LLM_MODEL.",
        statuses=frozenset({404}),
    ),
    Cause(
        ModelFailure.MALFORMED,
        "takes no chat completions at this address",
        _ADDRESS,
        r"unexpected endpoint|method not allowed|not.?implemented",
        frozenset({200, 405, 501}),
    ),
    Cause(
        ModelFailure.KEY,
        "does not accept our key",
        "Check LLM_API_KEY.",
        r"api.?key|auth|token|credential",
        frozenset({403}),
    ),
    Cause(
        ModelFailure.KEY,
        "does not allow this",
        "Check LLM_API_KEY and whether it may use LLM_MODEL.",
        statuses=frozenset({403}),
    ),
    Cause(
        ModelFailure.TIMEOUT,
        "gave up waiting for the model",
        "Use a faster model, or raise the timeout of what stands before it.",
        statuses=frozenset({408, 504, 522, 524}),
    ),
)


def cause_of(status: int, said: str) -> Cause | None:
    """Return the cause that matches an error's status and text, or None."""
    read = said[:LONGEST_READ]
    return next((cause for cause in CAUSES if cause.explains(status, read)), None)
