"""Values that an object makes at their first use."""

from collections.abc import Callable
from typing import Any


class made_once:
    """Decorate a method: its result is made at the first use and kept as an attribute.

    Threads may both make it; one result stays. `functools.cached_property` would lock all objects
    of the class before Python 3.12, and an interrupt can leave that lock held for ever.
    """

    def __init__(self, make: Callable[[Any], Any]):
        self._make, self._name, self.__doc__ = make, make.__name__, make.__doc__

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        return instance.__dict__.setdefault(self._name, self._make(instance))
