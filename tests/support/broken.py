"""Broken families: the reference family with one part replaced, and what a check must say of it.

`BROKEN` maps names to pairs: a function that makes the family, and the checks that must catch it
with the messages that they must give. A patch is a dict of arguments of `patched`.
"""

from __future__ import annotations

import os
import pickle
import random
import warnings
from contextlib import suppress
from dataclasses import replace
from functools import partial

import numpy as np
from reference_family import ReferenceLearners, ReferencePricer, ReferenceStump

from cwboost import StumpFamily
from cwboost.families.contract import BindContext, Capabilities, PricingRequest

SPARSE = Capabilities(sparse_input=True)


def patched(learners=None, family=None, capabilities=None, **pricer):
    """Return a reference family with members of its learners, itself or its pricer replaced."""
    members = dict(family or {})
    if learners is not None:
        members["learners_type"] = kind = type("Learners", (ReferenceLearners,), learners)

        def pack(self, weights, found):
            priced = ReferencePricer.pack(self, weights, found)
            return replace(priced, learners=kind(**priced.learners.arrays()))

        pricer["pack"] = pack
    if capabilities is not None:
        members["capabilities"] = capabilities
    members.setdefault("pricer_type", type("Pricer", (ReferencePricer,), pricer))
    return type("Broken", (ReferenceStump,), members)()


def case(patch, **checks):
    """Return what makes a family, and the checks that must catch it with their messages."""
    make = patch if callable(patch) else partial(patched, **patch)
    return make, {f"check_{check}": message for check, message in checks.items()}


# ------------------------------------------------------------------ patches


def on_X(change):
    """Train on ``change(X)``."""
    return {"__init__": lambda self, X: ReferencePricer.__init__(self, change(X))}


def on_columns(change):
    """Search ``change(columns)``."""

    def init(self, X):
        ReferencePricer.__init__(self, X)
        self.columns = change(self.columns)

    return {"__init__": init}


def on_cuts(skip):
    """Search every ``skip(pricer)``-th cut of a feature."""

    def sort(self, feature):
        order, cuts, thresholds, missing = ReferencePricer._sorted(self, feature)
        return order, cuts[:: skip(self)], thresholds[:: skip(self)], missing

    return {"_sorted": sort}


def on_weights(change):
    """Price ``change(weights, pricer)`` and report the edges for the given ones."""

    def price(self, weights, request=None):
        return self.pack(weights, [self.best(row[None]) for row in change(weights, self)])

    return {"price": price}


def on_priced(change):
    """Return ``change(priced, weights, pricer)``."""
    return {"price": lambda self, w, request=None: change(ReferencePricer.price(self, w), w, self)}


def on_outputs(change):
    """Predict ``change(X, outputs)``."""
    own = ReferenceLearners.outputs
    return {"learners": {"outputs": lambda self, X: change(X, own(self, X))}}


def on_flat_form(change):
    return {"learners": {"flat_form": lambda self: change(ReferenceLearners.flat_form(self))}}


def on_shares(change):
    own = ReferenceLearners.feature_shares
    return {"learners": {"feature_shares": lambda self, n: change(own(self, n))}}


def on_arrays(change):
    """Load ``change(cls, arrays, n_features)``."""
    return {"learners": {"from_arrays": classmethod(change)}}


def own_arrays(cls, arrays, n_features):
    return ReferenceLearners.from_arrays.__func__(cls, arrays, n_features)


def meddling(act):
    """Do something to the whole process before the search."""
    return {"best": lambda self, rows: (act(), ReferencePricer.best(self, rows))[1]}


def reading(read):
    """Read each array as code first, whatever comes of it."""

    def from_arrays(cls, arrays, n_features):
        for array in arrays.values():
            with suppress(Exception):
                read(array.tobytes())
        return own_arrays(cls, arrays, n_features)

    return on_arrays(from_arrays)


def bound(**attributes):
    """Give the pricer what the functions return of it and of the context of `bind`."""

    def bind(self, X, context):
        pricer = ReferenceStump.bind(self, X, context)
        for name, of in attributes.items():
            setattr(pricer, name, of(pricer, context))
        return pricer

    return {"family": {"bind": bind}}


def fail_if(refused, error):
    """Refuse an X for which ``refused(X)``."""

    def change(X):
        if refused(X):
            raise error
        return X

    return on_X(change)


# ------------------------------------------------------------------ input


def written_into(X):
    X[0, 0] = X[0, 0]
    return X


def in_c_order(X):
    strides = (X.shape[1] * X.itemsize, X.itemsize)
    return X if X.flags.f_contiguous else np.lib.stride_tricks.as_strided(X, strides=strides)


def without_padding(weights, pricer):
    strides = (weights.shape[1] * weights.itemsize, weights.itemsize)
    return np.lib.stride_tricks.as_strided(weights, strides=strides)


def assigned(outputs, where, value):
    outputs[where] = value
    return outputs


def dense(X):
    X = X.toarray() if hasattr(X, "toarray") else X
    return np.ascontiguousarray(X[:, :8])


def brief(self, weights, request=None):
    """Price in pure Python, since NumPy releases the interpreter's lock for large copies."""
    return sum(weights[0, :10].tolist())


INPUT = {
    "writes into X": case(on_X(written_into), layouts="read-only"),
    "reads memory in its own order": case(
        on_X(lambda X: X.ravel(order="K").reshape(X.shape)), layouts="disagree on"
    ),
    "assumes C order": case(
        on_X(in_c_order), layouts=r"X with strides: price.. and outputs.X. disagree on"
    ),
    "rounds float32 away": case(
        on_X(lambda X: np.round(X, 1) if X.dtype == np.float32 else X),
        layouts="float32 X of real numbers: edges",
    ),
    "overflows uint8": case(
        on_X(lambda X: X + X if X.dtype == np.uint8 else X),
        layouts=r"uint8 X: price.. and outputs.X. disagree on",
    ),
    "ignores padding of weights": case(
        on_weights(without_padding), weights_layout="padded weights: the learners differ"
    ),
    "needs two features": case(
        on_X(lambda X: (X[:, 1], X)[1]), one_feature="out of bounds for axis 1 with size 1"
    ),
    "needs a cut": case(
        fail_if(lambda X: len(X) > 2 and (X[0] == X).all(0).any(), ZeroDivisionError("no cut")),
        constant_features="no cut",
    ),
    "needs two examples": case(
        fail_if(lambda X: len(X) < 2, ValueError("X must have two examples")),
        one_example="X must have two examples",
    ),
    "outputs depend on the place": case(
        on_outputs(lambda X, h: assigned(h, slice(len(h) // 2 + 1, None, 2), 1)),
        equal_examples="equal examples got different outputs",
    ),
    "outside the training data is zero": case(
        on_outputs(lambda X, h: assigned(h, np.abs(X).max(axis=1) > 1e9, 0)),
        new_examples=r"features of -1e.30: outputs",
    ),
    "missing values are zero in training only": case(
        on_X(np.nan_to_num), missing_values=r"X with NaN: price.. and outputs.X. disagree on"
    ),
    "the order of columns is refused": case(
        fail_if(lambda X: getattr(X, "format", "csr") != "csr", TypeError("csc"))
        | {"capabilities": SPARSE},
        sparse_input="csc",
    ),
    "sparse input is made dense": case(
        on_X(dense) | {"capabilities": SPARSE}, sparse_memory="720 MB were allocated"
    ),
    "the lock is held": case(
        {"price": brief, "releases_gil": True}, releases_gil="no other thread ran"
    ),
}

# ------------------------------------------------------------------ declarations and state

CONTEXT = BindContext(n_targets=2, random_state=np.random.default_rng(0))
StumpPlan = type(StumpFamily().plan([StumpFamily().describe(np.eye(2))], CONTEXT))


class LastSummary(StumpPlan):
    def merge(self, one, other):
        return other


class LastWins(StumpFamily):
    def plan(self, descriptions, context):
        parts = dict(vars(super().plan(descriptions, context)))
        del parts["exact"]
        return LastSummary(**parts)


def one_column(self, weights, request=PricingRequest()):
    found = ReferencePricer.price(self, weights, request)
    return replace(found, target=np.arange(len(weights)))


def only_upward(self, rows):
    return ReferencePricer.best(self, rows) if rows[0].sum() >= 0 else (-1, 0.0, -1, -1)


def centred(X):
    if X.flags.writeable:
        X -= X.min()
    return X


def bind_and_note(self, X, context):
    self.n_features_ = X.shape[1]
    return ReferencePricer(X)


def of_one_feature(self, rows):
    """Search one feature, drawn separately for every target."""
    kept, feature = self.columns, int(self.random_state.integers(len(self.columns)))
    self.columns = kept[feature : feature + 1]
    found = ReferencePricer.best(self, rows)
    self.columns = kept
    return found if found[0] < 0 else (feature, *found[1:])


SAMPLING = {"exact": False, "best": of_one_feature}


def with_the_last(weights, pricer):
    last, pricer.last = getattr(pricer, "last", 0.0), weights
    return weights + 0.5 * last


def of_all_pricers(self, rows):
    self.columns = type(self).shared
    return ReferencePricer.best(self, rows)


def sharing(self, X):
    ReferencePricer.__init__(self, X)
    type(self).shared = self.columns


MEDDLING = {
    "changes NumPy's global generator": np.random.random,
    "changes Python's global generator": random.random,
    "changes np.seterr": lambda: np.seterr(all="ignore"),
    "changes warnings.filters": lambda: warnings.simplefilter("ignore"),
    "changes os.environ": lambda: os.environ.update(CWBOOST_TEST="1"),
    "prints 'pricing": lambda: print("pricing"),
}
STATE = {
    message: case(meddling(act), process_is_left_alone=message) for message, act in MEDDLING.items()
} | {
    "written for another version": case(
        {"family": {"api_version": 2}}, declarations="written for version 2 of the contract"
    ),
    "the name of the instance differs": case(
        {"family": {"__init__": lambda self, size=1: vars(self).update(size=size, name="another")}},
        declarations="'reference_stump', got 'another'",
    ),
    "the constructor changes its argument": case(
        {"family": {"__init__": lambda self, size=1: setattr(self, "size", size + 4)}},
        hyper_parameters="modifies parameter size",
    ),
    "codes are taken for numbers": case(
        {"capabilities": Capabilities(max_categories=10)},
        categories="edges depend on the numbering of the categories",
    ),
    "constraints are ignored": case(
        {"capabilities": Capabilities(monotonic=True)},
        monotonic=r"break the constraint \+1 on feature 0",
    ),
    "several columns are ignored": case(
        {"price": one_column, "capabilities": Capabilities(several_columns=True)},
        several_columns="no target has several learners",
    ),
    "some negatives are missing": case(
        {"exact": False, "best": only_upward, "capabilities": Capabilities(symmetric=True)},
        symmetric="their negatives",
    ),
    "the last summary wins": case(LastWins, partitions="the edges of the learners are"),
    "the training matrix is centred in place": case(
        on_X(centred), bind_has_no_side_effects="X was changed"
    ),
    "bind leaves attributes": case(
        {"family": {"bind": bind_and_note}},
        bind_has_no_side_effects="bind left attributes on the family",
    ),
    "exactness is a number": case({"exact": 1}, outputs="exact must be a bool, got 1"),
    "the generator is copied": case(
        SAMPLING
        | bound(random_state=lambda p, c: np.random.default_rng(c.random_state.integers(1000))),
        life_of_a_classifier="3 rounds and 3 more differ",
        generator_is_the_only_state="its generator restored: the learners",
    ),
    "earlier rounds matter": case(
        on_weights(with_the_last),
        generator_is_the_only_state="its generator restored: the learners",
    ),
    "pricers share state": case(
        {"__init__": sharing, "best": of_all_pricers},
        pricers_are_independent="boolean index did not match",
    ),
}

# ------------------------------------------------------------------ learners


def losing_a_field(cls, arrays, n_features):
    return cls(arrays["feature"], arrays["threshold"] + 1, arrays["polarity"], arrays["missing"])


def other_when_pickled(self):
    return ReferenceLearners, (self.feature, -self.threshold, self.polarity, self.missing)


def sorted_take(self, indices):
    return ReferenceLearners.take(self, np.sort(indices))


def reversed_batches(cls, batches):
    return ReferenceLearners.concatenate.__func__(cls, batches[::-1])


def rough_scores(self, X, coef, n_threads=1):
    scores = ReferenceLearners.scores(self, X, coef)
    return scores.astype(np.float32).astype(np.float64)


def chunky_scorer(self, coef):
    score = ReferenceLearners.scorer(self, coef)
    return lambda X, n_threads=1: score(X) * (1 + 1e-15 * min(len(X), 9))


def slow_scorer(self, coef):
    return lambda X, n_threads=1: self.outputs(X).astype(np.float64) @ coef


TURNED = on_flat_form(lambda trees: replace(trees, sign=-trees.sign))
TURNED["learners"]["scorer"] = slow_scorer

LEARNERS = {
    "outputs depend on the batch": case(
        on_outputs(lambda X, outputs: outputs if len(X) > 1 else -outputs),
        outputs_of_rows="outputs differ: one row at a time",
    ),
    "loading changes an array": case(
        on_arrays(losing_a_field), arrays_round_trip="the arrays changed"
    ),
    "arrays are trusted": case(
        on_arrays(lambda cls, arrays, n_features: cls(**arrays)),
        damaged_arrays="without feature: expected a ValueError, got TypeError",
    ),
    "features are not checked": case(
        on_arrays(lambda cls, arrays, n_features: own_arrays(cls, arrays, 2**31)),
        damaged_arrays="accepted, then predictions failed: IndexError",
    ),
    "pickling changes an array": case(
        {"learners": {"__reduce__": other_when_pickled}}, pickle="pickling changed the arrays"
    ),
    "take sorts": case(
        {"learners": {"take": sorted_take}}, take_and_concatenate=r"take.*3, 1, 1, 7.* is wrong"
    ),
    "concatenate reverses": case(
        {"learners": {"concatenate": classmethod(reversed_batches)}},
        take_and_concatenate="concatenate changes outputs",
    ),
    "scores in single precision": case(
        {"learners": {"scores": rough_scores}}, scores="differs from outputs @ coef by"
    ),
    "the scorer depends on chunks": case(
        {"learners": {"scorer": chunky_scorer}}, scores="bits differ with one row at a time"
    ),
    "shares of more than the edge": case(
        on_shares(lambda shares: shares * 2), feature_shares="sum to at most 1"
    ),
    "shares of other features": case(
        on_shares(lambda shares: shares[:, ::-1].tocsr()), feature_shares="stores no share"
    ),
    "trees send missing values elsewhere": case(
        on_flat_form(lambda trees: replace(trees, missing=-trees.missing)),
        flat_form="the flat form of learner",
    ),
    "trees turn the signs": case(
        TURNED,
        flat_form="the flat form of learner",
        life_of_a_classifier="the flat form of learner 0 differs from its outputs",
    ),
    "arrays are unpickled": case(
        reading(pickle.loads), loading_runs_no_code="audit events .*pickle.find_class"
    ),
    "arrays are evaluated": case(
        reading(lambda text: eval(text.decode().rstrip())),
        loading_runs_no_code="audit events .*compile",
    ),
    "arrays are imported": case(
        reading(lambda text: __import__("antigravity" * 2 + str(len(text)))),
        loading_runs_no_code="audit events .*import",
    ),
}

# ------------------------------------------------------------------ pricing


def flipped_bits(where, mask, if_=lambda pricer: True):
    """Flip bits of some of the output bytes."""

    def change(priced, weights, pricer):
        packed = priced.outputs.copy()
        if if_(pricer):
            packed[where] ^= mask
        return replace(priced, outputs=packed)

    return on_priced(change)


def no_constant(self, rows):
    found = ReferencePricer.best(self, rows)
    return (0, self.columns[0][2][0], 1, 1) if found[0] < 0 else found


def rounded_on_threads(self, rows):
    return ReferencePricer.best(self, rows if self.n_threads == 1 else np.round(rows, 0))


def reusing(priced, weights, pricer):
    buffer = vars(pricer).setdefault("buffer", priced.edges)
    buffer[:] = priced.edges
    return replace(priced, edges=buffer)


def signed_sum(self, weights, request=None):
    priced = ReferencePricer.price_shared(self, weights)
    outputs = priced.learners.outputs(self.X)[:, 0].astype(np.float64)
    return replace(priced, edges=(weights @ outputs).sum(keepdims=True))


def of_the_first_target(self, weights, request=None):
    priced = self.pack(weights[:1], [self.best(weights[:1])])
    outputs = priced.learners.outputs(self.X)[:, 0].astype(np.float64)
    return replace(priced, edges=np.abs(weights @ outputs).sum(keepdims=True))


def sometimes_second(self, rows):
    """Return the second best now and then; the family's own learners reveal the better one."""
    if int(abs(rows).sum() * 7919) % 3:
        return ReferencePricer.best(self, rows)
    kept, self.columns = self.columns, self.columns[::2]
    found = ReferencePricer.best(self, rows)
    self.columns = kept
    return found


def five_targets(self, weights, request=None):
    whole = np.zeros((5, self.n_samples))
    whole[: len(weights)] = weights
    return ReferencePricer.price(self, whole)


BETTER = {"exact_pricing": "another learner of the family has"}
SAME_PROBLEM = {"exact_at_scale": "the same problem on 30 distinct rows and 3 columns has"}

PRICING = {
    "outputs of zero and one": case(
        on_outputs(lambda X, outputs: (outputs > 0).astype(np.int8)),
        **dict.fromkeys(("outputs", "outputs_of_rows"), r"values must be -1 and \+1, got \[0 1"),
    ),
    "outputs as floats": case(
        on_outputs(lambda X, outputs: outputs.astype(float)),
        outputs="dtype must be int8, got float64",
    ),
    "one wrong bit": case(
        flipped_bits((0, 0), 1), outputs="disagree on 1 examples, first example 0"
    ),
    "padding bits set": case(
        flipped_bits((slice(None), -1), 0x80, if_=lambda pricer: pricer.n_samples % 8),
        outputs="bits after the last example must be 0",
    ),
    "edges slightly wrong": case(
        on_priced(lambda p, weights, pricer: replace(p, edges=p.edges * (1 + 1e-9))),
        edges="reported edges are .*, but the outputs give",
    ),
    "constants are never found": case(
        {"best": no_constant}, best_constant="are below the constant's"
    ),
    "an absolute threshold": case(
        on_weights(lambda weights, pricer: np.where(abs(weights) < 1e-9, 0.0, weights)),
        scaling=r"200, -200, -200.: the learners differ",
    ),
    "examples of zero weight count": case(
        on_weights(lambda weights, pricer: np.where(weights == 0, 50.0, weights)),
        zero_weight="added examples of zero weight changed edges",
    ),
    "the sign of zero counts": case(
        on_weights(lambda w, pricer: np.where((w == 0) & np.signbit(w), -50.0, w)),
        zero_weight=r"-0.0 for 0.0: the learners differ",
    ),
    "the result depends on threads": case(
        {"best": rounded_on_threads} | bound(n_threads=lambda p, context: context.n_threads),
        determinism="2 threads against 1: the learners differ",
    ),
    "targets share a learner": case(
        {"price": lambda self, w, request=None: self.pack(w, [self.best(w[:1])] * len(w))},
        number_of_targets="differs from the one it gets alone",
        **BETTER,
    ),
    "edges are overwritten next round": case(
        on_priced(reusing), repeated_pricing="overwrote edges of the last round"
    ),
    "shared edges keep their signs": case(
        {"price_shared": signed_sum}, shared_pricing="reported value is .*, but the outputs give"
    ),
    "shared pricing looks at one target": case(
        {"price_shared": of_the_first_target},
        shared_pricing="is less than .* of a learner found by price",
    ),
    "only the first feature is searched": case(on_columns(lambda columns: columns[:1]), **BETTER),
    "every other cut is searched": case(on_cuts(lambda pricer: 2), **BETTER),
    "exact most of the time": case({"best": sometimes_second}, **BETTER),
    "only three features are searched": case(
        on_columns(lambda columns: columns[:3]), **SAME_PROBLEM
    ),
    "exact up to 600 rows": case(
        on_cuts(lambda pricer: 2 if pricer.n_samples > 600 else 1), **SAME_PROBLEM
    ),
    "always as many targets as bound": case(
        {"price": five_targets}, number_of_targets="expected 1 learners, one per target, got 5"
    ),
}

BROKEN = INPUT | STATE | LEARNERS | PRICING
