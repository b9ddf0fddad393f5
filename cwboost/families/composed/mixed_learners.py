"""A batch of weak learners of several families."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from cwboost.families.arrays import check_arrays
from cwboost.families.contract import WeakLearners, coef_of
from cwboost.families.discovery import get_family
from cwboost.families.flat_forms import ThresholdTrees, stump_trees
from cwboost.families.joined_trees import join_trees

SEPARATOR = "/"

PART = " "
"""Before the number of a family of which a mixture has several; no name of a family has spaces."""


class MixedLearners(WeakLearners):
    """Learners of several families, each family's in a batch of its own.

    `parts` has the batches by the registered names of their families, as "tree 2" if there are
    several of a name, and `part` the part of each learner, an index into the sorted names. The
    learners of a part keep the order of its batch. A model file stores ``part`` and the arrays of
    each batch as ``NAME/ARRAY``.
    """

    def __init__(self, parts: Mapping[str, WeakLearners], part):
        part = np.asarray(part, dtype=np.int32)
        names = sorted(parts)
        used = [k for k, name in enumerate(names) if len(parts[name])]
        # Empty parts are dropped, so that equal batches are stored alike.
        self.parts = {names[k]: parts[names[k]] for k in used}
        self.part = np.searchsorted(used, part).astype(np.int32)

    @classmethod
    def of(cls, name: str, learners: WeakLearners) -> MixedLearners:
        """Return learners of one family as a mixed batch."""
        return cls({name: learners}, np.zeros(len(learners), dtype=np.int32))

    def __len__(self) -> int:
        return len(self.part)

    def batches(self):
        """Yield name, batch and places among all learners of each part."""
        for k, (name, batch) in enumerate(self.parts.items()):
            yield name, batch, np.flatnonzero(self.part == k)

    def outputs(self, X) -> np.ndarray:
        outputs = np.empty((X.shape[0], len(self)), dtype=np.int8)
        for _, batch, places in self.batches():
            outputs[:, places] = batch.outputs(X)
        return outputs

    def scorer(self, coef):
        coef = coef_of(self, coef)
        scorers = [batch.scorer(coef[places]) for _, batch, places in self.batches()]

        def scorer(X, n_threads: int = 1) -> np.ndarray:
            scores = np.zeros((X.shape[0], coef.shape[1]))
            for part in scorers:
                scores += part(X, n_threads)
            return scores

        return scorer

    def flat_form(self) -> ThresholdTrees | None:
        forms = [batch.flat_form() for batch in self.parts.values()]
        if None in forms:
            return None
        if not forms:
            none = np.empty(0, dtype=np.int8)
            return stump_trees(none, none, none, none)
        return join_trees(forms, np.argsort(self._order()))

    def _order(self) -> np.ndarray:
        """Return the places of the learners, part after part."""
        return np.argsort(self.part, kind="stable")

    def arrays(self) -> dict[str, np.ndarray]:
        arrays = {"part": self.part}
        for name, batch in self.parts.items():
            for key, array in batch.arrays().items():
                arrays[f"{name}{SEPARATOR}{key}"] = array
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], n_features: int) -> MixedLearners:
        grouped: dict[str, dict[str, np.ndarray]] = {}
        of_batch = {}
        for key, array in arrays.items():
            name, separator, rest = key.partition(SEPARATOR)
            if separator:
                grouped.setdefault(name, {})[rest] = array
            else:
                of_batch[key] = array
        (part,) = check_arrays(of_batch, {"part": ("int32", ("n_learners",))})
        parts = {name: _load(name, grouped[name], n_features) for name in sorted(grouped)}
        sizes = [len(batch) for batch in parts.values()]
        in_range = part.size == 0 or (part.min() >= 0 and part.max() < len(parts))
        if not in_range or np.bincount(part, minlength=len(parts)).tolist() != sizes:
            raise ValueError(f"array 'part' must name each of {len(parts)} parts {sizes} times")
        return cls(parts, part)

    def take(self, indices) -> MixedLearners:
        indices = np.asarray(indices, dtype=np.intp)
        within = np.empty(len(self), dtype=np.intp)
        for _, batch, places in self.batches():
            within[places] = np.arange(len(batch))
        part = self.part[indices]
        taken = {
            name: batch.take(within[indices[part == k]])
            for k, (name, batch) in enumerate(self.parts.items())
        }
        return type(self)(taken, part)

    @classmethod
    def concatenate(cls, batches: Sequence[MixedLearners]) -> MixedLearners:
        names = sorted({name for batch in batches for name in batch.parts})
        parts = {}
        for name in names:
            joined = [batch.parts[name] for batch in batches if name in batch.parts]
            parts[name] = type(joined[0]).concatenate(joined)
        codes = [
            np.array([names.index(name) for name in batch.parts], dtype=np.int32)[batch.part]
            for batch in batches
        ]
        return cls(parts, np.concatenate(codes) if codes else np.empty(0, dtype=np.int32))


def _load(name: str, arrays: Mapping[str, np.ndarray], n_features: int) -> WeakLearners:
    learners_type = get_family(name.partition(PART)[0]).learners_type
    if issubclass(learners_type, MixedLearners):
        raise ValueError(f"a part of mixed learners cannot be mixed itself, got {name[:80]!r}")
    learners = learners_type.from_arrays(arrays, n_features)
    if learners.is_graded:
        raise ValueError(f"part {name!r} must have outputs -1 and +1, got graded ones")
    return learners
