"""Which examples are left out of training. Everything that leaves examples out asks here:

- `holdout_splits`: the holdout run and refits, which calibrate the model on these examples;
- `split_off`: early stopping;
- `cross_fitting`: the scores of init models without an example's own label;
- `part_of`: the command line's validation and held-out examples.

Examples of a group stay together; without groups, every row is an example of its own, whatever its
values. A splitter of scikit-learn replaces the draw.
"""

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from sklearn.utils.metadata_routing import get_routing_for_object

from cwboost.input.checks import generator_of
from cwboost.input.examples import VALID, Examples, GivenRows, HeldOut
from cwboost.input.groups import mixed

SHARE_LEFT_OUT = 0.2
"""Share of the examples on which a holdout run is measured."""

MOST_LEFT_OUT = 20_000
"""Largest number of these: their log loss is then known within 1%."""

ENOUGH_LEFT_OUT, MOST_SPLITS = 500, 3
"""Small data are split again, until the first number of examples has been left out, or the second
number of times: the log loss of few examples is noise."""

MOST_LISTED = 200_000
"""Number of examples, whole groups, among which a cluster draws those that it leaves out."""

N_FOLDS = 5
"""Number of folds by which init models and target statistics are cross-fitted."""


class Split(NamedTuple):
    """Examples that one training leaves out, ascending, and those of them that measure it."""

    left_out: np.ndarray
    measured: np.ndarray


# -------------------------------------------------------------------- drawn at random


def holdout_splits(examples: Examples, given: list[Split], rng) -> tuple[list[Split], int]:
    """Return what the trainings of holdout runs leave out, and the seed of these runs.

    These are the last of the given splits, or else drawn, see `drawn_splits`.
    """
    if given:
        return last_splits(given, examples), int(rng.integers(2**63))
    return drawn_splits(examples.counts, examples.groups, rng)


def drawn_splits(counts, groups, rng) -> tuple[list[Split], int]:
    """Return what the trainings of holdout runs leave out, and the seed of these runs.

    `counts` are the sizes of the classes, by which the examples are sorted, and `groups` the keys
    of those that stay together, or None. Examples are drawn by class. There is one split per
    training of a run: several if the data are small, none if no class has an example to spare.
    """
    n_samples = counts.sum()
    share = min(SHARE_LEFT_OUT, MOST_LEFT_OUT / n_samples)
    if groups is None:
        left_out = _draws(counts, share, rng)
    else:
        y = np.repeat(np.arange(len(counts)), counts)
        left_out = _parts(y, groups, share, int(rng.integers(2**63)))
        if left_out and len(left_out[0]) >= ENOUGH_LEFT_OUT:
            left_out = left_out[:1]
    if not left_out:
        return [], 0
    return [Split(rows, rows) for rows in left_out], int(rng.integers(2**63))


def listed(keys, n_samples: int, most: int = MOST_LISTED) -> np.ndarray:
    """Return which of some examples are listed: whole groups, in the mean `most` of `n_samples`.

    The key alone decides, so that partitions agree.
    """
    if n_samples <= most:
        return np.ones(len(keys), dtype=bool)
    return mixed(keys, np.uint64(1)) < np.uint64(2**64 * (most / n_samples))


def part_of(y, share: float, random_state, groups=None) -> tuple[np.ndarray, np.ndarray]:
    """Return the examples without a share of each class, and the share, both ascending.

    Raises ValueError if there is no such share.
    """
    y, rng = np.unique(y, return_inverse=True)[1], generator_of(random_state)
    if groups is None:
        held = np.argsort(y, kind="stable")[_drawn(np.bincount(y), share, rng)]
        parts = [np.sort(held)] if len(held) else []
    else:
        parts = _parts(y, groups, share, int(rng.integers(2**63)))
    if not parts:
        raise ValueError(f"no class has a {'row' if groups is None else 'group'} to spare")
    return np.setdiff1d(np.arange(len(y)), parts[0], assume_unique=True), parts[0]


def split_off(examples: Examples, fraction: float, random_state, splits: list[Split]) -> Examples:
    """Hold out some training examples for early stopping: by class, or the last given split.

    Return those that stay, with the others as held-out ones, without weights if all are equal.
    """
    masses = None
    if splits:
        left_out, held = last_splits(splits, examples)[-1]
        kept = np.setdiff1d(np.arange(len(examples.y)), left_out, assume_unique=True)
    else:
        try:
            kept, held = part_of(examples.y, fraction, random_state, examples.groups)
        except ValueError as error:
            raise ValueError(
                f"early_stopping must hold out examples, but {error}: pass X_val and y_val"
            ) from error
        masses = np.bincount(examples.y, examples.row_weight)
    weight = examples.row_weight
    weight = None if (weight == weight[0]).all() else weight[held]
    groups = None if examples.groups is None else examples.groups[held]
    valid = HeldOut(examples.as_new(held), examples.y[held], weight, masses, groups)
    return replace(examples.take(kept), held_out={VALID: valid, **examples.held_out})


def cross_fitting(examples: Examples, seed: int) -> tuple[np.ndarray, bool]:
    """Return the fold of each example for cross-fitting, and whether every example is alone.

    If so, it may be left out by itself. Examples that a given splitter tests together share a fold.
    """
    groups, alone = examples.groups, examples.blocks is None
    if groups is None:
        # In turn, class by class: a class of few examples may be in fewer folds.
        order = np.lexsort((np.random.default_rng(seed).permutation(len(examples.y)), examples.y))
        folds = np.empty(len(order), dtype=np.int64)
        folds[order] = np.arange(len(order)) % N_FOLDS
    else:
        alone, folds = False, _part_numbers(examples.y, groups, 1 / N_FOLDS, seed)
    if examples.blocks is not None:
        folds = np.where(examples.blocks >= 0, examples.blocks % N_FOLDS, folds)
    return folds, alone


def _draws(counts, share: float, rng) -> list[np.ndarray]:
    """Return examples drawn by class, once or more."""
    first = _drawn(counts, share, rng)
    if not len(first):
        return []
    return [first, *(_drawn(counts, share, rng) for _ in range(_n_splits(len(first)) - 1))]


def _drawn(counts, share: float, rng) -> np.ndarray:
    """Return examples drawn by class, ascending: one at least of a class that has two or more."""
    sizes = np.clip(np.rint(share * counts).astype(int), 1, np.maximum(counts - 1, 0))
    starts = np.cumsum(counts) - counts
    places = [start + rng.permutation(n)[:size] for start, n, size in zip(starts, counts, sizes)]
    return np.sort(np.concatenate(places))


def _n_splits(n_left_out: int) -> int:
    return min(MOST_SPLITS, math.ceil(ENOUGH_LEFT_OUT / n_left_out))


def _parts(y, groups, share: float, seed: int) -> list[np.ndarray]:
    """Return disjoint sets of whole groups, those first that are nearest to a share of all.

    Every class keeps an example outside of each set.
    """
    part = _part_numbers(y, groups, share, seed)
    counts, parts = np.bincount(y), []
    for number in np.argsort(np.abs(np.bincount(part) - share * len(y)), kind="stable"):
        inside = part == number
        lost = (np.bincount(y[inside], minlength=len(counts)) == counts) & (counts > 0)
        if lost.any():
            inside &= ~np.isin(groups, groups[lost[y]])
        if inside.any():
            parts.append(np.flatnonzero(inside))
    return parts


def _part_numbers(y, groups, share: float, seed: int) -> np.ndarray:
    """Return the number of a part for each example: parts are whole groups, drawn by class.

    A group counts for the class of most of its examples. The groups of a class follow one another
    in random order, and the middle of a group, in shares of the class, is the number of its part.
    """
    _, group = np.unique(mixed(groups, np.uint64(2 * seed + 1)), return_inverse=True)
    size, n_classes = np.bincount(group), int(y.max()) + 1
    pairs, counts = np.unique(group * n_classes + y, return_counts=True)
    by_count = np.lexsort((counts, pairs // n_classes))
    last = np.cumsum(np.bincount(pairs // n_classes)) - 1
    of_class = pairs[by_count[last]] % n_classes
    order = np.argsort(of_class, kind="stable")
    total = np.bincount(of_class, size, minlength=n_classes)
    before = np.cumsum(size[order]) - size[order] - (np.cumsum(total) - total)[of_class[order]]
    part = np.empty(len(size), dtype=np.int64)
    part[order] = (before + size[order] / 2) / (share * total[of_class[order]])
    # A single group per class is the middle of all.
    return group if (part == part[0]).all() else part[group]


# -------------------------------------------------------------------- by a splitter


def check_splitter(cv) -> None:
    """Check the parameter `cv` of a classifier."""
    is_text_or_class = isinstance(cv, str | bytes | type)
    if is_text_or_class or not (cv is None or hasattr(cv, "split") or isinstance(cv, Iterable)):
        raise TypeError(
            "cv must be None, a splitter of scikit-learn, or pairs of training and test rows, "
            f"got {cv!r}"
        )


def given_splits(cv, examples: Examples) -> list[Split]:
    """Return the splits of the parameter `cv`, none for None: those of the examples in its rows."""
    if cv is None:
        return []
    rows, pairs = examples.rows, _pairs(cv, examples.given)
    masks = [(~np.isin(rows, train), np.isin(rows, test)) for train, test in pairs]
    return [Split(np.flatnonzero(out), np.flatnonzero(at)) for out, at in masks]


def _pairs(cv, given: GivenRows) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the training and test rows of each split, checked.

    They are of all rows, in the order of the user: a splitter may know more of these.
    """
    n_rows = given.X.shape[0]
    if hasattr(cv, "split"):
        try:
            pairs = list(cv.split(np.arange(n_rows)[:, None], given.y, _groups_for(cv, given)))
        except ValueError as error:
            raise ValueError(f"cv must be able to split the rows: {error}") from error
    else:
        pairs = list(cv)
    if not pairs:
        raise ValueError("cv must yield at least one split, got none")
    return [_checked_pair(k, pair, n_rows) for k, pair in enumerate(pairs)]


def _groups_for(splitter, given: GivenRows):
    """Return the groups of the rows for a splitter, None if it takes none, which it would warn of.

    A splitter that is not scikit-learn's may take them.
    """
    is_known = type(splitter).__module__.startswith("sklearn.")
    takes = get_routing_for_object(splitter).consumes("split", ["groups"])
    return None if is_known and not takes else given.groups


def _checked_pair(k: int, pair, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the training and test rows of split `k`, below `n_rows`."""
    try:
        train, test = map(np.asarray, pair)
    except (TypeError, ValueError):
        train = test = np.empty(0)
    for part in (train, test):
        if not (part.ndim == 1 and len(part) and part.dtype.kind in "iu"):
            raise ValueError(f"cv must yield pairs of training and test rows, got {pair!r:.200}")
        if part.min() < 0 or part.max() >= n_rows:
            outside = part.min() if part.min() < 0 else part.max()
            raise ValueError(f"cv must yield rows from 0 to {n_rows - 1}, got {outside}")
    both = np.intersect1d(train, test)
    if len(both):
        raise ValueError(
            f"cv must yield training and test rows without a common one, got {len(both)} in both "
            f"of split {k}"
        )
    return train, test


def last_splits(splits: list[Split], examples: Examples) -> list[Split]:
    """Return the given splits that training takes: the last, on small data up to two before it.

    Those before it count only if they leave every class in training.
    """

    def lost(split: Split) -> np.ndarray:
        kept = np.delete(examples.y, split.left_out)
        return np.setdiff1d(np.arange(len(examples.classes)), kept)

    *others, last = splits
    if len(missing := lost(last)):
        raise ValueError(
            "cv must leave every class in the training rows of its last split, got none of class "
            f"{examples.classes[missing[0]]!s}"
        )
    if not len(last.measured):
        raise ValueError("cv must test examples of positive weight in its last split, got none")
    before = _n_splits(len(last.measured)) - 1
    taken = others[-before:] if before else []
    return [*(split for split in taken if len(split.measured) and not len(lost(split))), last]


def with_blocks(examples: Examples, splits: list[Split]) -> Examples:
    """Return the examples with the number of the split that tests each example, -1 for none."""
    if not splits:
        return examples
    blocks = np.full(len(examples.y), -1)
    for number, split in enumerate(splits):
        blocks[split.measured] = number
    return replace(examples, blocks=blocks)
