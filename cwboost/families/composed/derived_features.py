"""A base class for families of thresholds on features that the author computes."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from inspect import signature
from typing import Any, ClassVar

import numpy as np

from cwboost.families.composed.derived_learners import RESERVED, DerivedLearners
from cwboost.families.composed.derived_partitions import DerivedCoordinator
from cwboost.families.composed.derived_pricing import DerivedPricer
from cwboost.families.composed.drawing import DrawContext
from cwboost.families.composed.filling import taken_columns
from cwboost.families.contract import BindContext, Capabilities, Pricer, WeakLearnerFamily
from cwboost.families.partitioned import Coordinator, PartitionedFamily
from cwboost.support.types import Matrix

WITHOUT_SELF = ("transform", "direction", "origin", "check_stored")
"""Methods that a loaded model calls, which has no hyper-parameters."""


class DerivedFeatureFamily(PartitionedFamily, WeakLearnerFamily):
    """Base of families whose learners compare a feature derived from the data with a threshold.

    A subclass defines how derived features are drawn (`draw`) and computed: by `transform`, or, if
    they are linear in the features, by `direction`. This class searches thresholds and constants,
    on one machine and on a cluster, stores learners and predicts. A learner is `polarity` if its
    derived feature exceeds the threshold, `missing` if it is NaN, else ``-polarity``.

    X is a table of any kind. The methods below see its columns of numbers: those of more than two
    categories are left out, and NaN and infinities are replaced by the median of the column, by
    weight, among the examples that `draw` sees.

    Attributes
    ----------
    layout : dict of str to (dtype, shape)
        Class attribute: the parameters of one derived feature, as for `ArrayLearners`; a shape is
        a tuple of ints, ``"n_features"`` and names of lengths of your own, ``()`` for a number.
    shared : dict of str to (dtype, shape), default={}
        Class attribute: arrays that all derived features use, such as landmarks; see `draw_shared`.
    redraw : bool, default=True
        Class attribute. True: features are drawn in every round. False: they are drawn once, and
        sorted once.
    exhaustive : bool, default=False
        Class attribute. True if `draw` returns every derived feature that the family has: pricing
        is exact then.
    sample_size : int, default=4096
        Class attribute: the number of examples that `draw` sees at most.
    capabilities : Capabilities
        Class attribute or property. With ``sparse_input``, X may be a CSR matrix, also in `draw`
        and `transform`. A class attribute with ``missing_values`` means that the methods see X as
        it is, with gaps and codes of categories; ``missing_values`` is added to any other.

    Examples
    --------
    >>> import numpy as np
    >>> from cwboost import DerivedFeatureFamily
    >>> class Differences(DerivedFeatureFamily):
    ...     name = "difference"
    ...     api_version = 1
    ...     layout = {"first": ("int64", ()), "second": ("int64", ())}
    ...
    ...     def __init__(self, n_derived=50):
    ...         self.n_derived = n_derived
    ...
    ...     def draw(self, context):
    ...         size = 2, self.n_derived
    ...         first, second = context.random_state.integers(context.X.shape[1], size=size)
    ...         return {"first": first, "second": second}
    ...
    ...     @staticmethod
    ...     def transform(X, first, second):
    ...         return X[:, first] - X[:, second]
    """

    layout: ClassVar[Mapping[str, tuple[str, tuple]]]
    shared: ClassVar[Mapping[str, tuple[str, tuple]]] = {}
    redraw: ClassVar[bool] = True
    exhaustive: ClassVar[bool] = False
    sample_size: ClassVar[int] = 4096
    capabilities = Capabilities(symmetric=True, missing_values=True)
    sees_all: ClassVar[bool] = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        declared = vars(cls).get("capabilities")
        if isinstance(declared, Capabilities):
            cls.sees_all = declared.missing_values
            cls.capabilities = replace(declared, missing_values=True)
        for name in sorted(vars(cls).keys() & WITHOUT_SELF):
            if not isinstance(vars(cls)[name], staticmethod | classmethod):
                raise TypeError(
                    f"{cls.__name__}.{name} must not take self, since a loaded model has no "
                    "hyper-parameters: put @staticmethod before it"
                )
        if not hasattr(cls, "layout"):
            if cls.draw is not DerivedFeatureFamily.draw:
                raise TypeError(f"{cls.__name__} must declare the layout of what draw returns")
            return  # A base class of families without a layout of its own.
        taken = sorted({*cls.layout, *cls.shared} & RESERVED)
        if taken:
            raise TypeError(f"{cls.__name__}.layout: the names {taken} belong to the base class")
        hidden = sorted(set(signature(cls.__init__).parameters) & set(dir(DerivedFeatureFamily)))
        if hidden:
            raise TypeError(
                f"{cls.__name__}: the base class has attributes called {hidden}, choose other "
                "names for these hyper-parameters"
            )
        overridden = {name for name in WITHOUT_SELF if _is_overridden(cls, name)}
        if not {"transform", "direction"} & overridden:
            raise TypeError(f"{cls.__name__} must define transform, or direction if it is linear")
        cls.learners_type = DerivedLearners.of_family(cls, overridden)

    @abstractmethod
    def draw(self, context: DrawContext) -> Mapping[str, np.ndarray]:
        """Draw derived features.

        Parameters
        ----------
        context : DrawContext
            Some examples, their classes and weights, the generator.

        Returns
        -------
        dict of str to array-like
            The parameters by the names of `layout`, with one row per derived feature; at least
            one.
        """

    def draw_shared(self, context: DrawContext) -> Mapping[str, np.ndarray]:
        """Return the arrays of `shared`, once for a training matrix, from a `context`; optional.

        `draw` finds them in ``context.shared``; `transform` and the other methods get them as
        arguments. ``context.weights`` is None.
        """
        return {}

    def summarise(self, X: Matrix) -> object:
        """Return what `draw_shared` needs to know of all examples, such as moments; optional.

        On a cluster this is called for each partition, and the result is pickled. `draw_shared`
        finds the results in ``context.summaries``, in an order that does not matter.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_features), dtype uint8, float32 or float64
        """
        return None

    # Below, `*_` makes type checkers accept overrides that name the parameters of their layout.
    @classmethod
    def transform(cls, X: Matrix, *_: Any, **parameters: Any) -> np.ndarray:
        """Compute derived features; not needed if `direction` is defined.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features), dtype float64
        **parameters : ndarray
            By the names of `layout`, with one row per derived feature, and of `shared`.

        Returns
        -------
        ndarray of shape (n_samples, n_derived)
            NaN is a missing value; overflow and division by zero raise no warning here. Each row
            must depend on that row of X alone, to the last bit. A product with BLAS
            (``X @ directions``) does not promise that; `cwboost.kernels.Projector` does.
        """
        raise NotImplementedError(f"{cls.__name__} does not define transform")

    @classmethod
    def direction(cls, n_features: int, *_: Any, **parameters: Any) -> np.ndarray:
        """Return the directions of linear derived features; optional.

        With them, learners have a flat form: importances, SHAP values of directions and export to
        ONNX. If `transform` is not defined, X is read as it is, sparse or of few bytes per value.

        Parameters
        ----------
        n_features : int
        **parameters : ndarray
            As for `transform`.

        Returns
        -------
        ndarray of shape (n_features, n_derived), finite
            The derived features are ``X @ directions``, with an `origin`
            ``(X - origin) @ directions``.
        """
        raise NotImplementedError(f"{cls.__name__} does not define direction")

    @classmethod
    def origin(cls, n_features: int, *_: Any, **parameters: Any) -> np.ndarray:
        """Return a row near the examples, whose derived features become 0; optional.

        Derived features are then rounded to float32, which is faster to sort. Not used with
        `transform`.

        Parameters
        ----------
        n_features : int
        **parameters : ndarray
            As for `transform`.

        Returns
        -------
        ndarray of shape (n_features,), finite
        """
        raise NotImplementedError(f"{cls.__name__} does not define origin")

    def check_parameters(self, n_features: int) -> None:
        """Raise ValueError that names a hyper-parameter out of range; `bind` calls this.

        `n_features` is the number of columns of the training matrix.
        """

    @classmethod
    def check_stored(cls, n_features: int, *_: Any, **parameters: Any) -> None:
        """Raise ValueError for `parameters` of a file that `transform` cannot take; optional.

        The file is for `n_features` features. Names, dtypes and shapes are right here, and a file
        with which `transform` raises an error is refused afterwards.
        """

    def bind(self, X: Matrix, context: BindContext) -> Pricer:
        return DerivedPricer(self, X, self._taken(X.shape[1], context), context)

    def describe(self, X: Matrix) -> int:
        return X.shape[1]

    def coordinator(self, descriptions: list, context: BindContext) -> Coordinator:
        taken = self._taken(descriptions[0], context)
        return DerivedCoordinator(self, taken, context.class_counts)

    def _taken(self, n_features: int, context: BindContext) -> np.ndarray | None:
        """Return which columns the family takes, None if it sees all; check its parameters."""
        taken = None
        if not self.sees_all:
            taken = taken_columns(self.name, n_features, context.n_categories)
            n_features = int(taken.sum())
        self.check_parameters(n_features)
        return taken


def _is_overridden(family: type[DerivedFeatureFamily], name: str) -> bool:
    base = vars(DerivedFeatureFamily)[name].__func__
    return getattr(getattr(family, name), "__func__", None) is not base
