"""Every JSON error code that Discord documents, with the HTTP status it comes under.

The codes are those of the platform's page "Opcodes and Status Codes"
(https://docs.discord.com/developers/topics/opcodes-and-status-codes). The page does not say which status goes with
which code: here it is the one that has been seen, else that of its kind (unknown things are not found, missing rights
forbidden, limits on writing too many requests, everything else a bad request).
"""

from __future__ import annotations

from dataclasses import dataclass

UNKNOWN = (
    *range(10001, 10017), 10020, 10021, *range(10026, 10034), 10036, 10038, 10049, 10050, 10057, *range(10059, 10064),
    *range(10065, 10072), 10087, 10097, 10124, 10129,
)  # fmt: skip
FORBIDDEN = (
    20001, 20002, 20009, 20012, 20015, 20018, 20024, 40002, 40004, 40006, 40007, 40333, 50001, 50003, 50004, 50005,
    50007, 50009, 50013, 50021, 50095, 50178, 50278, 50600, 60003, 90001, 90002, 160002, 160005, 340015, 400001, 530000,
)  # fmt: skip
UNAUTHORISED = (40001, 50014, 50025)
WEBHOOK_TOKEN = 50027  # the one token that is not ours but an interaction's
FOR_A_WHILE = (40004, 40006, 40333)  # forbidden, but only now
LIMITED = (20016, 20022, 20028, 20029, 30046, 40003, 40062)
OVERLOADED = (110000, 110001, 130000)
BAD = (
    0, 20031, 20035, *range(30001, 30006), 30007, 30008, 30010, 30011, 30013, 30015, 30016, 30018, 30019,
    *range(30030, 30036), *range(30037, 30041), 30042, 30045, 30047, 30048, 30052, 30056, 30058, 30060, 30061, 40005,
    40009, 40012, 40018, 40019, 40032, 40033, 40041, 40043, 40058, 40060, 40061, 40066, 40067, 40074, 40094, 50002,
    50006, 50008, *range(50010, 50013), *range(50015, 50018), 50019, 50020, 50024, 50026, 50028, *range(50033, 50037),
    50039, 50041, 50045, 50046, 50054, 50055, 50057, 50067, 50068, 50070, 50073, 50074, 50080, 50081,
    *range(50083, 50087),
    50091, 50097, 50101, 50109, 50110, 50123, 50124, 50131, 50132, 50138, 50144, 50145, 50146, 50151,
    *range(50159, 50164), 50167, 50173, 50192, 80004, 150006, 160004, 160006, 160007, 160014,
    *range(170001, 170008), 180000, 180002, 200000, 200001, *range(220001, 220005), 240000, 350000, 350001, 500000,
    *range(520000, 520005), 520006, *range(530001, 530005), 530006, 530007,
)  # fmt: skip


@dataclass(frozen=True, order=True)
class Trouble:
    """One way in which a request may be answered other than well."""

    name: str
    status: int
    code: int = 0
    retry_after: float | None = None
    text: str | None = None
    drops: bool = False

    @property
    def passes(self) -> bool:
        """Whether it says "not now" rather than "not this": then nothing may be lost over it, whatever the place."""
        unanswered = self.drops or self.text is not None or self.status >= 500 or self.status in (200, 429)
        return unanswered or (self.status == 401 and self.code != WEBHOOK_TOKEN) or self.code in FOR_A_WHILE


def _each(status: int, codes: tuple[int, ...]) -> list[Trouble]:
    return [Trouble(f"{status} {code}", status, code) for code in codes]


DOCUMENTED = (
    *_each(404, UNKNOWN),
    *_each(403, FORBIDDEN),
    *_each(401, (*UNAUTHORISED, WEBHOOK_TOKEN)),
    *_each(429, LIMITED),
    *_each(503, OVERLOADED),
    *_each(400, BAD),
)
HTTP = (
    Trouble("401 without a body of ours", 401, text="<html>Unauthorized</html>"),
    Trouble("403 of a proxy", 403, text="<html>Forbidden</html>"),
    Trouble("404 of a proxy", 404, text="<html>Not Found</html>"),
    Trouble("405", 405),
    Trouble("413 of a proxy", 413, text="<html>Too Large</html>"),
    Trouble("429 for minutes", 429, retry_after=300.0),
    Trouble("429 of a proxy", 429, text="<html>Slow down</html>"),
    Trouble("503", 503),
    Trouble("503 of a proxy", 503, text="<html>Unavailable</html>"),
    Trouble("520 of a proxy", 520, text="<html>Unknown error</html>"),
    Trouble("200 of a portal", 200, text="<html>Sign in</html>"),
    Trouble("200 cut off", 200, text='{"id": "12'),
    Trouble("connection cut", 0, drops=True),
)
RETRIED_BY_THE_LIBRARY = (Trouble("500", 500), Trouble("502", 502), Trouble("504", 504), Trouble("524", 524))
# One of each kind that is told apart anywhere, and those that have a meaning of their own for an answer.
TELLING = frozenset(
    {0, 10003, 10004, 10008, 10013, 10015, 10062, 20009, 20016, 20022, 20028, 20029, 30033, 30046, 40001, 40002, 40003,
     40004, 40005, 40060, 40062, 40094, 40333, 50001, 50005, 50006, 50007, 50008, 50013, 50014, 50021, 50024, 50027,
     50035, 50083, 50109, 50278, 110001, 130000, 160002, 160004, 160005, 160006, 200000, 200001, 240000}
)  # fmt: skip
SHORT = (*(one for one in DOCUMENTED if one.code in TELLING), *HTTP)
WHOLE = (*DOCUMENTED, *HTTP, *RETRIED_BY_THE_LIBRARY)
