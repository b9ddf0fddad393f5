"""Joins flat forms of several batches, and takes them apart."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from cwboost.families.flat_forms import DTYPES, ThresholdTrees

OF_NODES = tuple(name for name in DTYPES if name != "offsets")


def join_trees(forms: Sequence[ThresholdTrees], order=None) -> ThresholdTrees:
    """Return trees of several forms as one form: those of `order`, by default all in order.

    `order` has indices of trees, counted through all forms.
    """
    joined = forms[0] if len(forms) == 1 else _all_of(forms)
    return joined if order is None else _some_of(joined, np.asarray(order, dtype=np.intp))


def _all_of(forms: Sequence[ThresholdTrees]) -> ThresholdTrees:
    """Return the trees of all forms, one form after the other."""
    if any(form.directions is not None for form in forms):
        forms = _on_linear_features(forms)
    sizes = np.concatenate([np.diff(form.offsets) for form in forms])
    cover = None
    if all(form.cover is not None for form in forms):
        cover = np.concatenate([form.cover for form in forms])
    return replace(
        forms[0],
        offsets=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        **{name: np.concatenate([getattr(form, name) for form in forms]) for name in OF_NODES},
        cover=cover,
    )


def _some_of(trees: ThresholdTrees, order: np.ndarray) -> ThresholdTrees:
    """Return the trees at these places, in their order."""
    sizes, first = np.diff(trees.offsets)[order], trees.offsets[:-1][order]
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    nodes = np.arange(offsets[-1]) + np.repeat(first - offsets[:-1], sizes)
    return replace(
        trees,
        offsets=offsets,
        **{name: getattr(trees, name)[nodes] for name in OF_NODES},
        cover=None if trees.cover is None else trees.cover[nodes],
    )


def _on_linear_features(forms: Sequence[ThresholdTrees]) -> list[ThresholdTrees]:
    """Return the same trees on one set of linear features, which includes plain features."""
    n_features = next(len(form.directions) for form in forms if form.directions is not None)
    columns, moved, n_columns, fills, fill_of = [], [], 0, [], []
    for form in forms:
        split = form.feature >= 0
        feature = form.feature.copy()
        if form.directions is None:
            used, place = np.unique(feature[split], return_inverse=True)
            directions = np.zeros((n_features, len(used)))
            directions[used, np.arange(len(used))] = 1.0
            feature[split] = place
        else:
            directions = form.directions
        feature[split] += n_columns
        n_columns += directions.shape[1]
        columns.append(directions)
        moved.append(replace(form, feature=feature))
        fill_of_form = np.full(directions.shape[1], -1) if form.fill_of is None else form.fill_of
        fill_of.append(np.where(fill_of_form < 0, -1, fill_of_form + len(fills)))
        fills.extend([] if form.fill is None else form.fill)
    joined = {"directions": np.hstack(columns), "fill": None, "fill_of": None}
    if fills:
        fill, place = np.unique(fills, axis=0, return_inverse=True)
        joined |= {"fill": fill, "fill_of": np.append(place, -1)[np.concatenate(fill_of)]}
    return [replace(form, **joined) for form in moved]


def plain_features(form: ThresholdTrees) -> np.ndarray:
    """Return the feature that each linear feature of a form is, int32; -1 if it is another sum."""
    directions = form.directions
    is_plain = ((directions != 0).sum(axis=0) == 1) & (directions == 1).any(axis=0)
    if form.fill_of is not None:
        is_plain &= form.fill_of < 0
    feature = np.argmax(directions == 1, axis=0)
    return np.where(is_plain, feature, -1).astype(np.int32)


def trees_on_features(form: ThresholdTrees) -> tuple[ThresholdTrees, np.ndarray]:
    """Return the trees that compare features themselves, and their places in a form.

    Trees without comparisons are among them.
    """
    if form.directions is None:
        return form, np.arange(len(form))
    split = form.feature >= 0
    feature = np.where(split, plain_features(form)[form.feature], -1).astype(np.int32)
    whole = np.logical_and.reduceat(~split | (feature >= 0), form.offsets[:-1])
    places = np.flatnonzero(whole)
    plain = replace(form, feature=feature, directions=None, fill=None, fill_of=None)
    return join_trees([plain], places), places
