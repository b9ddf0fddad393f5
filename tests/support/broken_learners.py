"""Families with hidden state, and learners that do not store or predict as they should."""

from __future__ import annotations

import os
import pickle
import random
import warnings
from contextlib import suppress
from dataclasses import replace

import numpy as np
from broken import breaks, changed_outputs, make_family
from reference_family import ReferenceLearners, ReferencePricer

from cwboost import StumpFamily
from cwboost.families.contract import BindContext, Capabilities, PricingRequest


@breaks(check_declarations="written for version 2 of the contract")
def written_for_another_version():
    return make_family(api_version=2)


@breaks(check_declarations="'reference_stump', got 'another'")
def name_of_the_instance_differs():
    family = make_family()
    family.name = "another"
    return family


@breaks(check_hyper_parameters="modifies parameter size")
def constructor_forgets_its_argument():
    def __init__(self, size=1):
        self.size = 1

    family = make_family(__init__=__init__)
    family.size = 5
    return family


@breaks(check_categories="edges depend on the numbering of the categories")
def codes_are_taken_for_numbers():
    return make_family(capabilities=Capabilities(max_categories=10))


@breaks(check_monotonic=r"break the constraint \+1 on feature 0")
def constraints_are_ignored():
    return make_family(capabilities=Capabilities(monotonic=True))


class OneColumn(ReferencePricer):
    def price(self, weights, request=PricingRequest()):
        found = super().price(weights, request)
        return replace(found, target=np.arange(len(weights)))


@breaks(check_several_columns="no target has several learners")
def several_columns_are_ignored():
    return make_family(OneColumn, capabilities=Capabilities(several_columns=True))


class Upward(ReferencePricer):
    exact = False

    def best(self, rows):
        return super().best(rows) if rows[0].sum() >= 0 else (-1, 0.0, -1, -1)


@breaks(check_symmetric="their negatives")
def some_negatives_are_missing():
    return make_family(Upward, capabilities=Capabilities(symmetric=True))


context = BindContext(n_targets=2, random_state=np.random.default_rng(0))
StumpPlan = type(StumpFamily().plan([StumpFamily().describe(np.eye(2))], context))


class LastSummary(StumpPlan):
    def merge(self, one, other):
        return other


@breaks(check_partitions="the edges of the learners are")
def the_last_summary_wins():
    class Broken(StumpFamily):
        def plan(self, descriptions, context):
            parts = dict(vars(super().plan(descriptions, context)))
            del parts["exact"]
            return LastSummary(**parts)

    return Broken()


class Centring(ReferencePricer):
    def __init__(self, X):
        if X.flags.writeable:
            X -= X.min()
        super().__init__(X)


@breaks(check_bind_has_no_side_effects="X was changed")
def training_matrix_is_centred_in_place():
    return make_family(Centring)


@breaks(check_bind_has_no_side_effects="bind left attributes on the family")
def bind_leaves_attributes():
    def bind(self, X, context):
        self.n_features_ = X.shape[1]
        return ReferencePricer(X)

    return make_family(bind=bind)


@breaks(check_pricer_attributes="exact must be a bool, got 1")
def exactness_is_a_number():
    return make_family(type("Counting", (ReferencePricer,), {"exact": 1}))


def meddling(act):
    """Return a family whose pricing does something to the whole process first."""

    class Meddling(ReferencePricer):
        def best(self, rows):
            act()
            return super().best(rows)

    return make_family(Meddling)


@breaks(check_process_is_left_alone="changes NumPy's global generator")
def global_generator_of_numpy():
    return meddling(np.random.random)


@breaks(check_process_is_left_alone="changes NumPy's global generator")
def global_generator_of_numpy_is_seeded():
    return meddling(lambda: np.random.seed(0))  # noqa: NPY002


@breaks(check_process_is_left_alone="changes Python's global generator")
def global_generator_of_python():
    return meddling(random.random)


@breaks(check_process_is_left_alone="changes np.seterr")
def floating_point_errors_are_silenced():
    return meddling(lambda: np.seterr(all="ignore"))


@breaks(check_process_is_left_alone="changes warnings.filters")
def warnings_are_silenced():
    return meddling(lambda: warnings.simplefilter("ignore"))


@breaks(check_process_is_left_alone="changes os.environ")
def environment_variables_are_set():
    return meddling(lambda: os.environ.update(CWBOOST_TEST="1"))


@breaks(check_process_is_left_alone="prints 'pricing")
def progress_is_printed():
    return meddling(lambda: print("pricing"))


class Sampling(ReferencePricer):
    """Pricer that searches one feature, drawn separately for every target."""

    exact = False

    def best(self, rows):
        kept, feature = self.columns, int(self.random_state.integers(len(self.columns)))
        self.columns = kept[feature : feature + 1]
        found = super().best(rows)
        self.columns = kept
        return found if found[0] < 0 else (feature, *found[1:])


@breaks(
    check_life_of_a_classifier="3 rounds and 3 more differ",
    check_generator_is_the_only_state="the same pricer, its generator restored: the learners",
)
def generator_is_copied():
    def bind(self, X, context):
        pricer = Sampling(X)
        pricer.random_state = np.random.default_rng(context.random_state.integers(1000))
        return pricer

    return make_family(bind=bind)


class Remembering(ReferencePricer):
    last = 0.0

    def price(self, weights, request=None):
        mixed = weights + 0.5 * self.last
        self.last = weights
        return self.pack(weights, [self.best(row[None]) for row in mixed])


@breaks(
    check_generator_is_the_only_state="the same pricer, its generator restored: the learners",
)
def earlier_rounds_matter():
    return make_family(Remembering)


class Shared(ReferencePricer):
    def __init__(self, X):
        super().__init__(X)
        type(self).columns_of_all = self.columns

    def best(self, rows):
        self.columns = type(self).columns_of_all
        return super().best(rows)


@breaks(check_pricers_are_independent="boolean index did not match")
def pricers_share_state():
    return make_family(Shared)


@breaks(check_outputs_of_rows="outputs differ: one row at a time")
def outputs_depend_on_the_batch():
    return changed_outputs(lambda X, outputs: outputs if len(X) > 1 else -outputs)


@breaks(check_arrays_round_trip="the arrays changed")
def arrays_lose_a_field():
    class Losing(ReferenceLearners):
        def __init__(self, feature, threshold, polarity, missing=1):
            super().__init__(feature, threshold, polarity, np.full(len(feature), missing))

        def arrays(self):
            return {**super().arrays(), "missing": np.ones(len(self), dtype=np.float64)}

        @classmethod
        def from_arrays(cls, arrays, n_features):
            return cls(arrays["feature"], arrays["threshold"] + 1, arrays["polarity"])

    return make_family(learners=Losing)


@breaks(check_damaged_arrays="without feature: expected a ValueError, got TypeError")
def arrays_are_trusted():
    class Trusting(ReferenceLearners):
        @classmethod
        def from_arrays(cls, arrays, n_features):
            return cls(**arrays)

    return make_family(learners=Trusting)


@breaks(check_damaged_arrays="accepted, then outputs raised IndexError")
def features_are_not_checked():
    class Careless(ReferenceLearners):
        @classmethod
        def from_arrays(cls, arrays, n_features):
            return super().from_arrays(arrays, 2**31)

    return make_family(learners=Careless)


@breaks(check_pickle="pickling changed the arrays")
def learners_do_not_pickle():
    class Unpicklable(ReferenceLearners):
        def __reduce__(self):
            return ReferenceLearners, (self.feature, -self.threshold, self.polarity, self.missing)

    return make_family(learners=Unpicklable)


@breaks(check_take_and_concatenate=r"take.*3, 1, 1, 7.* is wrong")
def take_sorts():
    class Sorting(ReferenceLearners):
        def take(self, indices):
            return super().take(np.sort(indices))

    return make_family(learners=Sorting)


@breaks(check_take_and_concatenate="concatenate changes outputs")
def concatenate_reverses():
    class Reversing(ReferenceLearners):
        @classmethod
        def concatenate(cls, batches):
            return super().concatenate(batches[::-1])

    return make_family(learners=Reversing)


@breaks(check_scores="differs from outputs @ coef by")
def scores_in_single_precision():
    class Rough(ReferenceLearners):
        def scores(self, X, coef, n_threads=1):
            return super().scores(X, coef).astype(np.float32).astype(np.float64)

    return make_family(learners=Rough)


@breaks(check_scores="bits differ with one row at a time")
def scorer_depends_on_chunks():
    class Chunky(ReferenceLearners):
        def scorer(self, coef):
            score = super().scorer(coef)
            return lambda X, n_threads=1: score(X) * (1 + 1e-15 * min(len(X), 9))

    return make_family(learners=Chunky)


@breaks(check_feature_shares="sum to at most 1")
def shares_of_more_than_the_edge():
    class Doubling(ReferenceLearners):
        def feature_shares(self, n_features):
            return super().feature_shares(n_features) * 2

    return make_family(learners=Doubling)


@breaks(check_feature_shares="stores no share")
def shares_of_other_features():
    class Turning(ReferenceLearners):
        def feature_shares(self, n_features):
            return super().feature_shares(n_features)[:, ::-1].tocsr()

    return make_family(learners=Turning)


@breaks(check_flat_form="the learner")
def trees_send_missing_values_elsewhere():
    class Swapping(ReferenceLearners):
        def flat_form(self):
            trees = super().flat_form()
            return replace(trees, missing=-trees.missing)

    return make_family(learners=Swapping)


@breaks(
    check_flat_form="the learner",
    check_life_of_a_classifier="the flat form of learner 0 differs from its outputs",
)
def trees_turn_the_signs():
    class Turned(ReferenceLearners):
        def flat_form(self):
            trees = super().flat_form()
            return replace(trees, sign=-trees.sign)

        def scorer(self, coef):
            return lambda X, n_threads=1: self.outputs(X).astype(np.float64) @ coef

    return make_family(learners=Turned)


def _reading(read):
    """Learners whose from_arrays reads an array as code first, whatever comes of it."""

    class Reading(ReferenceLearners):
        @classmethod
        def from_arrays(cls, arrays, n_features):
            for array in arrays.values():
                with suppress(Exception):
                    read(array.tobytes())
            return super().from_arrays(arrays, n_features)

    return make_family(learners=Reading)


@breaks(check_loading_runs_no_code="audit events .*pickle.find_class")
def from_arrays_unpickles():
    return _reading(pickle.loads)


@breaks(check_loading_runs_no_code="audit events .*compile")
def from_arrays_evaluates():
    return _reading(lambda text: eval(text.decode().rstrip()))


@breaks(check_loading_runs_no_code="audit events .*import")
def from_arrays_imports():
    return _reading(lambda text: __import__("antigravity" * 2 + str(len(text))))
