"""Faults of plugins: each is an edit of the source of a sound one, with what must be said of it.

The sound ones are the reference family and the init model of the template. A fault is met in a
check of the conformance suite or in the training of a model.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import numpy as np
from attack import edited
from cwboost.plugins.trees.family import TreePricer
from reference_family import every_stump

from cwboost import CWBoostClassifier, PricingRequest, StumpFamily, TreeFamily, TreeLearners
from cwboost.datasets import load_vowel
from cwboost.testing.runner import _all_checks

FAMILY = Path(__file__).with_name("reference_family.py")
INIT = Path(__file__).resolve().parents[2] / "plugins/templates/init/src/cwboost_acme.py"
MODULES = count()


def planted(source, *edits):
    """Return an edited source as a module of its own, whose classes can be pickled."""
    module = ModuleType(f"planted_{next(MODULES)}")
    sys.modules[module.__name__] = module
    exec(compile(edited(source.read_text(), *edits), module.__name__, "exec"), vars(module))
    return module


def family(*edits):
    """Return the reference family with edits."""
    return planted(FAMILY, *edits).ReferenceStump()


def init_model(*edits):
    """Return the init model of the template with edits."""
    return planted(INIT, *edits).Acme()


# ------------------------------------------------------------------ parts of the reference family

TAKES_X = "self.X = X"
COLUMNS = "self.columns = ["
EXACT = "self.exact = share == 1.0"
CUTS = "middle = low + (high - low) / 2"
SEARCHES = "found = [self.best(row[None]) for row in weights]"
ASKED = "def price(self, weights, request=None):"
BEST = "total = rows.sum(axis=1)"
DRAWN = "return features if self.exact else features[self.rng.random(len(features)) < self.share]"
PRICED = "return Priced(learners, packed, edges)"
SHARED = "edges = np.abs((weights * outputs).sum(axis=1)).sum(keepdims=True)"
OUTPUTS = "return outputs"
LEARNERS = "def __len__(self):"
LOADS = "for name, dtype in DTYPES.items():"
SCORER = "return AdditiveScores(*parts, coef)"
FLAT = "return cwboost.stump_trees(self.feature, self.threshold, self.polarity, self.missing)"
CAN = "Capabilities(missing_values=True)"
TYPE = "learners_type = ReferenceLearners"
KEEPS_SHARE = "self.share = share"
BINDS = "return ReferencePricer(X, self.share, context.random_state)"

# ------------------------------------------------------------------ and what stands there instead

C_ORDER = (
    "np.lib.stride_tricks.as_strided({0}, strides=({0}.shape[1] * {0}.itemsize, {0}.itemsize))"
)
HALF = KEEPS_SHARE, "self.share = 0.5"
COPIES_GENERATOR = (
    "rng = np.random.default_rng(context.random_state.integers(999))\n"
    "return ReferencePricer(X, self.share, rng)"
)


def weights(expression):
    """Price other weights, and report the edges for the given ones."""
    return SEARCHES.replace("weights]", f"{expression}]")


def result(statement, at=1):
    """Change a result of pricing by a statement, from call number `at` on."""
    calls = "self.n_calls = vars(self).get('n_calls', 0) + 1"
    return f"{calls}\nif self.n_calls >= {at}:\n    {statement}\n{PRICED}"


def method(head, *body):
    """Give the learners another method."""
    return "\n    ".join([f"def {head}:", *body]) + f"\n\n{LEARNERS}"


def scores(expression):
    """Score otherwise."""
    return f"return lambda X, n_threads=1: {expression}"


def reading(how):
    """Read each array as code first, whatever comes of it."""
    attempt = f"for array in arrays.values():\n    try:\n        {how}"
    return f"{attempt}\n    except Exception:\n        pass\n{LOADS}"


class LastWins(StumpFamily):
    """Keeps the last summary of the partitions, not their sum."""

    def coordinator(self, descriptions, context):
        coordinator = super().coordinator(descriptions, context)
        coordinator.merge = last
        return coordinator


class AsksOnce(TreeFamily):
    """Answers every round on partitions by its first weights."""

    def coordinator(self, descriptions, context):
        coordinator = super().coordinator(descriptions, context)
        coordinator.bind = partial(remembering, coordinator.bind)
        return coordinator


class ShiftsCells(TreeFamily):
    """Gives the examples of a partition the cells of their neighbours."""

    def coordinator(self, descriptions, context):
        coordinator = super().coordinator(descriptions, context)
        coordinator.bind = partial(shifting, coordinator.bind)
        return coordinator


class Unsets(TreeFamily):
    """Forgets which features may interact."""

    def bind_rows(self, X, rows, context):
        return super().bind_rows(X, rows, replace(context, interactions=None))


def last(one, other):
    return other


def remembering(bind, X, context):
    pricer = bind(X, context)
    summarise, first = pricer.summarise, []

    def summarise_first(weights, question):
        first.append(weights)
        return summarise(first[0], question)

    pricer.summarise = summarise_first
    return pricer


def shifting(bind, X, context):
    pricer = bind(X, context)
    cells = pricer.cells
    pricer.cells = lambda learners: np.roll(cells(learners), 1, axis=1)
    return pricer


class Uncovered(TreeLearners):
    """Trees that do not keep the cover of their cells."""

    def graded(self, outputs, cover=None):
        return super().graded(outputs)


def dividing(divide):
    """Return trees whose pricers divide by a function of pricer, context, weights and request."""

    class Divides(TreeFamily):
        def bind_rows(self, X, rows, context):
            pricer = super().bind_rows(X, rows, context)
            pricer.divide = partial(divide, pricer, context)
            return pricer

        def __reduce__(self):
            return TreeFamily, ()

    return Divides()


def divide(pricer, weights, request=None):
    return TreePricer.divide(pricer, weights, request or PricingRequest())


def by_threads(pricer, context, weights, request):
    return divide(pricer, np.roll(weights, context.n_threads - 1, axis=1), request)


def by_memory(pricer, context, weights, request):
    pricer.past, past = weights, vars(pricer).get("past", 0.0)
    return divide(pricer, weights + past, request)


def of_every_row(pricer, context, weights, request):
    return divide(pricer, weights)


def without_cover(pricer, context, weights, request):
    found = divide(pricer, weights, request)
    learners = Uncovered(found.learners.trees, found.learners.n_features)
    return replace(found, learners=learners)


DISAGREE = r"price.. and outputs.X. disagree on"
ALONE = "number_of_targets", "differs from the one it gets alone"
BETTER = "enumerated", "another learner of the family has"
LARGE = "exact_at_scale", "the same problem on 30 distinct rows and 3 columns has"
STATE = "generator_is_the_only_state", "its generator restored: the learners"
OTHER_TREES = "the flat form of learner 0 differs from its outputs"

# By the part that is edited: what stands there instead, where it is met, what must be said, and
# further edits.
# fmt: off
FAULTS = {
    TAKES_X: [
        ("self.X = np.add(X, 0, out=X)", "layouts", "read-only"),
        ("self.X = X.__isub__(X.min())", "bind_has_no_side_effects", "read-only"),
        ("self.X = X.ravel(order='K').reshape(X.shape)", "layouts", DISAGREE),
        (f"self.X = X if X.flags.f_contiguous else {C_ORDER.format('X')}",
         "layouts", f"X with strides: {DISAGREE}"),
        ("self.X = np.round(X, 1) if X.dtype == np.float32 else X",
         "layouts", "float32 X of real numbers: edges"),
        ("self.X = X + X if X.dtype == np.uint8 else X", "layouts", f"uint8 X: {DISAGREE}"),
        ("self.X = np.nan_to_num(X)", "missing_values", f"X with NaN: {DISAGREE}"),
        ("self.X, second = X, X[:, 1]", "one_feature", "out of bounds for axis 1 with size 1"),
        ("self.X, second = X, X[1]", "one_example", "out of bounds for axis 0 with size 1"),
        ("self.X = {None: X, 'csr': X}[getattr(X, 'format', None)]", "sparse_input", "csc"),
        ("self.X = X = X.astype(np.int8).toarray()[:, :8]",
         "sparse_memory", "9[0-9] MB were allocated"),
    ],
    EXACT: [
        ("self.exact = 1", "edges", "exact must be a bool, got 1"),
        ("self.exact = 1", "fit", "exact must be a bool, got 1"),
        ("self.exact, self.n_samples = True, 7", "fit", "n_samples must be 990, got 7"),
    ],
    COLUMNS: [
        ("type(self).columns = [", "pricers_are_independent", "boolean index did not match"),
    ],
    "slice(None) if len(cuts) else slice(0)": [
        ("slice(None, None, 1 // len(cuts) or 1)", "constant_features", "by zero"),
    ],
    CUTS: [
        ("cuts, low, high = cuts[::2], low[::2], high[::2]\n" + CUTS, *BETTER),
        ("skip = 1 + (self.n_samples > 600)\ncuts, low, high = cuts[::skip], low[::skip], "
         f"high[::skip]\n{CUTS}", *LARGE),
    ],
    DRAWN: [
        ("return features[:1]", *BETTER),
        ("return features[:3]", *LARGE),
        # Exact most of the time: the learners that the family finds reveal the better one.
        ("return features[:: 1 + (self.rng.random() < 0.3)]",
         "exact_pricing", "another learner of the family has"),
    ],
    SEARCHES: [
        (weights(C_ORDER.format("weights")),
         "weights_layout", "padded weights: the learners differ"),
        (weights("np.where(abs(weights) < 1e-9, 0.0, weights)"),
         "scaling", r"200, -200, -200.: the learners differ"),
        (weights("np.where(weights == 0, 50.0, weights)"),
         "zero_weight", "added examples of zero weight changed edges"),
        (weights("np.where((weights == 0) & np.signbit(weights), -50.0, weights)"),
         "zero_weight", r"-0.0 for 0.0: the edges differ"),
        ("past, self.past = vars(self).get('past', 0.0), weights\n" + weights("weights + past / 2"),
         *STATE),
        (weights("np.round(weights, 0 if self.n_threads > 1 else 99)"),
         "determinism", "2 threads against 1: the learners differ",
         (BINDS, BINDS.replace("return", "pricer =")
          + "\npricer.n_threads = context.n_threads\nreturn pricer")),
        ("found = [self.best(weights[:1])] * len(weights)", *ALONE),
        ("found = [self.best(weights[:1])] * len(weights)", *BETTER),
        ("weights = np.vstack([weights, np.zeros((5, self.n_samples))])[:5]\n" + SEARCHES,
         "number_of_targets", "learners must be 1, one per target, got 5"),
        ("if request.rows is not None:\n    weights = weights[:, request.rows]\n" + SEARCHES,
         "requests", "out of bounds|broadcast|index"),
        ("found = [self.best(weights[:1])] * len(weights)",
         "fit", "claims to be exact, but the best learner .* has the edge .*, a constant has"),
    ],
    BEST: [
        (BEST + "\nif total[0] < 0:\n    return -1, 0.0, -1, -1", "symmetric", "their negatives"),
        *((f"{act}\n{BEST}", "process_is_left_alone", said) for act, said in (
            ("np.random.random()", "changes NumPy's global generator"),
            ("__import__('random').random()", "changes Python's global generator"),
            ("np.seterr(all='ignore')", "changes np.seterr"),
            ("__import__('warnings').simplefilter('ignore')", "changes warnings.filters"),
            ("__import__('os').environ.update(CWBOOST_TEST='1')", "changes os.environ"),
            ("print('pricing')", "prints 'pricing"),
        )),
    ],
    "best, learner = np.abs(total).sum(), (-1, 0.0, first, first)": [
        ("best, learner = 0.0, (0, self.columns[0][2][0], 1, 1)",
         "best_constant", "are below the constant's"),
    ],
    PRICED: [
        (result("packed[0, 0] ^= 1"), "edges", "disagree on 1 examples, first example 0"),
        (result("packed[:, -1] ^= 0x80 if self.n_samples % 8 else 0"),
         "edges", "bits after the last example must be 0"),
        (result("edges *= 1 + 1e-9"), "edges", "reported edges are .*, but the outputs give"),
        (result("buffer = vars(self).setdefault('buffer', edges)\n    buffer[:] = edges\n"
                "    edges = buffer"),
         "repeated_pricing", "overwrote edges of the last round"),
        (result("edges *= 1e-3"), "fit", "has the edge"),
        (result("edges[4] = np.nan"), "fit", "edges must be finite"),
        (result("edges = edges.astype(np.float32)"), "fit", "edges must have dtype float64"),
        (result("packed = np.roll(packed, 1, axis=0)"), "fit", "its method outputs returns"),
        (result("packed = packed.astype(np.int8)"), "fit", "outputs must have dtype uint8"),
        (result("packed = packed[:, :-1]"), "fit",
         r"outputs must have dtype uint8 and shape \(11, 124\), got uint8 and \(11, 123\)"),
        (result("packed = np.asfortranarray(packed)"), "fit", "outputs must be C-contiguous"),
        (result("packed = packed.tolist()"), "fit", "outputs must be an ndarray, got list"),
        (result("learners = learners.take([0])"),
         "fit", "learners must be 11, one per target, got 1"),
        (result("learners = list(edges)"), "fit", "learners must be ReferenceLearners, got list"),
        (result("return None"), "fit", "pricing must return a Priced, got NoneType"),
        (result("weights *= 0.5"), "fit", "read-only"),
        (result("edges[99]"), "fit", "raised by weak learner 'reference_stump'"),
    ],
    TYPE: [
        (f"{TYPE}\n\ndef bind_rows(self, X, rows, context):\n"
         "    return self.bind(X[np.sort(rows)], context)",
         "bind_rows", "bind_rows of all rows: the learners differ"),
        (f"{TYPE}\n\ndef candidates(self, size):\n    return ['deeper']",
         "candidates", "candidates must be of its kind and capabilities, got 'deeper'"),
    ],
    ASKED: [
        ("def rebound(self, family, context):\n    return self\n\n" + ASKED,
         "rebound", r"round 0 of rebound\(\): the learners differ", HALF),
    ],
    "[self.best(weights)]": [
        ("[self.best(weights[:1])]",
         "shared_pricing", "is less than .* of a learner found by price"),
    ],
    SHARED: [
        ("edges = (weights @ outputs).sum(keepdims=True)",
         "shared_pricing", "reported value is .*, but the outputs give"),
    ],
    OUTPUTS: [
        ("return (outputs > 0).astype(np.int8)",
         "edges", r"values must be -1 and \+1, got \[0 1"),
        ("return (outputs > 0).astype(np.int8)",
         "rows", r"values must be -1 and \+1, got \[0 1"),
        ("return outputs.astype(float)", "edges", "must have dtype int8 and shape"),
        ("self.last = outputs\n__import__('time').sleep(1e-4)\nreturn self.last",
         "threads", "differ if several threads predict at the same time"),
        ("return outputs if X.shape[0] > 1 else -outputs",
         "rows", "predictions differ: one row at a time"),
        ("outputs[len(outputs) // 2 + 1 :: 2] = 1\nreturn outputs",
         "rows", "predictions differ: rows in reverse"),
        ("outputs[abs(X).max(axis=1) > 1e9] = 0\nreturn outputs",
         "new_examples", r"features of -1e.30: outputs"),
    ],
    LEARNERS: [
        (method("__reduce__(self)", "parts = self.polarity, self.missing",
                "return type(self), (self.feature, -self.threshold, *parts)"),
         "pickle", "pickling changed the arrays"),
    ],
    SCORER: [
        (scores("AdditiveScores(*parts, coef)(X) * (1 + 1e-15 * min(len(X), 9))"),
         "scores", "bits differ with one row at a time"),
        (scores("AdditiveScores(*parts, -coef)(X)"),
         "fit", "the scorer differs from the outputs: score 0"),
        (scores("AdditiveScores(*parts, coef)(X).astype(np.float32).astype(np.float64)"),
         "scores", "differs from outputs @ coef by"),
        (scores("np.full((len(X), coef.shape[1]), np.nan)"),
         "fit", "score 0 of example 0 must be finite, got nan"),
        (scores("np.zeros((coef.shape[1], len(X)))"),
         "fit", r"must have dtype float64 and shape \(128, 11\), got float64 and \(11"),
        (scores("np.zeros((len(X), coef.shape[1]), np.float32)"),
         "fit", "what scorer returns must have dtype float64"),
        (scores("[0.0] * len(X)"), "fit", "got list"),
        (scores("1 / 0"), "fit", "raised by scorer of weak learner 'reference_stump'"),
    ],
    FLAT: [
        (FLAT.replace("self.missing", "-self.missing"), "flat_form", "the flat form of learner"),
        (FLAT.replace("self.pol", "-self.pol"), "fit", OTHER_TREES),
        (FLAT.replace("self.pol", "-self.pol"), "life_of_a_classifier", OTHER_TREES,
         (SCORER, scores("self.outputs(X).astype(np.float64) @ coef"))),
        ("return cwboost.stump_trees(*(array[:1] for array in self.arrays().values()))",
         "fit", r"flat_form must return ThresholdTrees, one tree per learner \(\d+\)"),
        ("return []", "fit", "or None, got list"),
    ],
    LOADS: [
        (f"return cls(**arrays)\n{LOADS}",
         "damaged_arrays", "without feature: must raise ValueError, got TypeError"),
        (reading("__import__('pickle').loads(array.tobytes())"),
         "loading_runs_no_code", "audit events .*pickle.find_class"),
        (reading("eval(array.tobytes().decode().rstrip())"),
         "loading_runs_no_code", "audit events .*compile"),
        (reading("__import__('antigravity' * 2 + str(len(array)))"),
         "loading_runs_no_code", "audit events .*import"),
    ],
    "(feature >= n_features)).any()": [
        ("(feature >= 2**31)).any()",
         "damaged_arrays", "accepted, then predictions failed: IndexError"),
    ],
    "return cls(**{name: arrays[name].copy() for name in DTYPES})": [
        ("return cls(**arrays | {'threshold': arrays['threshold'] + 1})",
         "arrays_round_trip", "the arrays changed"),
    ],
    "indices = np.asarray(indices, dtype=np.intp)": [
        ("indices = np.sort(indices).astype(np.intp)",
         "take_and_concatenate", r"take.*3, 1, 1, 7.* is wrong"),
    ],
    "for b in batches])": [
        ("for b in batches[::-1]])", "take_and_concatenate", "concatenate changes outputs"),
    ],
    "api_version = 1": [
        ("api_version = 2", "declarations", "written for version 2 of the contract"),
    ],
    CAN: [
        ("Capabilities(missing_values=True, divides=True)", "divisions",
         "ReferencePricer has no cells"),
        ("Capabilities(monotonic=True)", "monotonic", r"break the constraint \+1 on feature 0"),
    ],
    KEEPS_SHARE: [
        ("self.share, self.name = share, 'x'",
         "declarations", "'reference_stump', got 'x'"),
        ("self.share = share + 4",
         "hyper_parameters", "modifies parameter share"),
        ("self.share = share if share == 0.5 else 1.0",
         "hyper_parameters", "the constructor changes share from <object"),
    ],
    BINDS: [
        (COPIES_GENERATOR, *STATE, HALF),
        (COPIES_GENERATOR, "life_of_a_classifier", "3 rounds and 3 more differ", HALF),
        (f"self.n_features_ = X.shape[1]\n{BINDS}",
         "bind_has_no_side_effects", "bind left attributes on the family"),
        ("return None", "fit", "bind must return a Pricer, got NoneType"),
        ("1 / 0", "fit", "raised by bind of weak learner 'reference_stump'"),
    ],
}
FAULTS_OF_INIT = {
    "return -distances": [
        ("return distances", "scores_rise_with_the_class", "for 0% of the examples, by chance"),
        ("return -distances.astype(np.float32)",
         "scores_of_every_matrix", "scores must have dtype float64"),
        ("return -distances + distances.mean(axis=0)",
         "rows", "predictions differ: one row at a time"),
    ],
    "for fold in np.unique(context.folds):": [
        ("object.__setattr__(context, 'folds', np.arange(len(y)) % 3)\n"
         "for fold in np.unique(context.folds):",
         "scores_without_own_label", "with copies in the same fold guess"),
    ],
    "own = np.eye(y.max() + 1)[y] * weight[:, None]": [
        ("own = np.eye(y.max() + 1)[y]", "weights", "of a fit with copies"),
    ],
    "return np.where(np.isfinite(dense), dense, 0.0)": [
        ("dense[~np.isfinite(dense)] = 0.0\nreturn dense", "scores_of_every_matrix", "read-only"),
    ],
    "train, test = context.folds != fold, context.folds == fold": [
        ("train, test = context.folds >= 0, context.folds == fold",
         "scores_without_own_label", "guess [0-9]+% of random labels right"),
    ],
    "return _fitted(X, y, context.weight), scores": [
        ("return FittedAcme(np.random.default_rng().random((y.max() + 1, X.shape[1]))), scores",
         "fit_is_repeatable", "1 threads against 1: the arrays differ"),
    ],
    "def arrays(self) -> dict[str, np.ndarray]:": [
        ("def shapley_values(self, X, background=None, n_threads=1):\n"
         "    return np.zeros((*X.shape, len(self.means))), self.scores(X[:1])[0]\n\n"
         "def arrays(self) -> dict[str, np.ndarray]:", "shapley_values", "must add up to scores"),
    ],
    "def arrays(self) -> dict[str, np.ndarray]": [
        ("def onnx_nodes(self, graph, features):\n"
         "    means = graph.constant_of_type('init_means', self.means.T)\n"
         "    return graph.add('MatMul', [features, means], 'init_scores')\n\n"
         "def arrays(self) -> dict[str, np.ndarray]",
         "life_of_a_classifier", "exported to ONNX predicts differently"),
    ],
    "fitted_type = FittedAcme": [
        ("fitted_type = FittedAcme\n\ndef fit_rows(self, X, rows, y, context):\n"
         "    return self.fit(X[np.sort(rows)], y, context)",
         "fit_rows", "fit_rows of all rows: the arrays differ"),
    ],
    "(means,) = cwboost.check_arrays(": [
        ("return cls(**arrays)\n(means,) = cwboost.check_arrays(",
         "damaged_arrays", "without means: must raise ValueError, got TypeError"),
    ],
}
# fmt: on

# ------------------------------------------------------------------ how they are found


class Case(NamedTuple):
    make: Callable
    edits: tuple
    place: str
    message: str

    def __str__(self):
        return f"{self.place}: {self.message}"

    def act(self):
        """Plant the fault; it must be found, and the message must be given."""
        try:
            PLACES[self.place](self.make(*self.edits))
        except Exception as error:
            said = "\n".join([str(error), *getattr(error, "__notes__", [])])
            assert re.search(self.message, said), said
            return
        raise AssertionError(f"no fault was found: {self.edits}")


def fitted_with(plugin):
    """Train on VOWEL: 11 classes, 990 examples."""
    clf = CWBoostClassifier(plugin, correction="total", C=1e4, n_estimators=9, random_state=0)
    return clf.fit(*load_vowel(return_X_y=True))


CHECKS = {check.__name__.removeprefix("check_"): check for check in _all_checks()}
PLACES = CHECKS | {
    "enumerated": partial(CHECKS["exact_pricing"], brute_force=every_stump),
    "fit": fitted_with,
}
CASES = [
    Case(LastWins, (), "partitions", "the edges of the learners are"),
    Case(AsksOnce, (), "partitions", "the edges of the learners are"),
    Case(ShiftsCells, (), "partitions", "the partition's cells and learners.cells differ"),
    Case(Unsets, (), "interactions", "a learner reads features of two sets"),
    *(
        Case(partial(dividing, fault), (), place, message)
        for fault, place, message in (
            (by_threads, "determinism", "2 threads against 1: the"),
            (by_memory, "generator_is_the_only_state", "its generator restored: the"),
            (of_every_row, "divisions", "other weights outside the rows that count: the"),
            (without_cover, "divisions", "must have the cover that graded was given"),
        )
    ),
] + [
    Case(make, ((old, new), *more), place, message)
    for make, faults in ((family, FAULTS), (init_model, FAULTS_OF_INIT))
    for old, rows in faults.items()
    for new, place, message, *more in rows
]
