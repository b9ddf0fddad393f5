"""From the reports of all partitions to the problem they share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.utils.class_weight import compute_class_weight

from cwboost.dask.host import Setup
from cwboost.estimator.parameters import check_class_weight
from cwboost.families.contract import BindContext
from cwboost.families.discovery import check_capabilities

__all__ = ["SharedProblem", "shared_problem"]


@dataclass(frozen=True, eq=False)
class SharedProblem:
    """The training data as a whole.

    Parameters
    ----------
    setup : Setup
    masses : ndarray of shape (n_classes,), float64
        Sum of the scaled example weights of every class.
    n_samples, n_features : int
        Examples of positive weight, and features.
    names : tuple of str or None
    """

    setup: Setup
    masses: np.ndarray
    n_samples: int
    n_features: int
    names: tuple | None


def shared_problem(reports, family, C, class_weight, rng, n_threads=1) -> SharedProblem:
    """Return the problem of partitions with these reports.

    Parameters
    ----------
    reports : dict of Report
        By partition.
    family : WeakLearnerFamily and PartitionedFamily
    C : float
    class_weight : dict, "balanced" or None
    rng : numpy.random.Generator

    Raises
    ------
    ValueError
        If partitions do not fit together, or have fewer than two classes of positive weight.
    """
    ordered = [reports[index] for index in sorted(reports)]
    filled = [r for r in ordered if r.n_rows]
    if not filled:
        raise ValueError("X has no rows: all partitions are empty")
    check_features(reports)
    first = filled[0]
    check_capabilities(
        family,
        has_missing=any(r.has_missing for r in filled),
        is_sparse=any(r.is_sparse for r in filled),
    )
    labels = _all_labels(reports)
    counts, used, sums = (_by_label(filled, labels, name) for name in ("counts", "used", "sums"))
    factor = _class_weights(class_weight, labels, counts)
    kept = (used > 0) & (factor > 0)
    if not kept.any():
        raise ValueError("sample_weight leaves no example: all weights are zero")
    if kept.sum() < 2:
        raise ValueError(
            "y must have at least two classes (of positive weight), got 1 class: "
            f"{labels[kept][0]!r}"
        )
    masses, n_samples = (sums * factor)[kept], int(used[kept].sum())
    exponent = int(np.frexp(masses.sum() / n_samples)[1])
    masses = np.ldexp(masses, -exponent)
    context = BindContext(
        n_targets=int(kept.sum()),
        random_state=rng,
        n_threads=n_threads,
        class_counts=used[kept],
        feature_names=first.names,
    )
    described = [r.description for r in ordered if r.description is not None]
    plan = family.plan(described, context)
    q = (len(masses) - 1) * float(masses.sum()) / C
    of_partition = {
        index: _by_label([report], labels, "used")[kept]
        for index, report in sorted(reports.items())
        if report.n_rows
    }
    setup = Setup(plan, labels[kept], factor[kept], exponent, q, of_partition)
    return SharedProblem(setup, masses, n_samples, first.n_features, first.names)


def check_features(reports, expected=None) -> None:
    """Check that all partitions have the same features.

    Parameters
    ----------
    reports : dict of Report
    expected : Report, default=None
        What the first report is compared with; the first partition with rows by default.
    """
    where = "the training data"
    for index in sorted(reports):
        found = reports[index]
        if not found.n_rows:
            continue
        if expected is None:
            expected, where = found, f"partition {index}"
        if found.n_features != expected.n_features:
            raise ValueError(
                f"partition {index}: X has {found.n_features} features, {where} has "
                f"{expected.n_features}"
            )
        if found.names != expected.names:
            raise ValueError(
                f"partition {index}: the columns of X are {found.names}, those of {where} are "
                f"{expected.names}"
            )


def _all_labels(reports) -> np.ndarray:
    """Return the labels of all partitions, sorted."""
    filled = {index: reports[index].labels for index in sorted(reports) if reports[index].n_rows}
    first, kind = next((index, labels.dtype.kind) for index, labels in filled.items())
    for index, labels in filled.items():
        if (labels.dtype.kind in "biuf") != (kind in "biuf"):
            raise ValueError(
                f"partition {index}: y has labels of dtype {labels.dtype}, partition {first} of "
                f"dtype {filled[first].dtype}"
            )
    return np.unique(np.concatenate(list(filled.values())))


def _by_label(reports, labels, name) -> np.ndarray:
    """Return the sums over partitions, in their order, of a value per label."""
    total = np.zeros(len(labels))
    for report in reports:
        total[np.searchsorted(labels, report.labels)] += getattr(report, name)
    return total if name == "sums" else total.astype(np.int64)


def _class_weights(class_weight, labels, counts) -> np.ndarray:
    """Return the factor of every label, as scikit-learn computes it."""
    check_class_weight(class_weight)
    if class_weight is None:
        return np.ones(len(labels))
    if isinstance(class_weight, str):
        return counts.sum() / (len(labels) * counts)
    return compute_class_weight(class_weight, classes=labels, y=labels)
