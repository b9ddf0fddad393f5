"""Sets of category codes, one per split, as packed bits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class CategorySets:
    """Sets of category codes, as packed bits; an entry without bits is a threshold, not a set.

    A category code is an integer from 0. It is in set ``k`` if bit ``code % 8`` (lowest first) of
    byte ``code // 8`` of ``bits[start[k] : start[k + 1]]`` is set. Values that are not codes
    (negative, beyond the last bit, NaN) are in no set.

    Parameters
    ----------
    start : ndarray of shape (n_entries + 1,), dtype int64
    bits : ndarray of shape (start[-1],), dtype uint8
    """

    start: np.ndarray
    bits: np.ndarray

    def __len__(self) -> int:
        return len(self.start) - 1

    @classmethod
    def of(cls, members: Sequence) -> CategorySets:
        """Return sets of `members`: boolean arrays of shape (n_categories,), or None.

        None is the entry of a threshold.
        """
        packed = [
            np.zeros(0, dtype=np.uint8) if m is None else np.packbits(m, bitorder="little")
            for m in members
        ]
        start = np.cumsum([0, *map(len, packed)], dtype=np.int64)
        return cls(start, np.concatenate([np.zeros(0, dtype=np.uint8), *packed]))

    @classmethod
    def none(cls, n_entries: int) -> CategorySets:
        """Return `n_entries` entries without sets."""
        return cls(np.zeros(n_entries + 1, dtype=np.int64), np.zeros(0, dtype=np.uint8))

    @property
    def is_set(self) -> np.ndarray:
        """True for an entry with a set, shape (n_entries,)."""
        return self.start[1:] > self.start[:-1]

    def members(self, entry: int) -> np.ndarray:
        """Return the codes in the set of `entry`, ascending, dtype int64."""
        bits = self.bits[self.start[entry] : self.start[entry + 1]]
        return np.flatnonzero(np.unpackbits(bits, bitorder="little"))

    def contains(self, entry, values) -> np.ndarray:
        """Return whether values are codes of sets.

        Parameters
        ----------
        entry : array-like of int
            Entries; broadcast against `values`.
        values : ndarray of numbers

        Returns
        -------
        ndarray of bool, of the shape to which both are broadcast
        """
        entry = np.asarray(entry)
        first, n_codes = self.start[entry], 8 * (self.start[entry + 1] - self.start[entry])
        with np.errstate(invalid="ignore"):
            valid = (values >= 0) & (values < n_codes)
        if not len(self.bits):
            return np.zeros(valid.shape, dtype=bool)
        code = np.where(valid, values, 0).astype(np.int64)
        byte = np.where(valid, first + (code >> 3), 0)
        return valid & ((self.bits[byte] >> (code & 7).astype(np.uint8)) & 1).astype(bool)

    def take(self, entries) -> CategorySets:
        """Return the entries at `entries`, in that order."""
        entries = np.asarray(entries, dtype=np.int64)
        sizes = np.diff(self.start)[entries]
        start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        place = np.arange(start[-1]) + np.repeat(self.start[entries] - start[:-1], sizes)
        return CategorySets(start, self.bits[place])

    @classmethod
    def concatenate(cls, parts: Sequence[CategorySets]) -> CategorySets:
        """Return the entries of `parts` one after the other."""
        sizes = np.concatenate([np.diff(part.start) for part in parts])
        start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return cls(start, np.concatenate([part.bits for part in parts]))

    def check(self, n_entries: int) -> None:
        """Raise ValueError unless dtypes and shapes are right for `n_entries` entries."""
        for name, dtype in (("start", np.int64), ("bits", np.uint8)):
            array = getattr(self, name)
            if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != 1:
                got = getattr(array, "dtype", type(array).__name__)
                raise ValueError(
                    f"set_{name} must have one dimension of {dtype.__name__}, got {got}"
                )
        start = self.start
        if len(start) != n_entries + 1 or start[0] != 0 or start[-1] != len(self.bits):
            raise ValueError(
                f"set_start must have {n_entries + 1} entries from 0 to {len(self.bits)}, got "
                f"{len(start)}, the last {start[-1:]}"
            )
        if np.any(start[1:] < start[:-1]):
            raise ValueError(f"set_start must not decrease, got {start}")


def check_codes(column, place: int, n_categories: int) -> None:
    """Raise ValueError unless a column of X, the one at `place`, holds codes or NaN."""
    is_code = (column >= 0) & (column < n_categories) & (column == np.floor(column))
    if not (is_code | np.isnan(column)).all():
        wrong = column[~(is_code | np.isnan(column))][0]
        raise ValueError(
            f"column {place} of X must hold codes from 0 to {n_categories - 1} or NaN, got {wrong}"
        )
