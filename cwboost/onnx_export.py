"""Export of fitted classifiers to ONNX; needs onnx.

One tree-ensemble operator computes the weak learners' outputs, which are small whole numbers and
therefore exact in any precision. The graph multiplies them by the coefficients in float64, so its
scores agree with those of cwboost up to the last few bits. Sums inside the operator would be
rounded to float32.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from cwboost.baselines.adaboost import DECODED_UNIT
from cwboost.ensemble.export_rules import rule_of
from cwboost.families.flat_forms import ThresholdTrees, stump_trees
from cwboost.families.joined_trees import plain_features
from cwboost.input.checks import check_choice
from cwboost.kernels import log
from cwboost.support.extras import extra

if TYPE_CHECKING:
    import onnx

    from cwboost.base import BoostingClassifier
    from cwboost.target_statistics import TargetStatistics

OPSET, ML_OPSET = 17, 3

_NOTHING = stump_trees(np.array([-1]), np.zeros(1), *np.ones((2, 1), dtype=np.int8))
"""One constant, the learner of a model without learners."""


def to_onnx(
    classifier: BoostingClassifier, *, n_estimators: int | None = None, input_dtype: str = "float64"
) -> onnx.ModelProto:
    """Convert a fitted classifier to an ONNX model.

    Parameters
    ----------
    classifier : fitted classifier whose family implements `WeakLearners.flat_form`
        The families of cwboost (stumps, trees and projections) implement it.
    n_estimators : int, optional
        Use the first rounds only.
    input_dtype : {"float64", "float32"}, default="float64"
        Type of the input. Labels and scores on float32 features equal those of cwboost on the same
        float32 features.

    Returns
    -------
    onnx.ModelProto
        Input ``X``, of type `input_dtype` and shape (n_samples, n_features). Outputs ``label``, of
        the labels' type; ``scores``, float64 of shape (n_samples, n_classes), two columns for two
        classes; and ``probabilities``, of the same shape. A categorical column of ``X`` holds
        codes: the place of the category in ``categories_``, which the model's metadata repeat as
        JSON under "categories", and NaN for a missing or unknown one.

    Raises
    ------
    ImportError
        If the package onnx is not installed.
    NotFittedError
    NotImplementedError
        If the family does not implement `WeakLearners.flat_form`.
    TypeError
        If `classifier` is not a classifier of cwboost, defines its own scores or probabilities, or
        has labels of a type that ONNX does not have.
    """
    with extra("onnx", "export needs onnx"):
        import onnx
    check_is_fitted(classifier)
    decode, logits = (
        _rule(classifier, method, known)
        for method, known in (("_class_scores", CLASS_SCORES), ("_logits", LOGITS))
    )
    check_choice("input_dtype", input_dtype, ("float64", "float32"))
    graph = _Graph(onnx, input_dtype)
    ensemble, base = classifier.ensemble_, classifier.init_
    ensemble.path.check_rounds(n_estimators, "n_estimators")
    _, learners, coef = ensemble.used(n_estimators)
    trees = learners.flat_form() if len(learners) else _NOTHING
    if trees is None:
        raise NotImplementedError(
            f"the weak learner {classifier.family_.name!r} cannot be exported to ONNX: its "
            "learners have no flat form (of thresholds on derived features, define direction)"
        )
    coef = coef.toarray() if len(learners) else np.zeros((1, ensemble.n_scores))
    statistics = classifier.model_.statistics
    features = graph.features if statistics is None else _with_statistics(graph, statistics)
    outputs = _outputs(graph, trees, features)
    name = "scores" if decode is None else "bits"
    votes = name if base is None else "votes_of_learners"
    _votes(graph, outputs, trees, coef)
    graph.add("Add", ["votes", graph.constant("offset", ensemble.offset(n_estimators))], votes)
    if base is not None:
        scores = base.fitted.onnx_nodes(graph, graph.features)
        factor = graph.constant_of_type("init_factor", base.factor)
        graph.add("Add", [votes, graph.add("Mul", [scores, factor], "base_scores")], name)
    if decode is not None:
        decode(graph, classifier)
    _label(graph, classifier)
    scale = classifier.model_.scale_at(n_estimators)
    scaled = "scores" if logits is None else logits(graph, scale)
    graph.add("Softmax", [scaled], "probabilities", axis=1)
    return graph.model(classifier)


def _rule(classifier, method, known):
    """Return the function that converts a method to nodes, by the rule that the method names."""
    rule = rule_of(classifier, method)
    if rule not in known:
        raise TypeError(
            f"classifier must not override {method}, as {type(classifier).__name__} does: to_onnx "
            "cannot convert it"
        )
    return known[rule]


class _Graph:
    """Builder of a model: collects nodes and constants.

    `features` names the input as float64, in which thresholds are compared and directions summed.
    """

    def __init__(self, onnx, input_dtype: str):
        self.onnx = onnx
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.input_type = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(input_dtype))
        self.features = self.cast("X", "features", np.float64)

    def constant(self, name: str, value) -> str:
        self.constants.append(self.onnx.numpy_helper.from_array(np.asarray(value), name))
        return name

    def constant_of_type(self, name: str, value, dtype=np.float64) -> str:
        return self.constant(name, np.asarray(value, dtype=dtype))

    def cast(self, name: str, output: str, dtype) -> str:
        to = self.onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        return self.add("Cast", [name], output, to=to)

    def add(self, operator: str, inputs, output: str, **attributes) -> str:
        self.nodes.append(self.onnx.helper.make_node(operator, inputs, [output], **attributes))
        return output

    def model(self, classifier):
        helper, double = self.onnx.helper, self.onnx.TensorProto.DOUBLE
        n_classes = len(classifier.classes_)
        labels = helper.np_dtype_to_tensor_dtype(_label_array(classifier).dtype)
        graph = helper.make_graph(
            self.nodes,
            "cwboost",
            [helper.make_tensor_value_info("X", self.input_type, ["n", classifier.n_features_in_])],
            [
                helper.make_tensor_value_info("label", labels, ["n"]),
                helper.make_tensor_value_info("scores", double, ["n", n_classes]),
                helper.make_tensor_value_info("probabilities", double, ["n", n_classes]),
            ],
            self.constants,
        )
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
        model = helper.make_model(graph, opset_imports=opsets, producer_name="cwboost")
        if classifier._schema.categories:
            helper.set_model_props(model, {"categories": _categories_json(classifier)})
        model.ir_version = 8  # the version of the first runtimes with these operator sets
        self.onnx.checker.check_model(model)
        return model


def _categories_json(classifier) -> str:
    """Return the categories of each categorical column, by its name or place, as JSON."""
    names = getattr(classifier, "feature_names_in_", None)
    return json.dumps(
        {
            str(place if names is None else names[place]): known.tolist()
            for place, known in classifier._schema.categories.items()
        }
    )


def _with_statistics(graph: _Graph, statistics: TargetStatistics) -> str:
    """Add nodes that replace codes by the shares of classes; return the name of all features."""
    parts = []
    for f in range(statistics.n_columns):
        shares = statistics.shares_of(f)
        at = graph.constant(f"column{f}", np.array([f] if shares is None else f))
        column = graph.add("Gather", [graph.features, at], f"values{f}", axis=1)
        if shares is not None:
            unknown = graph.constant_of_type(f"unknown{f}", len(shares) - 1)
            lost = graph.add("IsNaN", [column], f"isnan{f}")
            code = graph.add("Where", [lost, unknown, column], f"known{f}")
            rows = [graph.constant(f"shares{f}", shares), graph.cast(code, f"rows{f}", np.int64)]
            column = graph.add("Gather", rows, f"share{f}", axis=0)
        parts.append(column)
    return graph.add("Concat", parts, "with shares", axis=1)


def _outputs(graph: _Graph, trees: ThresholdTrees, features: str) -> str:
    """Add nodes for the outputs of the weak learners, one column per learner, as float64.

    A graded learner has one column per output.
    """
    if trees.directions is not None:
        linear, trees = _linear(graph, features, trees)
        features = _with_plain_features(graph, features, linear, trees)
    attributes = _tree_attributes(trees)
    thresholds = graph.onnx.numpy_helper.from_array(trees.threshold, "thresholds")
    weights = graph.onnx.numpy_helper.from_array(
        trees.output[trees.feature < 0].astype(np.float64).ravel(), "weights"
    )
    outputs = graph.add(
        "TreeEnsembleRegressor",
        [features],
        "outputs in single precision",
        domain="ai.onnx.ml",
        nodes_values_as_tensor=thresholds,
        target_weights_as_tensor=weights,
        **attributes,
    )
    return graph.cast(outputs, "outputs", np.float64)


def _linear(graph: _Graph, features: str, trees: ThresholdTrees) -> tuple[str, ThresholdTrees]:
    """Add nodes for the linear features, ordered by fill; return the trees with that order."""
    parts = trees.by_fill()
    order, names = np.concatenate([own for _, own, _ in parts]), []
    for k, (fill, _, directions) in enumerate(parts):
        name = features
        if fill is not None:
            gaps = [graph.add(op, [features], f"{op}{k}") for op in ("IsNaN", "IsInf")]
            gap = graph.add("Or", gaps, f"gap{k}")
            name = graph.add("Where", [gap, graph.constant(f"fill{k}", fill), features], f"full{k}")
        inputs = [name, graph.constant(f"directions{k}", directions)]
        names.append(graph.add("MatMul", inputs, f"linear{k}"))
    moved = replace(
        trees,
        feature=np.append(np.argsort(order), -1).astype(np.int32)[trees.feature],
        directions=np.hstack([directions for *_, directions in parts]),
        fill_of=None if trees.fill_of is None else trees.fill_of[order],
    )
    return graph.add("Concat", names, "linear", axis=1), moved


def _votes(graph: _Graph, outputs: str, trees: ThresholdTrees, coef: np.ndarray) -> None:
    """Add nodes for the sums of outputs times coefficients, (n_trees, n_scores)."""
    if trees.output.ndim == 1:
        graph.add("MatMul", [outputs, graph.constant("coef", coef)], "votes")
        return
    shape = graph.constant("by_tree", np.array([-1, len(trees), trees.n_outputs]))
    rows = graph.add("Reshape", [outputs, shape], "rows of outputs")
    steps = graph.add("Mul", [rows, graph.constant("coef", coef)], "steps")
    graph.add("ReduceSum", [steps, graph.constant("trees", np.array([1]))], "votes", keepdims=0)


def _with_plain_features(graph: _Graph, features: str, linear: str, trees: ThresholdTrees) -> str:
    """Replace linear features that are plain ones, which NaN of other features must not reach."""
    feature = plain_features(trees)
    if not (feature >= 0).any():
        return linear
    place = graph.constant("plain", np.maximum(feature, 0).astype(np.int64))
    plain = graph.add("Gather", [features, place], "plain_features", axis=1)
    return graph.add("Where", [graph.constant("is_plain", feature >= 0), plain, linear], "mixed")


def _tree_attributes(trees: ThresholdTrees) -> dict:
    """Return the attributes of the operator: a target per tree and output, of weights by leaf."""
    sizes = np.diff(trees.offsets)
    tree = np.repeat(np.arange(len(sizes)), sizes)
    place = np.arange(len(trees.feature)) - np.repeat(trees.offsets[:-1], sizes)
    leaf = trees.feature < 0
    left, n_outputs = np.where(leaf, 0, trees.left), trees.n_outputs
    targets = tree[leaf, None] * n_outputs + np.arange(n_outputs)
    attributes = {
        "n_targets": len(sizes) * n_outputs,
        "aggregate_function": "SUM",
        "post_transform": "NONE",
        "nodes_treeids": tree.tolist(),
        "nodes_nodeids": place.tolist(),
        "nodes_featureids": np.where(leaf, 0, trees.feature).tolist(),
        "nodes_modes": np.where(leaf, "LEAF", "BRANCH_GT").tolist(),
        "nodes_truenodeids": np.where(leaf, 0, left + 1).tolist(),
        "nodes_falsenodeids": left.tolist(),
        "target_treeids": np.repeat(tree[leaf], n_outputs).tolist(),
        "target_nodeids": np.repeat(place[leaf], n_outputs).tolist(),
        "target_ids": targets.ravel().tolist(),
    }
    missing = trees.missing > 0
    if missing.any():
        attributes["nodes_missing_value_tracks_true"] = missing.astype(int).tolist()
    return attributes


def _label_array(classifier) -> np.ndarray:
    """Return the labels in a type that ONNX has."""
    classes = classifier.classes_
    if classes.dtype.kind in "biuf" and classes.dtype.itemsize <= 8:
        return classes
    if all(isinstance(label, str) for label in classes.tolist()):
        return classes.astype(object)
    raise TypeError(f"labels must be numbers, bools or strings, got dtype {classes.dtype}")


def _decoded(graph: _Graph, classifier) -> None:
    """Add nodes that decode the scores of code bits, as `AdaBoostMOClassifier` does."""
    code = classifier.code_.T.astype(np.float64)
    log_sum = _log_sum_exp(graph, "bits", -code, axis=1)
    log_bits = graph.constant("log_bits", log(np.float64(len(code))))
    log_mean = graph.add("Sub", [log_sum, log_bits], "log_mean")
    unit = graph.constant("unit", np.float64(DECODED_UNIT))
    whole = graph.add("Round", [graph.add("Div", [log_mean, unit], "in_units")], "whole")
    graph.add("Mul", [whole, graph.constant("minus_unit", np.float64(-DECODED_UNIT))], "scores")


def _log_sum_exp(graph: _Graph, name: str, factors: np.ndarray, axis: int) -> str:
    """Add nodes for the logarithm of the sum, over an axis, of the exponentials of the products.

    The operator subtracts the largest of them first, so that nothing overflows.
    """
    axes = graph.constant("last", np.array([2]))
    wide = graph.add("Unsqueeze", [name, axes], "wide")
    products = graph.add("Mul", [wide, graph.constant("factors", factors)], "products")
    return graph.add("ReduceLogSumExp", [products], "log_sum", axes=[axis], keepdims=0)


def _label(graph: _Graph, classifier) -> None:
    index = graph.add("ArgMax", ["scores"], "index", axis=1, keepdims=0)
    graph.add("Gather", [graph.constant("classes", _label_array(classifier)), index], "label")


def _scaled_scores(graph: _Graph, scale: float) -> str:
    factor = graph.constant_of_type("scale", scale)
    return graph.add("Mul", ["scores", factor], "scaled")


def _log_of_each_label(graph: _Graph, scale: float) -> str:
    """Add nodes for -log(1 + exp(-2 F)) of every class, as in `AdaBoostMHClassifier`."""
    log_sum = _log_sum_exp(graph, "scores", np.array([0.0, -2.0]), axis=2)
    return graph.add("Neg", [log_sum], "log_each")


CLASS_SCORES = {"identity": None, "decoded code": _decoded}
LOGITS = {
    "scaled": _scaled_scores,
    "scores": None,
    "logistic per label": _log_of_each_label,
}
"""Functions that convert scores and probabilities to nodes, by rule; None takes what is there."""
