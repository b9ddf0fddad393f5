"""A model's life as a state machine: whatever happens to a model, in any order, it stays right."""

import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import slow_master
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from models import RaiseAt
from sklearn.datasets import load_iris
from sklearn.metrics import get_scorer_names

from cwboost import CWBoostClassifier, load_model

X, Y = (array[::3] for array in load_iris(return_X_y=True))
X_VAL, Y_VAL = (array[1::3] for array in load_iris(return_X_y=True))


def with_categories(X):
    """For families that know them."""
    return np.column_stack([np.rint(X[:, :2]), X[:, 2:]])


CODES, CODES_VAL = with_categories(X), with_categories(X_VAL)
ROUNDING = 1e-9


def outputs_by_class(model, X):
    """The columns of each class and their places, as the slow reference takes them."""
    used = np.unique(
        np.stack([model.ensemble_.path.score_index, model.ensemble_.path.column]).T, axis=0
    )
    columns = [used[used[:, 0] == c, 1] for c in range(len(model.classes_))]
    outputs = model.ensemble_.learners.outputs(model._encoded(X))
    if outputs.ndim == 3:  # one output per class
        return columns, [outputs[:, places, c].T for c, places in enumerate(columns)]
    return columns, [outputs[:, places].T for places in columns]


class Life(RuleBasedStateMachine):
    """Rounds are few: the machine tries orders of events, not long trainings."""

    path = None

    @initialize(
        family=st.sampled_from(["stump", "tree", "projection", ["stump", "tree"], "auto"]),
        categories=st.booleans(),
        C=st.sampled_from([10.0, 300.0, 1e4]),
        correction=st.sampled_from(["total", "stagewise"]),
        rounds=st.integers(1, 6),
        early_stopping=st.sampled_from([False, "logloss", "error", "balanced_accuracy"]),
    )
    def begin(self, family, categories, C, correction, rounds, early_stopping):
        categories = categories and family not in ("projection", "auto")
        self.X, self.X_val = (CODES, CODES_VAL) if categories else (X, X_VAL)
        self.model = CWBoostClassifier(
            family,
            init=None,  # the slow reference knows no base scores
            categorical_features=[0, 1] if categories else None,
            C=C,
            correction=correction,
            subsample=1.0,
            learning_rate=1.0,
            early_stopping=early_stopping,
            n_iter_no_change=3,
            n_estimators=rounds,
            random_state=0,
            warm_start=True,
        )
        self.fit()

    def fit(self):
        """Train, with examples held out if they may stop it; they are none of the others."""
        held_out = {"X_val": self.X_val, "y_val": Y_VAL} if self.model.early_stopping else {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of rounds that are there already
            self.model.fit(self.X, Y, **held_out)
        self.knows_all = self.model.warm_start

    @property
    def done(self):
        """The rounds that training goes on from: those of the model, unless there is a state."""
        return self.model.n_iter_ if self.knows_all else self.model.best_iteration_

    @rule(more=st.integers(1, 4))
    def resume(self, more):
        done, before = self.done, self.model.history_["objective"]
        kept = self.model.best_iteration_
        self.model.set_params(n_estimators=done + more)
        self.fit()
        assert done <= self.model.n_iter_ <= done + more
        assert self.model.best_iteration_ >= kept
        np.testing.assert_array_equal(self.model.history_["objective"][:done], before[:done])

    @rule(at=st.integers(1, 4), error=st.sampled_from([KeyboardInterrupt, MemoryError]))
    def interrupt(self, at, error):
        done, before = self.done, self.model.decision_function(self.X)
        former = self.model.best_iteration_
        callbacks = [RaiseAt(done + at, error)]
        self.model.set_params(n_estimators=done + 4, callbacks=callbacks)
        try:
            self.fit()
        except error:
            assert self.model.n_iter_ == done + at
            assert self.model.stop_reason_ in ("interrupted", "failed")
        else:
            assert self.model.stop_reason_ in ("tol", "optimal", "no column", "early stopping")
        self.model.set_params(callbacks=None)
        kept = self.model.decision_function(self.X, n_estimators=former)
        np.testing.assert_array_equal(kept, before)

    @rule(rounds=st.integers(1, 6), seed=st.integers(0, 3))
    def refit(self, rounds, seed):
        self.model.set_params(warm_start=False, n_estimators=rounds, random_state=seed)
        self.fit()
        self.model.set_params(warm_start=True)
        assert self.model.n_iter_ <= rounds

    @rule()
    def fail_to_refit(self):
        self.model.set_params(n_estimators=self.model.n_iter_ + 1)
        before = dict(vars(self.model))
        with pytest.raises(ValueError, match="two classes"):
            self.model.fit(self.X, np.zeros(len(X)))
        assert vars(self.model).keys() == before.keys()
        for name, value in vars(self.model).items():
            assert value is before[name], name

    @rule(training_state=st.booleans())
    def save_and_load(self, training_state):
        self.model.save(self.path, training_state=training_state)
        self.replace_by(load_model(self.path))
        self.knows_all &= training_state

    @rule()
    def pickle(self):
        self.replace_by(pickle.loads(pickle.dumps(self.model)))

    def replace_by(self, other):
        np.testing.assert_equal(other.history_, self.model.history_)
        for n in range(1, self.model.ensemble_.n_rounds + 1):
            np.testing.assert_array_equal(
                other.decision_function(self.X, n_estimators=n),
                self.model.decision_function(self.X, n_estimators=n),
            )
        np.testing.assert_array_equal(other.predict_proba(self.X), self.model.predict_proba(self.X))
        self.model = other

    @precondition(lambda self: self.model.best_iteration_)
    @rule()
    def predict_in_threads(self):
        rounds = np.arange(24) % self.model.ensemble_.n_rounds + 1
        serial = [self.model.decision_function(self.X, n_estimators=int(n)) for n in rounds]
        with ThreadPoolExecutor(4) as pool:
            found = pool.map(
                lambda n: self.model.decision_function(self.X, n_estimators=int(n)), rounds
            )
            for one, other in zip(found, serial, strict=True):
                np.testing.assert_array_equal(one, other)

    # ------------------------------------------------------------------ what is always true

    @precondition(lambda self: hasattr(self, "model"))
    @invariant()
    def history_is_that_of_the_coefficients(self):
        model, history = self.model, self.model.history_
        assert {len(values) for values in history.values()} == {model.n_iter_}
        columns, outputs = outputs_by_class(model, self.X)
        for n in range(1, model.best_iteration_ + 1):
            coef = model.ensemble_.coef(n)
            assert (coef.data >= 0).all()
            dense = coef.toarray()
            own = [dense[places, c] for c, places in enumerate(columns)]
            assert sum(values.sum() for values in own) == pytest.approx(dense.sum())
            slow = slow_master.objective(outputs, Y, model.C, own)
            assert history["objective"][n - 1] == pytest.approx(slow, rel=ROUNDING)
            assert history["n_nonzero"][n - 1] == np.count_nonzero(dense)
            wrong = np.mean(model.predict(self.X, n_estimators=n) != Y)
            assert history["train_error"][n - 1] == pytest.approx(wrong)

    @precondition(
        lambda self: hasattr(self, "model") and self.model.early_stopping and self.model.n_iter_
    )
    @invariant()
    def no_known_round_is_better_than_what_is_kept(self):
        name = self.model.early_stopping
        values = self.model.history_[f"valid_{name}"] * (-1 if name in get_scorer_names() else 1)
        best = values.min() * (1.02 if name == "logloss" else 1.0)
        assert values[self.model.best_iteration_ - 1] <= best
        assert self.model.best_iteration_ == self.model.ensemble_.n_rounds

    @precondition(lambda self: hasattr(self, "model"))
    @invariant()
    def the_objective_never_rises_and_the_bound_stays_below(self):
        objective, bound = self.model.history_["objective"], self.model.history_["dual_bound"]
        assert (np.diff(objective) <= ROUNDING * objective[:-1]).all()
        known = ~np.isnan(bound)
        assert (bound[known] <= objective[known]).all()
        np.testing.assert_array_equal(self.model.history_["gap"], objective - bound)


@pytest.mark.slow
def test_the_life_of_a_model(tmp_path):
    class InFolder(Life):
        path = tmp_path / "model.cwb"

    InFolder.TestCase.settings = settings(
        max_examples=25,
        stateful_step_count=10,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    InFolder.TestCase("runTest").runTest()
