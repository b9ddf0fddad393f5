"""Text for cwboost: base scores by TF-IDF, and columns of text as class scores."""

import narwhals as nw
import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_is_fitted

import cwboost


def counts_of(X):
    """Return X as CSR counts, columns in order; NaN counts nothing."""
    counts = sparse.csr_array(X, dtype=np.float64).sorted_indices()
    counts.data = np.nan_to_num(counts.data, posinf=np.inf)
    if not ((counts.data >= 0) & np.isfinite(counts.data)).all():
        raise ValueError("X must be counts of terms for the init model 'tfidf', got other numbers")
    return counts


def weighted(counts, idf):
    """Return rows of unit length: logarithms of the counts by how rare the terms are."""
    values = np.log1p(counts.data) * idf[counts.indices]
    return normalize(sparse.csr_array((values, counts.indices, counts.indptr), shape=counts.shape))


class FittedTfidf(cwboost.FittedInit):
    """A logistic regression on terms weighted by TF-IDF."""

    def __init__(self, idf, coef, intercept):
        self.idf, self.coef, self.intercept = idf, coef, intercept

    def scores(self, X, n_threads=1):
        return weighted(counts_of(X), self.idf) @ self.coef + self.intercept  # row by row

    def shapley_values(self, X, background=None, n_threads=1):
        """Return what each term adds to the scores of an empty text, or of a mean one."""
        origin = np.zeros(len(self.idf))
        if background is not None:
            origin = weighted(counts_of(background), self.idf).mean(axis=0)
        steps = weighted(counts_of(X), self.idf).toarray() - origin
        return steps[:, :, None] * self.coef, origin @ self.coef + self.intercept

    def arrays(self):
        return {"idf": self.idf, "coef": self.coef, "intercept": self.intercept}

    @classmethod
    def from_arrays(cls, arrays, n_features, n_classes):
        shapes = {"idf": (n_features,), "coef": (n_features, n_classes), "intercept": (n_classes,)}
        found = cwboost.check_arrays(arrays, {name: ("float64", shapes[name]) for name in shapes})
        if not all((abs(array) < 1e100).all() for array in found):
            raise ValueError(f"arrays {', '.join(shapes)} must hold numbers below 1e100")
        return cls(*found)


class TfidfInit(cwboost.InitModel):
    """Base scores of counted terms: TF-IDF, then a cross-fitted logistic regression.

    Parameters
    ----------
    C : float, default=3.0
        Inverse strength of the regularization.
    """

    name = "tfidf"
    api_version = 1
    fitted_type = FittedTfidf

    def __init__(self, C=3.0):
        self.C = C

    def fit(self, X, y, context):
        if context.categorical is not None:
            raise ValueError(
                "X must be counts of terms for the init model 'tfidf', got text or categories: "
                "count the terms by CountVectorizer (in a file: NPZ), or put TextScores before the "
                "classifier, in Python"
            )
        counts = counts_of(X)
        scores = np.empty((len(y), context.n_classes))
        for fold in np.unique(context.folds):
            train, test = context.folds != fold, context.folds == fold
            if len(np.unique(y[train])) < context.n_classes:
                return None, None  # boosting starts without it
            fitted = self._fitted(counts[train], y[train], context.weight[train])
            scores[test] = fitted.scores(counts[test])
        return self._fitted(counts, y, context.weight), scores

    def _fitted(self, counts, y, weight):
        per_example = weight * (len(y) / weight.sum())
        seen_in = (counts > 0).T @ per_example
        idf = 1 + np.log((1 + len(y)) / (1 + seen_in))
        model = LogisticRegression(C=self.C, tol=1e-3, max_iter=300)
        model.fit(weighted(counts, idf), y, weight)
        coef, intercept = model.coef_.T, model.intercept_
        if len(intercept) == 1:  # of the second class alone
            coef, intercept = np.hstack([-coef, coef]) / 2, np.append(-intercept, intercept) / 2
        return FittedTfidf(idf, np.ascontiguousarray(coef), intercept)


class TextScores(TransformerMixin, BaseEstimator):
    """Replace a column of text in a frame by scores of the classes, one column per class.

    `fit_transform`, which pipelines call, scores training rows without their own labels.

    Parameters
    ----------
    column : str
        A missing text is an empty one.
    ngram_range : tuple of two ints, default=(1, 2)
    min_df : int, default=2
        A term occurs in as many training texts at least.
    C : float, default=3.0
        As of `TfidfInit`.
    """

    def __init__(self, column, ngram_range=(1, 2), min_df=2, C=3.0):
        self.column = column
        self.ngram_range = ngram_range
        self.min_df = min_df
        self.C = C

    def fit(self, X, y):
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X, y):
        self.vectorizer_ = CountVectorizer(ngram_range=self.ngram_range, min_df=self.min_df)
        counts = self.vectorizer_.fit_transform(self._texts(X))
        self.classes_, codes = np.unique(y, return_inverse=True)
        n_folds = min(5, int(np.bincount(codes).min()))
        if n_folds < 2:
            raise ValueError("y must have two examples of each class")
        folds = np.empty(len(codes), dtype=np.int64)
        drawn = StratifiedKFold(n_folds, shuffle=True, random_state=0)
        for fold, (_, test) in enumerate(drawn.split(codes, codes)):
            folds[test] = fold
        context = cwboost.InitContext(
            n_classes=len(self.classes_), weight=np.ones(len(codes)), folds=folds
        )
        self.fitted_, scores = TfidfInit(self.C).fit(counts, codes, context)
        return self._replaced(X, scores)

    def transform(self, X):
        check_is_fitted(self)
        return self._replaced(X, self.fitted_.scores(self.vectorizer_.transform(self._texts(X))))

    def _texts(self, X):
        frame = nw.from_native(X, eager_only=True)
        if self.column not in frame.columns:
            raise ValueError(f"column must be a name of X's columns, got {self.column!r}")
        column = frame[self.column]
        gaps = column.is_null().to_list()
        texts = ["" if gap else text for text, gap in zip(column.to_list(), gaps, strict=True)]
        if not all(isinstance(text, str) for text in texts):
            raise TypeError(f"X: column {self.column!r} must hold text")
        return texts

    def _replaced(self, X, scores):
        frame = nw.from_native(X, eager_only=True)
        new = [
            nw.new_series(f"{self.column}: {label}", own, backend=frame.implementation)
            for label, own in zip(self.classes_, scores.T, strict=True)
        ]
        return frame.drop(self.column).with_columns(*new).to_native()
