"""The time of a fit, which a `cwboost.callbacks.TimeLimit` bounds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter


@dataclass(frozen=True)
class Clock:
    """Seconds since ``perf_counter()`` was `start`, of which there are `limit`."""

    start: float
    limit: float = float("inf")

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return perf_counter() - self.start

    @property
    def left(self) -> float:
        """Seconds until the limit, negative when it is past."""
        return self.limit - self.seconds

    def part(self, share: float) -> Clock:
        """Return a clock whose limit is past after a share of the seconds that are left."""
        return replace(self, limit=self.seconds + share * self.left)
