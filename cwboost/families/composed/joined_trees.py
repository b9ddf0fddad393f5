"""Joins flat forms of several batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from cwboost.families.flat_forms import ThresholdTrees
from cwboost.kernels.category_sets import CategorySets

__all__ = ["join_trees"]


def join_trees(forms: Sequence[ThresholdTrees], order=None) -> ThresholdTrees:
    """Return some trees of several forms as one form.

    Parameters
    ----------
    forms : sequence of ThresholdTrees
        At least one.
    order : array-like of int, default=None
        Indices of the trees, counted through all forms; None takes all in order.
    """
    if order is None:
        order = np.arange(sum(map(len, forms)))
    order = np.asarray(order, dtype=np.intp)
    if any(form.directions is not None for form in forms):
        forms = _on_linear_features(forms)
    starts = np.cumsum([0, *(form.offsets[-1] for form in forms[:-1])])
    sizes = np.concatenate([np.diff(form.offsets) for form in forms])[order]
    first = np.concatenate([form.offsets[:-1] + start for form, start in zip(forms, starts)])[order]
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    nodes = np.arange(offsets[-1]) + np.repeat(first - offsets[:-1], sizes)
    arrays = {
        name: np.concatenate([getattr(form, name) for form in forms])[nodes]
        for name in ("feature", "threshold", "left", "missing", "sign")
    }
    sets = None
    if any(form.category_sets is not None for form in forms):
        every = [form.category_sets or CategorySets.none(len(form.feature)) for form in forms]
        sets = CategorySets.concatenate(every).take(nodes)
    gain = None
    if all(form.gain is not None for form in forms):
        gain = np.concatenate([form.gain for form in forms])[nodes]
    return ThresholdTrees(
        offsets, **arrays, directions=forms[0].directions, category_sets=sets, gain=gain
    )


def _on_linear_features(forms: Sequence[ThresholdTrees]) -> list[ThresholdTrees]:
    """Return the same trees on one set of linear features, which includes plain features."""
    n_features = next(len(form.directions) for form in forms if form.directions is not None)
    columns, moved, n_columns = [], [], 0
    for form in forms:
        split = form.feature >= 0
        feature, threshold = form.feature.copy(), form.threshold.copy()
        if form.directions is None:
            used, place = np.unique(feature[split], return_inverse=True)
            directions = np.zeros((n_features, len(used)))
            directions[used, np.arange(len(used))] = 1.0
            feature[split] = place
        else:
            directions = form.directions
            if form.mean is not None:
                threshold[split] += (form.mean @ directions)[feature[split]]
        feature[split] += n_columns
        n_columns += directions.shape[1]
        columns.append(directions)
        moved.append(replace(form, feature=feature, threshold=threshold, mean=None))
    joined = np.hstack(columns)
    return [replace(form, directions=joined) for form in moved]
