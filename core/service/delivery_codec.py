"""What platforms put into the inbox, in words that every platform shares.

Nothing here is trusted state: rights and audience are looked up by the worker, through the platform, when it works.
"""

from core.model.incoming_events import Deletion, Expiry, Incoming, IncomingChoice, IncomingMessage
from core.model.json_codec import from_json, to_json
from core.ports.inbox import Delivery

_KINDS: dict[str, type] = {
    "message": IncomingMessage,
    "choice": IncomingChoice,
    "expiry": Expiry,
    "deletion": Deletion,
}


_NAMES = {kind: name for name, kind in _KINDS.items()}


def delivery(delivery_id: str, incoming: Incoming | Deletion) -> Delivery:
    """The inbox's envelope for something incoming."""
    source = incoming.question if isinstance(incoming, Expiry | Deletion) else incoming
    person = source.person if isinstance(source, IncomingChoice) else source.asker
    return Delivery(
        id=delivery_id,
        platform=source.thread.platform,
        thread=str(source.thread),
        person=person.id,
        body=to_json(incoming),
        kind=_NAMES[type(incoming)],
    )


def decode_delivery(envelope: Delivery) -> Incoming | Deletion:
    """The inverse of ``delivery``. Raises ValueError on an envelope of another version."""
    kind = _KINDS.get(envelope.kind)
    if kind is None:
        raise ValueError(f"There is no delivery of kind {envelope.kind!r}.")
    incoming: Incoming | Deletion = from_json(kind, envelope.body)
    return incoming
