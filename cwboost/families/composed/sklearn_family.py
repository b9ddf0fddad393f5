"""Any classifier of scikit-learn as a weak learner."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.base import clone, is_classifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter
from threadpoolctl import ThreadpoolController

from cwboost.families.composed.sklearn_learners import (
    OpaqueModels,
    SklearnLearners,
    TreeModels,
    learners_class,
)
from cwboost.families.contract import (
    BindContext,
    Capabilities,
    Priced,
    Pricer,
    PricingRequest,
    WeakLearnerFamily,
)
from cwboost.families.outputs import pack_outputs
from cwboost.kernels.one_thread import one_thread
from cwboost.support.types import Matrix
from cwboost.support.warnings import warn_caller

LARGEST = 2.0**100
"""Trees of scikit-learn see no larger values: they refuse infinities and add in float32."""


class SklearnFamily(WeakLearnerFamily):
    """Weak learners fitted by a scikit-learn classifier that takes ``sample_weight``.

    For each class and round a clone is fitted to a binary problem: an example's label is the sign
    of its weight, its ``sample_weight`` the absolute value. A constant replaces a clone that does
    worse than the constant.

    Parameters
    ----------
    estimator : scikit-learn classifier or None, default=None
        None stands for ``DecisionTreeClassifier(max_depth=2)``. If its parameter ``random_state``
        is None, every clone gets a seed drawn from the generator of training.

    Notes
    -----
    `DecisionTreeClassifier`, `ExtraTreeClassifier`, `LogisticRegression`, `RidgeClassifier`,
    `SGDClassifier`, `Perceptron` and `LinearSVC` are kept as flat arrays: such models are saved and
    loaded without pickle and exported to ONNX. With any other classifier a model trains, predicts
    and can be pickled; ``fit`` warns that ``save`` will refuse it.

    Sparse data are refused, since scikit-learn fits other models to them than to the same data in
    dense form. Missing values are accepted if the classifier accepts them.

    Pricing is never exact, and slow: a clone is validated, fitted and evaluated in every round for
    every class.

    Examples
    --------
    >>> from cwboost import CWBoostClassifier, SklearnFamily
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import RidgeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = CWBoostClassifier(SklearnFamily(RidgeClassifier()), n_estimators=20).fit(X, y)
    >>> bool(clf.score(X, y) > 0.8)
    True
    """

    name = "sklearn"
    api_version = 1
    learners_type = SklearnLearners

    def __init__(self, estimator: Any = None) -> None:
        self.estimator = estimator

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(missing_values=get_tags(self._template()).input_tags.allow_nan)

    def bind(self, X: Matrix, context: BindContext) -> SklearnPricer:
        estimator = self._template()
        if not is_classifier(estimator) or not has_fit_parameter(estimator, "sample_weight"):
            raise ValueError(
                "estimator must be a classifier of scikit-learn whose fit takes sample_weight, got "
                f"{estimator!r}"
            )
        if learners_class(estimator) is OpaqueModels:
            warn_caller(
                f"a model of {type(estimator).__name__} learners can be pickled, but not saved or "
                "exported: they have no form in flat arrays"
            )
        return SklearnPricer(X, estimator, context)

    def _template(self):
        if self.estimator is None:
            return DecisionTreeClassifier(max_depth=2)
        if isinstance(self.estimator, type) or not hasattr(self.estimator, "fit"):
            raise ValueError(f"estimator must be an instance of a classifier, got {self.estimator}")
        return self.estimator


class SklearnPricer(Pricer):
    """Pricing by a clone fitted for every target."""

    def __init__(self, X, estimator, context: BindContext):
        self.n_samples, self.n_features = X.shape
        self._X = X
        self._form: Any = learners_class(estimator)
        # Trees of scikit-learn read float32; linear algebra rounds as the dtype does.
        is_tree = self._form is TreeModels
        self._fitted_on = _clipped(X) if is_tree else X.astype(np.float64, copy=False)
        self._estimator = estimator
        self._seeded = estimator.get_params(deep=False).get("random_state", 0) is None
        self._random_state = context.random_state
        self._libraries = ThreadpoolController()

    def price(self, weights, request: PricingRequest = PricingRequest()) -> Priced:
        seeds = self._random_state.integers(2**31, size=len(weights)) if self._seeded else None
        # On one thread, since sums of linear algebra depend on the number of threads. With metadata
        # routing, weights would go to those alone who have asked for them.
        with one_thread(self._libraries), config_context(enable_metadata_routing=False):
            priced = [
                self._price_one(row, None if seeds is None else int(seeds[t]))
                for t, row in enumerate(weights)
            ]
        learners, outputs, edges = zip(*priced)
        packed = pack_outputs(np.concatenate(outputs, axis=1))
        return Priced(self._form.concatenate(learners), packed, np.array(edges))

    def _price_one(self, row, seed) -> tuple[SklearnLearners, np.ndarray, float]:
        """Return the learner for one row of weights, its outputs and its edge."""
        total = float(row.sum())
        rows = np.flatnonzero(row)
        label = np.where(row[rows] > 0, 1, -1)
        if rows.size and abs(label.sum()) < len(label):
            learner: Any = self._fit(rows, label, np.abs(row[rows]), seed)
            outputs = learner.outputs(self._X)
            edge = float(np.sum(row * outputs[:, 0]))
            if edge < 0:
                learner, outputs, edge = learner.reversed(), -outputs, -edge
            if edge > abs(total):
                return learner, outputs, edge
        sign = 1 if total >= 0 else -1
        outputs = np.full((self.n_samples, 1), sign, dtype=np.int8)
        return self._form.constant(sign, self.n_features), outputs, abs(total)

    def _fit(self, rows, label, size, seed) -> SklearnLearners:
        estimator = clone(self._estimator)
        if seed is not None:
            estimator.set_params(random_state=seed)
        X = self._fitted_on[rows]  # a copy: trees of scikit-learn search gaps in writable memory
        size = size / size.max()
        # Mean one, as the defaults of scikit-learn expect.
        estimator.fit(X, label, sample_weight=size / np.mean(size))
        return self._form.of(estimator, X)


def _clipped(X):
    """Return X clipped to `LARGEST`; X itself if it is in that range."""
    if X.dtype.kind != "f" or not (np.abs(X) > LARGEST).any():
        return X
    return np.clip(X, -LARGEST, LARGEST)
