"""Hashes of what the kernels and whole fits return, as JSON on standard output.

A program: `test_bits.py` runs it under every instruction set of the machine.
"""

import hashlib
import json
from itertools import product

import numpy as np
import scipy.sparse as sp
from cwboost._kernels.common.packed_edges import find_false_edge
from cwboost._kernels.prediction.trees import TreeEvaluator
from models import CLASSIFIERS, paper, stages
from random_trees import random_trees
from sklearn.datasets import make_classification

from cwboost._kernels.common import cpu
from cwboost._kernels.kernel_values.kernel_values import fill_kernel_values
from cwboost._kernels.prediction.tree_nodes import padded
from cwboost._kernels.projections.projection import Directions, Panels
from cwboost.ensemble.shapley import tree_shapley
from cwboost.families.flat_forms import ThresholdTrees
from cwboost.families.outputs import pack_outputs
from cwboost.kernels import (
    TREE_CRITERIA,
    BinnedMatrix,
    DepthTwoSearch,
    SortedFeatures,
    TreeGrower,
    exp,
    log,
)


def hash_of(*arrays):
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:16]


def data(rng, n_samples, n_features, missing):
    X = rng.normal(size=(n_samples, n_features)).round(1)
    X[rng.random(X.shape) < 0.3] = 0
    if missing:
        X[rng.random(X.shape) < 0.05] = np.nan
    return X


def weights_of(rng, n_targets, n_samples):
    own = rng.integers(0, n_targets, n_samples) == np.arange(n_targets)[:, None]
    return rng.exponential(size=(n_targets, n_samples)) ** 3 * np.where(own, n_targets - 1, -1)


def elementary(rng):
    x = rng.normal(size=1003) * 200
    yield "exp", hash_of(exp(x), *(exp(number) for number in x[:50]))
    yield "log", hash_of(log(np.abs(x)))


def stumps(rng):
    for n_targets in (1, 2, 9, 17, 26, 40, 75):  # rows of every length that is walked
        for missing in (False, True):
            features = SortedFeatures(data(rng, 1003, 7, missing))
            weights = weights_of(rng, n_targets, 1003)
            for search in (features.search, features.search_shared):
                name = f"{search.__name__}, {n_targets} targets, missing: {missing}"
                yield name, hash_of(*search(weights))


def stumps_on_many_rows(rng):
    for n_targets in (3, 12, 30):  # wide indices
        features = SortedFeatures(data(rng, 66000, 2, False))
        found = features.search(weights_of(rng, n_targets, 66000))
        yield f"wide indices, {n_targets} targets", hash_of(*found)


def trees(rng):
    for missing in (False, True):
        X = data(rng, 777, 19, missing)
        weights, seeds = weights_of(rng, 5, 777), np.arange(5, dtype=np.uint64)
        for criterion in sorted(TREE_CRITERIA):
            grower = TreeGrower(
                BinnedMatrix(X),
                criterion=TREE_CRITERIA[criterion],
                max_depth=5,
                max_leaves=0,
                leaf_mass=0.01,
                max_features=19,
                n_threads=1,
            )
            nodes, packed, edges = grower.grow(weights, seeds)
            name = f"{criterion}, missing: {missing}"
            yield f"trees, {name}", hash_of(packed, edges, *nodes.values())
            forms = ThresholdTrees(**nodes)
            evaluator = TreeEvaluator(**forms.nodes(), n_features=19)
            coef = sp.csr_array(rng.random((5, 3)))
            scores = evaluator.scores(X, coef)
            yield f"evaluation, {name}", hash_of(scores, evaluator.outputs(X))
            yield f"Shapley values, {name}", hash_of(*tree_shapley(forms, coef, X, X))


def pairs(rng):
    for n_targets, missing in product((1, 2, 3, 7, 11), (False, True)):
        binned = BinnedMatrix(data(rng, 1003, 6, missing))
        nodes, *found = DepthTwoSearch(binned, 32).search(weights_of(rng, n_targets, 1003))
        yield f"{n_targets} targets, missing: {missing}", hash_of(*nodes.values(), *found)


def many_trees(rng):
    """Trees enough for codes: by the rows that reach their nodes, and walked."""
    X = data(rng, 777, 9, True)
    for n_inner in (100, 600):
        nodes = random_trees(rng, [n_inner] * 65, 9, np.arange(-300, 300) / 97)
        evaluator = TreeEvaluator(**nodes, n_features=9)
        coef = sp.csr_array(rng.normal(size=(65, 3)))
        name = f"evaluation of many trees of {n_inner} comparisons"
        yield name, hash_of(evaluator.scores(X, coef), evaluator.outputs(X))
        for n_outputs in (1, 11):
            shape = len(nodes["output"]), n_outputs
            rows = nodes["output"][:, None] * rng.integers(0, 128, shape, dtype=np.int8)
            evaluator = TreeEvaluator(**nodes | {"output": rows}, n_features=9)
            scores = evaluator.scores(X, padded(rng.normal(size=(65, n_outputs))))
            yield f"{name}, {n_outputs} outputs", hash_of(scores, evaluator.cells(X))


def projections(rng):
    for n_features, width in ((600, 24), (3, 8), (50, 72)):  # the first in blocks
        X = data(rng, 131, n_features, False)
        directions = Directions(rng.normal(size=(n_features, width - 3)), rng.random(n_features))
        out = np.empty((width - 3, 131), dtype=np.float32)
        directions.dense(Panels(directions), X, out, 1)
        yield f"projections of {n_features} on {width}", hash_of(out)
        rows = sp.csr_array(X)
        directions.sparse(rows.data, rows.indices, rows.indptr.astype(np.int64), out, 1)
        yield f"projections of sparse rows of {n_features} on {width}", hash_of(out)


def packed_edges(rng):
    for n in (1, 7, 8, 1003):
        weights, edge = rng.normal(size=(1, n)), np.full(1, np.nan)
        outputs = pack_outputs(rng.choice([-1, 1], (n, 1)))
        found = find_false_edge(weights, outputs, edge, False)
        yield f"edge of {n} packed outputs", hash_of(np.array(found[2]))


def kernel_values(rng):
    squared = rng.integers(0, 2**23, (70, 33)).astype(np.float32)
    values = np.empty(squared.shape)
    fill_kernel_values(squared, 1e-5, 2.0**17, values)
    yield "kernel values", hash_of(values)


def fits(rng):
    """Every family, both corrections, the rivals: models, histories and scores."""
    X, y = make_classification(
        403, 11, n_informative=7, n_classes=5, n_clusters_per_class=1, random_state=0
    )
    few = {"n_estimators": 8, "C": 1e3, "n_jobs": 1}
    for family in ("stump", "tree", "projection"):
        for make in (paper, stages):
            for dtype in (np.float64, np.float32):
                model = make(family, **few).fit(X.astype(dtype), y)
                history = [v for k, v in model.history_.items() if "seconds" not in k]
                scores = (model.decision_function(X.astype(other)) for other in ("f8", "f4"))
                arrays = model.ensemble_.arrays().values()
                name = f"{family}, {make.__name__}, {np.dtype(dtype)}"
                yield name, hash_of(*arrays, *history, *scores)
    for rival in CLASSIFIERS[1:]:
        model = rival(n_estimators=5, random_state=0).fit(X, y)
        arrays = model.ensemble_.arrays().values()
        yield rival.__name__, hash_of(*arrays, model.decision_function(X))


def hashes():
    found = {"instruction set": cpu.chosen()}
    subjects = stumps, stumps_on_many_rows, trees, pairs, many_trees, projections
    for subject in (*subjects, packed_edges, kernel_values, elementary, fits):
        found.update(subject(np.random.default_rng(0)))
    return found


if __name__ == "__main__":
    print(json.dumps(hashes()))
