"""Faults of plugins: each is an edit of the source of a sound one, with the cause to be named.

The sound ones are the reference family, two families of derived features and the init model of the
template. The cause is the first check of the conformance suite that fails, or "training": the
error that ends a fit. The message is a part of what is said.
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
from derived_families import Landmarks
from reference_family import every_stump

from cwboost import CWBoostClassifier, PricingRequest, StumpFamily, TreeFamily, TreeLearners
from cwboost.datasets import load_vowel
from cwboost.testing import PluginCheckError, check_plugin

FAMILY = Path(__file__).with_name("reference_family.py")
DERIVED = Path(__file__).with_name("derived_families.py")
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


def half(*edits):
    """Return the same, drawing half of the features in a round."""
    return planted(FAMILY, *edits).ReferenceStump(0.5)


def landmarks(*edits):
    """Return the family of distances from landmarks with edits."""
    return planted(DERIVED, *edits).Landmarks()


def in_a_function(*_):
    class Local(Landmarks):
        """A family that pickle cannot find."""

        name = "local"

    return Local()


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
BEST_CONSTANT = "best, learner = np.abs(total).sum(), (-1, 0.0, first, first)"
CAN = "Capabilities(missing_values=True)"
SPARSE = CAN, "Capabilities(missing_values=True, sparse_input=True)"
TYPE = "learners_type = ReferenceLearners"
KEEPS_SHARE = "self.share = share"
BINDS = "return ReferencePricer(X, self.share, context.random_state)"

# ------------------------------------------------------------------ and what stands there instead

C_ORDER = (
    "np.lib.stride_tricks.as_strided({0}, strides=({0}.shape[1] * {0}.itemsize, {0}.itemsize))"
)
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


class Divides(TreeFamily):
    """Trees whose pricers divide by a function of pricer, context, weights and request."""

    def bind_rows(self, X, rows, context):
        pricer = super().bind_rows(X, rows, context)
        pricer.divide = partial(type(self).divided_by, pricer, context)
        return pricer


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


class ByThreads(Divides):
    divided_by = staticmethod(by_threads)


class ByMemory(Divides):
    divided_by = staticmethod(by_memory)


class OfEveryRow(Divides):
    divided_by = staticmethod(of_every_row)


class WithoutCover(Divides):
    divided_by = staticmethod(without_cover)


DISAGREE = "was priced with the output"
EXACTLY = "exact_pricing", "another learner of the family has"
LARGE = "exact_at_scale", "the same problem on 30 distinct rows and 3 columns has"
STATE = "generator_is_the_only_state", "its generator restored: the learners"
FORMS = "learner_forms"
OTHER_TREES = "the flat form of learner . differs from its outputs"
WEAK = "the best learner for target . has the edge"

# By the part that is edited: what stands there instead, the cause, what is said, further edits.
# fmt: off
FAULTS = {
    TAKES_X: [
        ("self.X = np.add(X, 0, out=X)", "fit", "read-only"),
        ("self.X = X.ravel(order='K').reshape(X.shape)", "layouts", DISAGREE),
        (f"self.X = X if X.flags.f_contiguous else {C_ORDER.format('X')}",
         "layouts", f"{DISAGREE}(.|\n)*met on X of strides"),
        ("self.X = np.round(X, 1) if X.dtype == np.float32 else X",
         "layouts", "float32: the learners differ"),
        ("self.X = X + X if X.dtype == np.uint8 else X", "layouts", "met on X of uint8"),
        ("self.X = np.nan_to_num(X)", "missing_values", f"{DISAGREE}(.|\n)*met on X with NaN"),
        ("self.X, second = X, X[:, 1]", "pricing", "out of bounds for axis 1 with size 1"),
        ("self.X, second = X, X[1]", "pricing", "out of bounds for axis 0 with size 1"),
        ("self.X = {None: X, 'csr': X}[getattr(X, 'format', None)]", "sparse_input", "csc", SPARSE),
        ("self.X = X = X if hasattr(X, 'T') and isinstance(X, np.ndarray) else X.toarray()",
         "sparse_memory", "[0-9]+ MB were allocated", SPARSE),
    ],
    EXACT: [
        ("self.exact = 1", "fit", "exact must be a bool, got 1"),
        ("self.exact = 1", "training", "exact must be a bool, got 1"),
        ("self.exact, self.n_samples = True, 7", "training", "n_samples must be 990, got 7"),
    ],
    COLUMNS: [
        ("type(self).columns = [",
         "classes_are_left_alone", "changes ReferencePricer.columns"),
    ],
    "slice(None) if len(cuts) else slice(0)": [
        ("slice(None, None, 1 // len(cuts) or 1)", "pricing", "by zero(.|\n)*a constant feature"),
    ],
    CUTS: [
        ("cuts, low, high = cuts[::2], low[::2], high[::2]\n" + CUTS, *EXACTLY),
        ("skip = 1 + (self.n_samples > 600)\ncuts, low, high = cuts[::skip], low[::skip], "
         f"high[::skip]\n{CUTS}", *LARGE),
    ],
    DRAWN: [
        ("return features[:1]", *EXACTLY),
        ("return features[:3]", *LARGE),
        # Exact most of the time: the learners that the family finds reveal the better one.
        ("return features[:: 1 + (self.rng.random() < 0.3)]", *EXACTLY),
    ],
    SEARCHES: [
        (weights(C_ORDER.format("weights")), "layouts", WEAK),
        (weights("np.where(abs(weights) < 1e-9, 0.0, weights)"), "scaling", WEAK),
        (weights("np.where(weights == 0, 50.0, weights)"),
         "zero_weight", "added examples of zero weight changed edges"),
        (weights("np.where((weights == 0) & np.signbit(weights), -50.0, weights)"),
         "zero_weight", WEAK),
        ("past, self.past = vars(self).get('past', 0.0), weights\n" + weights("weights + past / 2"),
         *STATE),
        (weights("np.round(weights, 0 if self.n_threads > 1 else 99)"),
         "determinism", "one seed.*: the learners differ",
         (BINDS, BINDS.replace("return", "pricer =")
          + "\npricer.n_threads = context.n_threads\nreturn pricer")),
        ("found = [self.best(weights[:1])] * len(weights)", "fit", WEAK),
        (SEARCHES + "\nfor t, total in enumerate(weights.sum(axis=1)[1:], 1):\n"
         "    found[t] = (-1, 0.0, *2 * [1 if total >= 0 else -1])",
         "number_of_targets", "differs from the one it gets alone", (EXACT, "self.exact = False")),
        ("weights = np.vstack([weights, np.zeros((5, self.n_samples))])[:5]\n" + SEARCHES,
         "fit", "learners must be 8, one per target, got 5"),
        ("if request.rows is not None:\n    weights = weights[:, request.rows]\n" + SEARCHES,
         "requests", "out of bounds|broadcast|index"),
        ("found = [self.best(weights[:1])] * len(weights)",
         "training", "claims to be exact, but the best learner .* has the edge .*, a constant has"),
    ],
    BEST: [
        (BEST + "\nif total[0] < 0:\n    return -1, 0.0, -1, -1", "symmetric", "their negatives",
         (CAN, "Capabilities(missing_values=True, symmetric=True)")),
        *((f"{act}\n{BEST}", "process_is_left_alone", said) for act, said in (
            ("np.random.random()", "changes NumPy's global generator"),
            ("__import__('random').random()", "changes Python's global generator"),
            ("np.seterr(all='ignore')", "changes np.seterr"),
            ("__import__('warnings').simplefilter('ignore')", "changes warnings.filters"),
            ("__import__('os').environ.update(CWBOOST_TEST='1')", "changes os.environ"),
            ("print('pricing')", "prints 'pricing"),
        )),
    ],
    BEST_CONSTANT: [
        ("best, learner = 0.0, (0, self.columns[0][2][0], 1, 1)", "pricing", WEAK),
    ],
    PRICED: [
        (result("packed[0, 0] ^= 1"), "fit", f"{DISAGREE} .* on example 0"),
        (result("packed[:, -1] ^= 0x80 if self.n_samples % 8 else 0"),
         "fit", "bits of packed outputs after the last example must be 0"),
        (result("edges *= 1 + 1e-9"), "fit", "has the edge .* by its outputs, .* was reported"),
        (result("buffer = vars(self).setdefault('buffer', edges)\n    buffer[:] = edges\n"
                "    edges = buffer"),
         "generator_is_the_only_state", "overwrote edges of the last round"),
        (result("edges *= 1e-3"), "training", "has the edge"),
        (result("edges[4] = np.nan"), "training", "edges must be finite"),
        (result("edges = edges.astype(np.float32)"), "training", "edges must have dtype float64"),
        (result("packed = np.roll(packed, 1, axis=0)"), "training", "its method outputs returns"),
        (result("packed = packed.astype(np.int8)"), "training", "outputs must have dtype uint8"),
        (result("packed = packed[:, :-1]"), "training",
         r"outputs must have dtype uint8 and shape \(11, 124\), got uint8 and \(11, 123\)"),
        (result("packed = np.asfortranarray(packed)"), "training", "outputs must be C-contiguous"),
        (result("packed = packed.tolist()"), "training", "outputs must be an ndarray, got list"),
        (result("learners = learners.take([0])"),
         "training", "learners must be 11, one per target, got 1"),
        (result("learners = list(edges)"),
         "training", "learners must be ReferenceLearners, got list"),
        (result("return None"), "training", "pricing must return a Priced, got NoneType"),
        (result("weights *= 0.5"), "training", "read-only"),
        (result("edges[99]"), "training", "raised by weak learner 'reference_stump'"),
    ],
    TYPE: [
        (f"{TYPE}\n\ndef bind_rows(self, X, rows, context):\n"
         "    return self.bind(X[np.sort(rows)], context)", "bind_rows", DISAGREE),
        (f"{TYPE}\n\ndef candidates(self, size):\n    return ['deeper']",
         "candidates", "candidates must be of its kind and capabilities, got 'deeper'"),
    ],
    "[self.best(weights)]": [
        ("[self.best(weights[:1])]", "shared_pricing", "is less than .* of a constant or a"),
    ],
    SHARED: [
        ("edges = (weights @ outputs).sum(keepdims=True)", "fit", "by its outputs, .* was report"),
    ],
    OUTPUTS: [
        ("return (outputs > 0).astype(np.int8)", "fit", DISAGREE),
        ("return outputs.astype(float)", "fit", "must have dtype int8 and shape"),
        ("self.last = outputs\n__import__('time').sleep(1e-4)\nreturn self.last",
         "threads", "differ if several threads predict at the same time"),
        ("return outputs if X.shape[0] > 1 else -outputs",
         "rows", "predictions differ: one row at a time"),
        ("outputs[len(outputs) // 2 + 1 :: 2] = 1\nreturn outputs",
         "rows", "predictions differ: rows in reverse"),
        ("outputs[abs(X).max(axis=1) > 1e9] = 0\nreturn outputs",
         "new_examples", r"features of -1e.30"),
    ],
    LEARNERS: [
        (method("__reduce__(self)", "parts = self.polarity, self.missing",
                "return type(self), (self.feature, -self.threshold, *parts)"),
         "arrays_round_trip", "the arrays changed"),
    ],
    SCORER: [
        (scores("AdditiveScores(*parts, coef)(X) * (1 + 1e-15 * min(len(X), 9))"),
         "rows", "predictions differ: one row at a time"),
        (scores("AdditiveScores(*parts, -coef)(X)"),
         "training", "the scorer differs from the outputs: score 0"),
        (scores("AdditiveScores(*parts, coef)(X).astype(np.float32).astype(np.float64)"),
         FORMS, "the scorer differs from the outputs"),
        (scores("np.full((len(X), coef.shape[1]), np.nan)"),
         "training", "score 0 of example 0 must be finite, got nan"),
        (scores("np.zeros((coef.shape[1], len(X)))"),
         "training", r"must have dtype float64 and shape \(128, 11\), got float64 and \(11"),
        (scores("np.zeros((len(X), coef.shape[1]), np.float32)"),
         "training", "what scorer returns must have dtype float64"),
        (scores("[0.0] * len(X)"), "training", "got list"),
        (scores("1 / 0"), "training", "raised by scorer of weak learner 'reference_stump'"),
    ],
    FLAT: [
        (FLAT.replace("self.missing", "-self.missing"), FORMS, OTHER_TREES),
        (FLAT.replace("self.pol", "-self.pol"), "training", OTHER_TREES),
        (FLAT.replace("self.pol", "-self.pol"), FORMS, OTHER_TREES,
         (SCORER, scores("self.outputs(X).astype(np.float64) @ coef"))),
        ("return cwboost.stump_trees(*(array[:1] for array in self.arrays().values()))",
         "training", r"flat_form must return ThresholdTrees, one tree per learner \(\d+\)"),
        ("return []", "training", "or None, got list"),
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
        ("api_version = 2", "declarations", "api_version must be 1"),
    ],
    CAN: [
        ("Capabilities(missing_values=True, divides=True)", "fit", "divides must be a Divider"),
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
        (f"self.n_features_ = X.shape[1]\n{BINDS}",
         "classes_are_left_alone", r"changes ReferenceStump\(\).n_features_"),
        ("return None", "training", "bind must return a Pricer, got NoneType"),
        ("1 / 0", "training", "raised by bind of weak learner 'reference_stump'"),
    ],
}
FAULTS_OF_HALF = {
    ASKED: [
        ("def rebound(self, family, context):\n    return self\n\n" + ASKED,
         "rebound", r"round 0 of rebound\(\): the learners differ"),
    ],
    BINDS: [(COPIES_GENERATOR, *STATE)],
    "self.rng.random(len(features))": [
        ("np.random.default_rng().random(len(features))",
         "determinism", "one seed.*: the learners differ"),
    ],
}
WHICH = "context.random_state.integers(n, size=(12, self.n_near))"
DISTANCES = "distances = np.abs(X[:, None] - landmarks).sum(axis=2)"
NEAREST = "return distances[:, which].min(axis=2)"
GAPS = (
    "name = \"landmarks\"",
    "name = \"landmarks\"\ncapabilities = cwboost.Capabilities(missing_values=True)",
)
FILLED = "X = np.where(np.isnan(X), {}, X)\n" + DISTANCES
FAULTS_OF_LANDMARKS = {
    WHICH: [
        (WHICH.replace("context.random_state", "np.random.default_rng()"),
         "determinism", "one seed.*: the learners differ"),
        (WHICH.replace("context.random_state", "np.random.default_rng(0)"),
         "redraws", "the same derived features in every round"),
    ],
    "n = len(context.shared[\"landmarks\"])": [
        ("n = len(context.shared[\"landmarks\"])\nSEEN.append(n)",
         "classes_are_left_alone", "SEEN", ("class Means(", "SEEN = []\n\n\nclass Means(")),
        ("n = len(context.shared[\"landmarks\"])\ntype(self).n_draws = 1 + self.n_draws",
         "classes_are_left_alone", r"changes Landmarks.n_draws",
         ("name = \"landmarks\"", "name = \"landmarks\"\nn_draws = 0")),
    ],
    DISTANCES: [
        (f"X = (X - X.mean(axis=0)) / X.std(axis=0)\n{DISTANCES}",
         "rows", "predictions differ: one row at a time"),
        (FILLED.format("np.nan_to_num(X).mean()"), "rows_claimed", "row at a time(.|\n)*with gaps",
         GAPS, ("return {\"landmarks\": context.X[rows]}",
          "return {\"landmarks\": np.nan_to_num(context.X[rows])}")),
        (f"X = X.copy(order='K').ravel(order='K').reshape(X.shape)\n{DISTANCES}",
         "layouts|rows", "differ|was priced"),
    ],
    NEAREST: [
        ("return np.log(distances[:, which].min(axis=2) - 9)", "fit", "numbers, got NaN"),
    ],
    "if ((which < 0) | (which >= len(landmarks))).any():": [
        ("if (which >= len(landmarks)).any():", "damaged_arrays", "-1 is taken for 7"),
        ("if False:", "damaged_arrays", "-1 is taken for 7"),
    ],
}
FAULTS_OF_INIT = {
    "return -distances": [
        ("return distances", "scores_rise_with_the_class", "for 0% of the examples, by chance"),
        ("return -distances.astype(np.float32)", "fit", "scores must have dtype float64"),
        ("return -distances + distances.mean(axis=0)",
         "rows", "predictions differ: one row at a time"),
        ("return np.stack([self.means @ row for row in np.ascontiguousarray(filled(X))])",
         "arrays_round_trip", "predictions differ(.|\n)*arrays in C order",
         ("FittedAcme(own.T @ X / own.sum(axis=0)[:, None])",
          "FittedAcme(np.asfortranarray(own.T @ X / own.sum(axis=0)[:, None]))")),
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
        ("dense[~np.isfinite(dense)] = 0.0\nreturn dense", "fit", "read-only"),
    ],
    "train, test = context.folds != fold, context.folds == fold": [
        ("train, test = context.folds >= 0, context.folds == fold",
         "scores_without_own_label", "guess [0-9]+% of random labels right"),
    ],
    "return _fitted(X, y, context.weight), scores": [
        ("return FittedAcme(np.random.default_rng().random((y.max() + 1, X.shape[1]))), scores",
         "fit_is_repeatable", "the arrays differ"),
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
         "    return self.fit(X[np.sort(rows)], y, context)", "fit_rows", "the arrays differ"),
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
    cause: str
    message: str

    def __str__(self):
        return f"{self.cause}: {self.message}"

    def act(self):
        """Plant the fault; the cause must be named, and the message must be given."""
        plugin = self.make(*self.edits)
        if self.cause == "training":
            error = raised(train, plugin)
            said = "\n".join([str(error), *getattr(error, "__notes__", [])])
        else:
            is_family = self.make in (family, half)
            error = raised(check_plugin, plugin, brute_force=every_stump if is_family else None)
            assert isinstance(error, PluginCheckError), error
            assert re.fullmatch(f"check_({self.cause})", error.check), str(error)
            said = error.reason
        assert re.search(self.message, said), said


def raised(function, *arguments, **given):
    try:
        function(*arguments, **given)
    except Exception as error:
        return error
    raise AssertionError("no fault was found")


def train(plugin):
    """Train on VOWEL: 11 classes, 990 examples."""
    clf = CWBoostClassifier(plugin, correction="total", C=1e4, n_estimators=9, random_state=0)
    return clf.fit(*load_vowel(return_X_y=True))


TABLES = {
    family: FAULTS,
    half: FAULTS_OF_HALF,
    landmarks: FAULTS_OF_LANDMARKS,
    init_model: FAULTS_OF_INIT,
}
EDGES = "the edges of the learners are"
CASES = [
    Case(LastWins, (), "partitions", EDGES),
    Case(AsksOnce, (), "partitions", EDGES),
    Case(ShiftsCells, (), "partitions", "the partition's cells and learners.cells differ"),
    Case(Unsets, (), "interactions", "a learner reads features of two sets"),
    Case(ByThreads, (), "determinism", "one seed.*: the"),
    Case(ByMemory, (), "generator_is_the_only_state", "its generator restored: the"),
    Case(OfEveryRow, (), "divisions", "other weights outside the rows that count: the"),
    Case(WithoutCover, (), "divisions", "must have the cover that graded was given"),
    Case(in_a_function, (), "hyper_parameters", "local object"),
] + [
    Case(make, ((old, new), *more), cause, message)
    for make, faults in TABLES.items()
    for old, rows in faults.items()
    for new, cause, message, *more in rows
]
