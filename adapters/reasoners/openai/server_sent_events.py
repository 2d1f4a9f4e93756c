"""Reading a stream of server-sent events, as chat completions are streamed."""

LONGEST_EVENT = 4_000_000  # bytes; longer is no event of a chat completion
DONE = b"[DONE]"  # the data of the last event


class ServerSentEvents:
    """The data of the events that are complete so far (WHATWG HTML, 9.2.6); their types and ids mean nothing here."""

    def __init__(self) -> None:
        self.done = False  # the sender said that this is all; what comes after it is no event
        self._line = b""  # begun
        self._data: list[bytes] = []  # of the event that has begun

    def feed(self, received: bytes) -> list[bytes]:
        """The data of the events that end in here. Raises ValueError when one is too long to be one."""
        lines = (self._line + received).splitlines(keepends=True)
        # What ends in a carriage return may go on with its line feed.
        self._line = lines.pop() if lines and not lines[-1].endswith(b"\n") else b""
        if len(self._line) + sum(map(len, self._data)) > LONGEST_EVENT:
            raise ValueError("an event without an end")
        found: list[bytes] = []
        for line in lines:
            event = self._read(line.rstrip(b"\r\n"))
            self.done = self.done or (event is not None and event.startswith(DONE))
            if event is not None and not self.done:
                found.append(event)
        return found

    def finish(self) -> list[bytes]:
        """The data of an event whose end the server left out."""
        return self.feed(b"\n\n")

    def _read(self, line: bytes) -> bytes | None:
        if line.startswith(b"data:"):
            self._data.append(line[5:].removeprefix(b" "))
        elif not line and self._data:
            event, self._data = b"\n".join(self._data), []
            return event
        return None
