"""Families whose outputs, edges or searches are wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from broken import breaks, changed_outputs, changed_priced, changed_weights, make_family
from reference_family import ReferencePricer


@breaks(
    check_outputs=r"values must be -1 and \+1, got \[0 1",
    check_outputs_of_rows=r"values must be -1 and \+1, got \[0 1",
)
def outputs_of_zero_and_one():
    return changed_outputs(lambda X, outputs: (outputs > 0).astype(np.int8))


@breaks(check_outputs="dtype must be int8, got float64")
def outputs_as_floats():
    return changed_outputs(lambda X, outputs: outputs.astype(float))


@breaks(check_outputs="disagree on 1 examples, first example 0")
def one_wrong_bit():
    def flip(priced, weights, pricer):
        packed = priced.outputs.copy()
        packed[0, 0] ^= 1
        return replace(priced, outputs=packed)

    return changed_priced(flip)


@breaks(check_outputs="bits after the last example must be 0")
def padding_bits_set():
    def fill(priced, weights, pricer):
        packed = priced.outputs.copy()
        if pricer.n_samples % 8:
            packed[:, -1] |= 0x80
        return replace(priced, outputs=packed)

    return changed_priced(fill)


@breaks(check_edges="reported edges are .*, but the outputs give")
def edges_slightly_wrong():
    return changed_priced(lambda p, weights, pricer: replace(p, edges=p.edges * (1 + 1e-9)))


@breaks(check_edges="reported edges are .*, but the outputs give")
def edges_in_single_precision():
    def round_edges(priced, weights, pricer):
        return replace(priced, edges=priced.edges.astype(np.float32).astype(np.float64))

    return changed_priced(round_edges)


class NoConstants(ReferencePricer):
    def best(self, rows):
        found = super().best(rows)
        return (0, self.columns[0][2][0], 1, 1) if found[0] < 0 else found


@breaks(check_best_constant="are below the constant's")
def constants_are_never_found():
    return make_family(NoConstants)


@breaks(check_scaling=r"200, -200, -200.: the learners differ")
def absolute_threshold():
    return changed_weights(lambda weights, pricer: np.where(abs(weights) < 1e-9, 0.0, weights))


@breaks(check_scaling=r"200, -200, -200.: the learners differ")
def sums_in_single_precision():
    def to_single(weights, pricer):
        with np.errstate(all="ignore"):
            return weights.astype(np.float32).astype(np.float64)

    return changed_weights(to_single)


@breaks(check_zero_weight="added examples of zero weight changed edges")
def examples_of_zero_weight_count():
    return changed_weights(lambda weights, pricer: np.where(weights == 0, 50.0, weights))


@breaks(check_zero_weight=r"-0.0 for 0.0: the learners differ")
def the_sign_of_zero_counts():
    def change(weights, pricer):
        return np.where((weights == 0) & np.signbit(weights), -50.0, weights)

    return changed_weights(change)


class ThreadDependent(ReferencePricer):
    def best(self, rows):
        return super().best(rows if self.n_threads == 1 else np.round(rows, 0))


@breaks(check_determinism="2 threads against 1: the learners differ")
def result_depends_on_threads():
    def bind(self, X, context):
        pricer = ThreadDependent(X)
        pricer.n_threads = context.n_threads
        return pricer

    return make_family(bind=bind)


class Forgetful(ReferencePricer):
    """Pricer that uses the weights of the first target for all targets."""

    def price(self, weights, request=None):
        return self.pack(weights, [self.best(weights[:1])] * len(weights))


@breaks(
    check_number_of_targets="differs from the one it gets alone",
    check_exact_pricing="another learner of the family has",
)
def targets_share_a_learner():
    return make_family(Forgetful)


class Reusing(ReferencePricer):
    buffer = None

    def price(self, weights, request=None):
        priced = super().price(weights)
        if self.buffer is None:
            self.buffer = priced.edges
        self.buffer[:] = priced.edges
        return replace(priced, edges=self.buffer)


@breaks(check_repeated_pricing="overwrote edges of the last round")
def edges_are_overwritten_next_round():
    return make_family(Reusing)


class SignedShared(ReferencePricer):
    def price_shared(self, weights, request=None):
        priced = super().price_shared(weights)
        outputs = priced.learners.outputs(self.X)[:, 0].astype(np.float64)
        return replace(priced, edges=(weights @ outputs).sum(keepdims=True))


@breaks(check_shared_pricing="reported value is .*, but the outputs give")
def shared_edges_keep_their_signs():
    return make_family(SignedShared)


class LazyShared(ReferencePricer):
    def price_shared(self, weights, request=None):
        priced = self.pack(weights[:1], [self.best(weights[:1])])
        outputs = priced.learners.outputs(self.X)[:, 0].astype(np.float64)
        return replace(priced, edges=np.abs(weights @ outputs).sum(keepdims=True))


@breaks(
    check_shared_pricing="is less than .* of a learner found by price",
    check_shared_pricing_is_own="the best of the learners of price",
)
def shared_pricing_looks_at_one_target():
    return make_family(LazyShared)


class EveryOtherFeature(ReferencePricer):
    def __init__(self, X):
        super().__init__(X)
        self.all_columns, self.columns = self.columns, self.columns[:1]


@breaks(check_exact_pricing="another learner of the family has")
def only_the_first_feature_is_searched():
    return make_family(EveryOtherFeature)


class EveryOtherCut(ReferencePricer):
    def _sorted(self, feature):
        order, cuts, thresholds, missing = super()._sorted(feature)
        skip = slice(None, None, 2)
        return order, cuts[skip], thresholds[skip], missing


@breaks(check_exact_pricing="another learner of the family has")
def every_other_cut_is_searched():
    return make_family(EveryOtherCut)


class Greedy(ReferencePricer):
    """Pricer that sometimes returns the second best; its own learners reveal the better one."""

    def best(self, rows):
        if int(abs(rows).sum() * 7919) % 3:
            return super().best(rows)
        kept, self.columns = self.columns, self.columns[::2]
        found = super().best(rows)
        self.columns = kept
        return found


@breaks(check_exact_pricing="another learner of the family has")
def exact_most_of_the_time():
    return make_family(Greedy, brute_force=None)


class FirstThree(ReferencePricer):
    def __init__(self, X):
        super().__init__(X)
        self.columns = self.columns[:3]


@breaks(check_exact_at_scale="the same problem on 30 distinct rows and 3 columns has")
def only_the_first_three_features_are_searched():
    return make_family(FirstThree)


class UpTo600(ReferencePricer):
    """Beyond 600 rows every other cut is left out."""

    def _sorted(self, feature):
        order, cuts, thresholds, missing = super()._sorted(feature)
        skip = slice(None, None, 2 if self.n_samples > 600 else 1)
        return order, cuts[skip], thresholds[skip], missing


@breaks(check_exact_at_scale="the same problem on 30 distinct rows and 3 columns has")
def exact_up_to_600_rows():
    return make_family(UpTo600)


class FirstRows(ReferencePricer):
    def best(self, rows):
        return super().best(np.where(np.arange(rows.shape[1]) < 600, rows, 0.0))


@breaks(check_exact_at_scale="the same problem on 30 distinct rows and 3 columns has")
def only_the_first_600_rows_are_searched():
    return make_family(FirstRows)


@breaks(check_fewer_targets="expected 1 learners, got 5")
def always_as_many_targets_as_bound():
    class Padded(ReferencePricer):
        def price(self, weights, request=None):
            whole = np.zeros((5, self.n_samples))
            whole[: len(weights)] = weights
            return super().price(whole)

    return make_family(Padded)
