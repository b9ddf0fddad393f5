"""All partitions together: one exchange asks every worker and merges the replies."""

from abc import ABC, abstractmethod
from functools import reduce

from cwboost.families.partitioned import Tasks

READING = {"measure", "gradient", "left_out", "labels", "scores"}
"""Operations that leave a partition as it is; "price" does until the next that does not."""


class PartitionsLost(RuntimeError):
    """Partitions were lost and could not be rebuilt; the rounds that the client has are kept."""


class Crew(ABC):
    """The workers that hold the partitions.

    No result depends on which worker holds which partition: replies are put in their order, and
    summaries of pricing are merged exactly. `log` leads from the sources to the present state.
    After `PartitionsLost`, `is_lost` is True, and nobody is there to ask.
    """

    def __init__(self):
        self.is_lost = False
        self.log: list = []
        self._questions: list = []
        self.coordinator = None

    @abstractmethod
    def _on_all(self, method, *arguments) -> list:
        """Return the replies of every worker to a method of `Host`; a lost worker is replaced."""

    @property
    @abstractmethod
    def n_workers(self) -> int:
        """Number of workers that hold partitions."""

    @abstractmethod
    def share(self, question: Tasks) -> list:
        """Return the results of tasks, each done on one worker."""

    def collect(self, found_in, encoding, *arguments) -> dict:
        """Return what a function finds in the chunks of all partitions, by index; see `Host`."""
        replies = self._on_all("collect", found_in, encoding, *arguments)
        return {index: found for reply in replies for index, found in reply.items()}

    def bind(self, setup) -> None:
        """Prepare all partitions and let go of their sources."""
        self.coordinator = setup.coordinator
        self._prepare("bind", setup)

    def _prepare(self, method, given) -> None:
        """Call the method of `Host` that takes the sources."""
        self._on_all(method, given)

    def ask(self, *operations) -> list:
        """Carry out operations, (name, arguments), on all partitions, in one exchange.

        They are methods of `Partition` or `HeldOutPartition`. Return the merged summary of each
        "price", of others the list of the results in the order of the partitions.
        """
        replies = self._on_all("run", operations)
        merged = []
        for place, (name, _) in enumerate(operations):
            parts = [reply[place] for reply in replies]
            if name == "price":
                parts = [part for part in parts if part is not None]
                merged.append(reduce(self.coordinator.merge, parts))
            else:
                by_index = {index: value for part in parts for index, value in part.items()}
                merged.append([by_index[index] for index in sorted(by_index)])
        self._remember(operations)
        return merged

    def _remember(self, operations) -> None:
        for operation in operations:
            if operation[0] == "price":
                # A family may keep state between the questions of a round.
                self._questions.append(operation)
            elif operation[0] not in READING:
                self._questions = []
                self.log.append(operation)

    def history(self) -> list:
        """Return the operations that a rebuilt partition repeats."""
        return [*self.log, *self._questions]

    def forget(self, kept=()) -> None:
        """Replace the log by operations that lead to the same state."""
        self.log = list(kept)
