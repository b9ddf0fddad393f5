"""From the reports of all partitions to the problem they share."""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from cwboost.dask.host import Setup
from cwboost.dask.initial import PartitionExamples, examples_of
from cwboost.dask.input.chunks import Chunk
from cwboost.dask.input.encoding import Encoding, check_columns, shared_categories
from cwboost.families.contract import BindContext
from cwboost.families.partitioned import Coordinator
from cwboost.families.sealing.sample import N_CHECKED_ROWS
from cwboost.input.categories import in_order_of
from cwboost.input.examples import PRODUCT, check_classes, checksum_of, class_factors
from cwboost.input.schema import InputSchema
from cwboost.support.samples import evenly_spaced
from cwboost.support.weights import check_total, parts_of_size


def shared_problem(reports, encoding, C, class_weight) -> Setup:
    """Return the setup of partitions with these reports, still without a coordinator."""
    reports = {index: report for index, report in sorted(reports.items()) if report.n_rows}
    filled = list(reports.values())
    labels = _all_labels(reports)
    used, sums = (_by_label(filled, labels, name) for name in ("used", "sums"))
    check_total(sums)
    factor = class_factors(class_weight, labels, sums)
    with np.errstate(over="ignore"):
        masses = sums * factor
    check_total(masses, PRODUCT)
    kept = masses > 0
    check_classes(labels[kept])
    masses = masses[kept]
    exponent = int(np.frexp(masses.sum() / used[kept].sum())[1])
    masses = np.ldexp(masses, -exponent)
    q = (len(masses) - 1) * float(masses.sum()) / C
    of_partition = {
        index: _by_label([report], labels, "used")[kept] for index, report in reports.items()
    }
    of_partition = {index: counts for index, counts in of_partition.items() if counts.any()}
    return Setup(
        coordinator=None,
        encoding=encoding,
        classes=labels[kept],
        class_weight=factor[kept],
        exponent=exponent,
        q=q,
        masses=masses,
        size=float(used[kept].sum()),
        counts=of_partition,
    )


class Described(NamedTuple):
    """A training partition with examples.

    It has parts of the effective size, a checksum, what the family needs to know, and examples on
    which learners are checked and importances computed.
    """

    size: tuple
    checksum: int
    description: Any
    sample: PartitionExamples


def described(chunk: Chunk, setup: Setup, family) -> Described | None:
    """Describe a training partition that has examples."""
    if chunk.index not in setup.counts:
        return None
    rows, _, _ = setup.used_rows(chunk)
    X = sparse.csr_array(chunk.X) if sparse.issparse(chunk.X) else chunk.X
    return Described(
        parts_of_size(chunk.weights()[rows]),
        checksum_of(chunk.X, rows, setup.counts[chunk.index]),
        family.describe(X if len(rows) == chunk.n_rows else X[np.sort(rows)]),
        examples_of(chunk, setup, evenly_spaced(setup.n_total, N_CHECKED_ROWS)),
    )


def coordinator_of(setup: Setup, descriptions, schema: InputSchema, rng, family) -> Coordinator:
    """Return a family's coordinator of partitions with these descriptions."""
    counts = setup.class_counts
    context = BindContext(
        n_targets=family.capabilities.n_priced(len(counts)),
        random_state=rng,
        class_counts=counts,
        size=setup.size,
        **schema.facts(),
    )
    return family.coordinator(list(descriptions), context)


def shared_encoding(
    found, categorical_features, family, known=None
) -> tuple[Encoding, InputSchema]:
    """Return how blocks become matrices for a family, and the schema of the training partitions.

    `known` are the categories of a model that training goes on from.
    """
    columns = check_columns(found)
    categories = in_order_of(known or {}, shared_categories(found))
    schema = InputSchema(
        family=family,
        categorical_features=categorical_features,
        n_features=columns.n_features,
        names=None if columns.names is None else np.array(columns.names, dtype=object),
        categories=categories,
    )
    return Encoding(categorical_features, categories), schema


def _all_labels(reports) -> np.ndarray:
    """Return the labels of all partitions, sorted."""
    first, dtype = next((index, report.labels.dtype) for index, report in reports.items())
    for index, report in reports.items():
        own = report.labels.dtype
        if (own.kind in "biuf") != (dtype.kind in "biuf"):
            raise ValueError(
                f"partition {index}: y has labels of dtype {own}, partition {first} of dtype "
                f"{dtype}"
            )
    return np.unique(np.concatenate([report.labels for report in reports.values()]))


def _by_label(reports, labels, name) -> np.ndarray:
    """Return the sums over partitions, in their order, of a value per label."""
    total = np.zeros(len(labels))
    for report in reports:
        total[np.searchsorted(labels, report.labels)] += getattr(report, name)
    return total if name == "sums" else total.astype(np.int64)
