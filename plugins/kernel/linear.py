"""The linear init model: logistic regression on the codes, which costs next to nothing."""

import numpy as np
from cwboost.plugins.kernel.codes import PER_DEVIATION, FeatureCodes
from cwboost.plugins.kernel.expansion import Expansion
from cwboost.plugins.kernel.fitting import evenly_spaced
from cwboost.plugins.kernel.kernel_values import UNIT
from cwboost.plugins.kernel.logistic import LogisticRegression
from cwboost.plugins.kernel.on_codes import FittedOnCodes, of_every_class, read_arrays
from cwboost.plugins.kernel.regression import Coefficients, whole_weights
from scipy import sparse

from cwboost import InitModel

FEWEST_EXAMPLES, MOST_FEATURES, MOST_CLASSES = 50, 128, 30
"""Limits of what the model suits; features are the expanded ones."""

MOST = 4096
"""Largest number of examples that the regression takes."""

PENALTY, FREE = 10.0, 1e-3
"""Penalties of a coefficient per standard deviation, and of the intercept."""


class FittedLinear(FittedOnCodes):
    """Scores linear in codes: `coefficients`, (n_expanded, n_scores), and `intercept`."""

    def __init__(self, expansion: Expansion, codes: FeatureCodes, coefficients, intercept):
        super().__init__(expansion, codes)
        self.coefficients, self.intercept = coefficients, intercept
        self.exact = Coefficients(UNIT * coefficients)

    @property
    def n_scores(self) -> int:
        return len(self.intercept)

    def scoring(self):
        return lambda codes: self.exact.scores(codes) + self.intercept

    def shapley_values(self, X, background=None, n_threads: int = 1):
        """Return coefficients times codes, less those of the mean row, or of a background."""
        origin = np.zeros(len(self.expansion))
        if background is not None:
            origin = self.coded(background).mean(axis=0, dtype=np.float64)
        apart, to_columns = self.coded(X) - origin, self.to_columns(X.shape[1])
        values = np.empty((*X.shape, self.n_scores))
        for k, column in enumerate(self.coefficients.T):
            values[:, :, k] = (to_columns @ (apart * column).T).T
        base = (origin[:, None] * self.coefficients).sum(axis=0) + self.intercept
        return of_every_class(values), of_every_class(base)

    def onnx_nodes(self, graph, features: str) -> str:
        from cwboost.plugins.kernel.graph import add_linear_nodes

        return add_linear_nodes(graph, self, features)

    def arrays(self) -> dict[str, np.ndarray]:
        own = {"coefficients": self.coefficients, "intercept": self.intercept}
        return super().arrays() | own

    @classmethod
    def from_arrays(cls, arrays, n_features: int, n_classes: int):
        n_scores = 1 if n_classes == 2 else n_classes
        own = {
            "coefficients": ("float64", ("expanded", n_scores), _are_moderate),
            "intercept": ("float64", (n_scores,), _are_moderate),
        }
        expansion, codes, found = read_arrays(arrays, n_features, own)
        return cls(expansion, codes, *found)


def _are_moderate(values) -> bool:
    return bool((np.abs(values) <= 1e90).all())


class LinearInit(InitModel):
    """Logistic regression with out-of-sample scores: trees then correct what is not linear.

    Gaps are filled with means and marked; categories become indicators, of the 30 most frequent of
    a column. Features are standardised, and cut off at eight standard deviations. The regression
    takes up to 4,096 of the examples, evenly spaced, and suits up to 128 expanded features and 30
    classes.
    """

    name = "linear"
    api_version = 1
    fitted_type = FittedLinear

    def fit(self, X, y, context):
        return self.fit_rows(X, np.arange(len(y)), y, context)

    def fit_rows(self, X, rows, y, context):
        n, n_classes = len(y), context.n_classes
        is_large = X.shape[1] > MOST_FEATURES or n_classes > MOST_CLASSES
        if sparse.issparse(X) or n < FEWEST_EXAMPLES or is_large:
            return None, None
        used = evenly_spaced(n, MOST)
        expansion = Expansion.of(X, rows, context.categorical, rows[used])
        if not 0 < len(expansion) <= MOST_FEATURES:
            return None, None
        expanded = expansion(X[rows[used]])
        codes = FeatureCodes.standardised(expanded, len(expansion.numeric))
        if not codes.scale.any():
            return None, None

        def fitted_linear(found) -> FittedLinear:
            own = (found[:, :1] - found[:, 1:]) / 2 if n_classes == 2 else found
            return FittedLinear(expansion, codes, own[:-1], PER_DEVIATION * own[-1])

        # The last number of a row is the 1 of the intercept, in the unit of the others.
        design = np.column_stack([codes(expanded), np.full(len(used), PER_DEVIATION)])
        penalty = np.append(np.full(len(expansion), PENALTY), FREE) * PER_DEVIATION**2
        targets = (y[used][:, None] == np.arange(n_classes)).astype(np.float64)
        weight = whole_weights(context.weight[used])
        regression = LogisticRegression(design, targets, weight, penalty, context.n_threads)
        folds = [np.flatnonzero(context.folds[used] == k) for k in range(context.folds.max() + 1)]
        scores = np.empty((n, n_classes))
        for fold, found in enumerate(regression.without(folds)):
            own = np.flatnonzero(context.folds == fold)
            fitted_linear(found).score_rows(X, rows, own, scores, context.n_threads)
        return fitted_linear(regression.coefficients), scores
