"""The errors that Discord's REST API answers with, as JSON of its documented shape.

Codes come from the platform's "Opcodes and Status Codes" page.
"""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


class Refusal(Exception):
    """A request was refused: an HTTP status, Discord's own code and its message.

    ``violation`` is set when only a mistake in the client can explain it; a missing permission or a
    message that somebody deleted meanwhile is no mistake.
    """

    def __init__(
        self, status: int, code: int, message: str, *, errors: Json | None = None, violation: str | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.errors = errors
        self.violation = violation

    def payload(self) -> Json:
        body: Json = {"message": self.message, "code": self.code}
        if self.errors is not None:
            body["errors"] = self.errors
        return body


def invalid_form(where: str, kind: str, message: str) -> Refusal:
    """A 400 whose ``errors`` tree points at a field, e.g. ``data.components.0.label``."""
    errors: Json = {"_errors": [{"code": kind, "message": message}]}
    for key in reversed([part for part in where.split(".") if part]):
        errors = {key: errors}
    violation = f"{where or 'body'}: {message}"
    return Refusal(400, 50035, "Invalid Form Body", errors=errors, violation=violation)


def unknown(what: str, code: int) -> Refusal:
    return Refusal(404, code, f"Unknown {what}")


def missing_access() -> Refusal:
    return Refusal(403, 50001, "Missing Access")


def missing_permissions() -> Refusal:
    return Refusal(403, 50013, "Missing Permissions")
