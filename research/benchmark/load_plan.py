"""Which questions of a load belong to which part. They are numbered from 1 in the order in which they are asked."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Plan:
    """The parts one after the other, as ranges of cases."""

    questions: int
    rounds: int
    threads: int
    answers: int
    ramp: int  # under way at a time when sustained; so many are asked before that part is counted, and so many after it
    thinking: float  # seconds that a thread which goes on lets pass after an answer, at most

    @property
    def cases(self) -> int:
        """The numbers of all questions of the plan."""
        return self.sustained_cases[-1]

    @property
    def first(self) -> range:
        """Every question, several times: caches are warm then, and it is known which ones this model can answer."""
        return range(1, self.rounds * self.questions + 1)

    @property
    def burst(self) -> range:
        """Many threads in the same instant, several times."""
        return range(self.first.stop, self.first.stop + self.rounds * self.threads)

    @property
    def conversation_cases(self) -> range:
        """As many threads that go on by themselves, until each has had its turn several times and two more."""
        return range(self.burst.stop, self.burst.stop + (self.rounds + 2) * self.threads)

    @property
    def counted_conversation_cases(self) -> range:
        """Of those, what was asked when all had begun and before the first had ended."""
        return self.conversation_cases[self.threads : -self.threads]

    @property
    def sustained_cases(self) -> range:
        """As many as there are lanes, all the time."""
        return range(self.conversation_cases.stop, self.conversation_cases.stop + self.answers + 2 * self.ramp)
