"""What the pictures do not know how to show."""


class UnknownKindError(Exception):
    """A kind of block or component that the product sends has no rendering here."""
