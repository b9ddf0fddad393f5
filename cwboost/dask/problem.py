"""From the reports of all partitions to the problem they share."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.utils.class_weight import compute_class_weight

from cwboost.dask.host import Setup
from cwboost.dask.input.encoding import Columns, Encoding, check_columns, shared_categories
from cwboost.estimator.input.categories import categorical_facts, in_order_of
from cwboost.estimator.input.columns import call
from cwboost.families.contract import BindContext
from cwboost.families.discovery import check_capabilities

__all__ = ["descriptions_of", "planned", "shared_encoding", "shared_problem"]


def shared_problem(reports, encoding, family, C, class_weight) -> Setup:
    """Return the setup of partitions with these reports, still without a plan.

    The partitions must fit together and have two classes of positive weight at least.
    """
    ordered = [reports[index] for index in sorted(reports)]
    filled = [r for r in ordered if r.n_rows]
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
    masses = (sums * factor)[kept]
    exponent = int(np.frexp(masses.sum() / used[kept].sum())[1])
    masses = np.ldexp(masses, -exponent)
    q = (len(masses) - 1) * float(masses.sum()) / C
    of_partition = {
        index: _by_label([report], labels, "used")[kept]
        for index, report in sorted(reports.items())
        if report.n_rows
    }
    return Setup(None, encoding, labels[kept], factor[kept], exponent, q, masses, of_partition)


def planned(setup: Setup, family, descriptions, columns: Columns, rng) -> Setup:
    """Return a setup with the family's plan.

    `descriptions` is what the family says of the features of each partition that has examples.
    """
    counts, names = setup.class_counts, columns.names
    context = BindContext(
        n_targets=family.capabilities.n_priced(len(counts)),
        random_state=rng,
        class_counts=counts,
        feature_names=names,
        **categorical_facts(setup.encoding.categories, columns.n_features),
    )
    plan = family.plan([descriptions[index] for index in sorted(descriptions)], context)
    return replace(setup, plan=plan)


def descriptions_of(reports) -> dict:
    """Return what the family said of the features of each partition that has examples."""
    return {k: one.description for k, one in reports.items() if one.description is not None}


def shared_encoding(found, family, categorical_features, known=None) -> tuple[Encoding, Columns]:
    """Return how blocks become matrices, and the columns of partitions with such columns.

    The partitions must fit together, and the family must be able to take the categories; `known`
    are those of a model that training goes on from.
    """
    columns = check_columns({k: own for k, own in found.items() if own.role == "training"})
    if columns is None:
        raise ValueError("X has no rows: all partitions are empty")
    check_columns(found)
    categories = in_order_of(known or {}, shared_categories(found))
    numbers = {call(place, columns.names): len(known) for place, known in categories.items()}
    check_capabilities(family, n_categories=numbers)
    return Encoding(categorical_features, categories), columns


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
    if isinstance(class_weight, str) and class_weight == "balanced":
        return counts.sum() / (len(labels) * counts)
    return compute_class_weight(class_weight, classes=labels, y=labels)
