"""Export of models of trees and stumps to other packages: treelite, and the package shap.

Both take trees whose leaves have one number per class. A leaf of a learner becomes its outputs
times the learner's coefficients, in float64, and comparisons stay as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from cwboost.ensemble.export_rules import require_votes, rule_of
from cwboost.ensemble.shapley import node_counts
from cwboost.families.flat_forms import ThresholdTrees
from cwboost.support.extras import extra

if TYPE_CHECKING:
    import treelite

    from cwboost.base import BoostingClassifier
    from cwboost.support.types import Features


def to_treelite(
    classifier: BoostingClassifier, *, n_estimators: int | None = None
) -> treelite.Model:
    """Convert a fitted classifier of trees or stumps to a model of the package treelite.

    Parameters
    ----------
    classifier : fitted classifier, with ``init=None`` and without target statistics
    n_estimators : int, default=None
        Use the first rounds only; all by default.

    Returns
    -------
    treelite.Model
        Of float64. Its predictions are the probabilities, its margins the scores times
        ``probability_scale_``. A categorical column holds codes: the place of the category in
        ``categories_``, and NaN for a missing or unknown one.

    Raises
    ------
    ImportError
        If the package treelite is not installed.
    NotFittedError
    TypeError
        If `classifier` is not a classifier of cwboost, has an init model or target statistics, or
        its learners or scores are not sums of trees that compare features.
    """
    with extra("treelite", "to_treelite needs treelite"):
        from treelite import model_builder
    model = _tree_model(classifier, n_estimators)
    if rule_of(classifier, "_logits") != "scaled":
        raise TypeError(
            f"classifier must have probabilities with a scale, got {type(classifier).__name__}"
        )
    scale = classifier.model_.scale_at(n_estimators)
    n_trees, n_classes = model.coef.shape
    builder = model_builder.ModelBuilder(
        threshold_type="float64",
        leaf_output_type="float64",
        metadata=model_builder.Metadata(
            num_feature=classifier.n_features_in_,
            task_type="kMultiClf",
            average_tree_output=False,
            num_target=1,
            num_class=[n_classes],
            leaf_vector_shape=(1, n_classes),
        ),
        tree_annotation=model_builder.TreeAnnotation(n_trees, [0] * n_trees, [-1] * n_trees),
        postprocessor=model_builder.PostProcessorFunc("softmax"),
        base_scores=(scale * model.offset).tolist(),
    )
    for tree, coef in enumerate(scale * model.coef):
        builder.start_tree()
        for node, place in enumerate(model.nodes_of(tree)):
            builder.start_node(node)
            _add_node(builder, model.trees, place, coef)
            builder.end_node()
        builder.end_tree()
    return builder.commit()


def to_shap(
    classifier: BoostingClassifier, background: Features, *, n_estimators: int | None = None
) -> dict[str, Any]:
    """Convert a fitted classifier of trees or stumps to what ``shap.TreeExplainer`` takes.

    Parameters
    ----------
    classifier : fitted classifier, with ``init=None``, of trees that compare no category sets
    background : array-like or sparse matrix of shape (n_samples, n_features)
        Usually the training examples: nodes get the numbers of these examples, from which the
        explainer computes path-dependent values, those of `CWBoostClassifier.shap_values`.
    n_estimators : int, default=None
        Use the first rounds only; all by default.

    Returns
    -------
    dict
        Trees whose output is the scores, shape (n_samples, n_classes). A node that no example
        reaches counts as 1e-6 examples, since the explainer divides by their numbers.

    Raises
    ------
    NotFittedError
    TypeError
        As `to_treelite`.
    """
    model = _tree_model(classifier, n_estimators)
    trees = model.trees
    counts = np.maximum(node_counts(trees, classifier._encoded(background)), 1e-6)
    return {
        "trees": [
            _shap_tree(trees, model.nodes_of(tree), coef, counts)
            for tree, coef in enumerate(model.coef)
        ],
        "base_offset": model.offset,
        "internal_dtype": np.float64,
        "input_dtype": np.float64,
    }


class _TreeModel(NamedTuple):
    """The scores of a model: `offset`, and the outputs of `trees` times the rows of `coef`.

    A tree has one output, or one per row of `coef`.
    """

    trees: ThresholdTrees
    coef: np.ndarray
    offset: np.ndarray

    def nodes_of(self, tree: int) -> range:
        return range(self.trees.offsets[tree], self.trees.offsets[tree + 1])


def _tree_model(classifier, n_estimators) -> _TreeModel:
    check_is_fitted(classifier)
    require_votes(classifier)
    if classifier.init_ is not None:
        raise TypeError(
            f"classifier must be trained with init=None, got the init model "
            f"{classifier.init_.model.name!r}, which is not a sum of trees"
        )
    if classifier.model_.statistics is not None:
        raise TypeError(
            "classifier must be trained with category_encoding='rank', got target statistics, "
            "which trees of other packages do not compute"
        )
    ensemble = classifier.ensemble_
    ensemble.path.check_rounds(n_estimators, "n_estimators")
    _, learners, coef = ensemble.used(n_estimators)
    trees = learners.flat_form()
    if trees is None or trees.directions is not None:
        raise TypeError(
            "classifier must have learners that compare features with thresholds, got the weak "
            f"learner {classifier.family_.name!r}"
        )
    return _TreeModel(trees, coef.toarray(), ensemble.offset(n_estimators))


def _add_node(builder, trees: ThresholdTrees, place: int, coef: np.ndarray) -> None:
    """Add the node at a place to a tree of treelite, which sends what passes a test left."""
    if trees.feature[place] < 0:
        builder.leaf((trees.output[place] * coef).tolist())
        return
    left = int(trees.left[place])
    builder.numerical_test(
        int(trees.feature[place]),
        float(trees.threshold[place]),
        default_left=bool(trees.missing[place] < 0),
        opname="<=",
        left_child_key=left,
        right_child_key=left + 1,
    )


def _shap_tree(
    trees: ThresholdTrees, nodes: range, coef: np.ndarray, counts: np.ndarray
) -> dict[str, np.ndarray]:
    own = slice(nodes.start, nodes.stop)
    left = trees.left[own]
    right = np.where(left < 0, -1, left + 1).astype(np.int32)
    return {
        "children_left": left,
        "children_right": right,
        "children_default": np.where(trees.missing[own] > 0, right, left),
        "features": trees.feature[own],
        "thresholds": trees.threshold[own],
        "values": trees.output[own].reshape(-1, trees.n_outputs) * coef,
        "node_sample_weight": counts[own],
    }
