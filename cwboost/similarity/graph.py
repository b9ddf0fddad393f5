"""Scores of similarity as nodes of an ONNX graph, with the same bits: their sums are exact."""

from __future__ import annotations

import numpy as np

from cwboost.similarity.codes import (
    BLOCK,
    HIGHEST_LEVEL,
    LARGEST,
    LEVELS_PER_UNIT,
    LOWEST,
    squares,
)
from cwboost.similarity.likeness import TAIL, UNIT
from cwboost.similarity.scores import SimilarityScores

__all__ = ["add_nodes"]


def add_nodes(graph, similarity: SimilarityScores | None) -> None:
    """Fill missing features of a graph of `cwboost.onnx_export`; append the scores as levels."""
    if similarity is None:
        return
    number = graph.constant_of_type
    lost = graph.add("IsNaN", [graph.features], "s_lost")
    filled = graph.add("Where", [lost, number("s_fill", similarity.fill), graph.features], "s_x")
    scores = _scores(graph, similarity, _distances(graph, similarity, filled))
    graph.features = graph.add("Concat", [filled, scores], "s_features", axis=1)


def _distances(graph, similarity: SimilarityScores, features: str) -> str:
    """Add nodes for the squared distances from the landmarks, as float32."""
    number, landmarks = graph.constant_of_type, similarity.landmarks
    # The types of `cwboost.similarity.likeness.Landmarks.distances`.
    real = np.float32 if landmarks.shape[1] <= BLOCK else np.float64
    codes = graph.cast(_codes(graph, similarity, features), "s_codes_real", real)
    inner = graph.add("MatMul", [codes, number("s_landmarks", landmarks.T, real)], "s_inner")
    apart = graph.add("Mul", [inner, number("s_-2", -2.0, real)], "s_apart")
    squared = graph.add("Mul", [codes, codes], "s_codes_squared")
    ones = number("s_ones", np.ones((landmarks.shape[1], 1)), real)
    apart = graph.add("Add", [apart, graph.add("MatMul", [squared, ones], "s_own")], "s_plus_own")
    others = number("s_others", squares(landmarks.astype(np.float32)), real)
    apart = graph.add("Add", [apart, others], "s_distances")
    apart = graph.add("Max", [apart, number("s_0", 0.0, real)], "s_distances_above_0")
    return graph.cast(apart, "s_distances_32", np.float32)


def _codes(graph, similarity: SimilarityScores, features: str) -> str:
    """Add nodes for the codes of the features, as float64."""
    number, codes = graph.constant_of_type, similarity.codes
    centred = graph.add("Sub", [features, number("s_centre", codes.centre)], "s_centred")
    scaled = graph.add("Mul", [centred, number("s_scale", codes.scale)], "s_scaled")
    none = graph.add("IsNaN", [scaled], "s_none")
    counted = graph.add("Where", [none, number("s_zero", 0.0), scaled], "s_counted")
    rounded = graph.add("Round", [counted], "s_rounded")
    limits = number("s_least", -LARGEST), number("s_most", LARGEST)
    return graph.add("Clip", [rounded, *limits], "s_codes")


def _scores(graph, similarity: SimilarityScores, distances: str) -> str:
    """Add nodes for the scores as levels, as float64."""
    number, real = graph.constant_of_type, np.float32
    narrowness = number("s_narrowness", 1.0 / (TAIL * similarity.width), real)
    grown = graph.add("Mul", [distances, narrowness], "s_grown")
    grown = graph.add("Add", [grown, number("s_1", 1.0, real)], "s_grown_1")
    for power in ("2", "4"):
        grown = graph.add("Mul", [grown, grown], f"s_grown_{power}")
    fallen = graph.add("Div", [number("s_unit", UNIT, real), grown], "s_fallen")
    alike = graph.cast(graph.add("Round", [fallen], "s_alike_32"), "s_alike", np.float64)
    rounded = similarity.rounded
    scores = graph.add("MatMul", [alike, number("s_coefficients", rounded.whole)], "s_whole")
    scores = graph.add("Mul", [scores, number("s_per_unit", rounded.unit / UNIT)], "s_scores")
    above = graph.add("Sub", [scores, number("s_lowest", LOWEST)], "s_above")
    levels = graph.add("Mul", [above, number("s_levels_per_unit", LEVELS_PER_UNIT)], "s_steps")
    limits = number("s_level_0", 0.0), number("s_level_255", HIGHEST_LEVEL)
    return graph.add("Clip", [graph.add("Round", [levels], "s_whole_steps"), *limits], "s_levels")
