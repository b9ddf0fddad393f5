"""The scores as nodes of an ONNX graph, with the same bits: their sums are exact."""

import numpy as np
from cwboost.plugins.kernel.codes import LARGEST
from cwboost.plugins.kernel.expansion import LIMIT, Expansion
from cwboost.plugins.kernel.kernel_values import BLOCK, TAIL, UNIT


def add_nodes(graph, model, features: str) -> str:
    """Add nodes for the scores of a `FittedKernel` and return their name."""
    number, real = graph.constant_of_type, np.float32
    expanded = _expanded(graph, model.expansion, features)
    distances = _distances(graph, model.landmarks, _codes(graph, model.codes, expanded))
    narrowness = number("init_narrowness", 1.0 / (TAIL * model.width), real)
    grown = graph.add("Mul", [distances, narrowness], "init_grown")
    grown = graph.add("Add", [grown, number("init_1", 1.0, real)], "init_grown_1")
    for power in ("2", "4"):
        grown = graph.add("Mul", [grown, grown], f"init_grown_{power}")
    fallen = graph.add("Div", [number("init_unit", UNIT, real), grown], "init_fallen")
    values = graph.cast(graph.add("Round", [fallen], "init_values_32"), "init_values", np.float64)
    whole = number("init_coefficients", model.coefficients.whole)
    per_unit = number("init_per_unit", model.coefficients.unit / UNIT)
    scores = graph.add(
        "Mul", [graph.add("MatMul", [values, whole], "init_whole"), per_unit], "init"
    )
    return _of_every_class(graph, model.n_scores, scores)


def add_linear_nodes(graph, model, features: str) -> str:
    """Add nodes for the scores of a `FittedLinear` and return their name."""
    number = graph.constant_of_type
    codes = _codes(graph, model.codes, _expanded(graph, model.expansion, features))
    values = graph.cast(codes, "init_values", np.float64)
    whole = graph.add(
        "MatMul", [values, number("init_coefficients", model.exact.whole)], "init_sum"
    )
    scores = graph.add(
        "Mul", [whole, number("init_per_unit", model.exact.unit / UNIT)], "init_part"
    )
    scores = graph.add("Add", [scores, number("init_intercept", model.intercept)], "init")
    return _of_every_class(graph, model.n_scores, scores)


def _of_every_class(graph, n_scores: int, scores: str) -> str:
    if n_scores > 1:
        return scores
    other = graph.add("Neg", [scores], "init_2")
    return graph.add("Concat", [scores, other], "init_scores", axis=1)


def _expanded(graph, expansion: Expansion, features: str) -> str:
    """Add nodes for the expanded features, as float64."""

    def columns(name, places, output):
        places = graph.constant_of_type(f"{output}_places", places, np.int64)
        return graph.add("Gather", [name, places], output, axis=1)

    values = columns(features, expansion.numeric, "init_numeric")
    size = graph.add("Abs", [values], "init_size")
    known = graph.add("Less", [size, graph.constant_of_type("init_limit", LIMIT)], "init_known")
    fill = graph.constant_of_type("init_fill", expansion.fill)
    parts = [graph.add("Where", [known, values, fill], "init_filled")]
    if len(expansion.gaps):
        gaps = columns(graph.add("Not", [known], "init_lost"), expansion.gaps, "init_lost_of_gaps")
        parts.append(graph.cast(gaps, "init_gaps", np.float64))
    if len(expansion.level_code):
        levels = columns(features, expansion.level_column, "init_level_columns")
        codes = graph.constant_of_type("init_level_code", expansion.level_code)
        equal = graph.add("Equal", [levels, codes], "init_equal")
        parts.append(graph.cast(equal, "init_levels", np.float64))
    return graph.add("Concat", parts, "init_expanded", axis=1)


def _codes(graph, codes, features: str) -> str:
    """Add nodes for the codes of the features, as float32."""
    number = graph.constant_of_type
    centred = graph.add("Sub", [features, number("init_centre", codes.centre)], "init_centred")
    scaled = graph.add("Mul", [centred, number("init_scale", codes.scale)], "init_scaled")
    rounded = graph.add("Round", [scaled], "init_rounded")
    limits = number("init_least", -LARGEST), number("init_most", LARGEST)
    return graph.cast(
        graph.add("Clip", [rounded, *limits], "init_clipped"), "init_codes", np.float32
    )


def _distances(graph, landmarks, codes: str) -> str:
    """Add nodes for the squared distances from the landmarks, block by block, as float32.

    The file holds landmarks in a byte per code. The runtime multiplies them by -2 once, on loading.
    """

    def number(name, value, dtype=np.float32):
        return graph.constant_of_type(name, value, dtype)

    total, axis, minus_two = None, number("init_axis", [1], np.int64), number("init_-2", -2.0)
    for start in range(0, landmarks.shape[1], BLOCK):
        at = f"_{start}"
        part = landmarks[:, start : start + BLOCK]
        ends = [number(f"init_{k}{at}", [start + k * BLOCK], np.int64) for k in (0, 1)]
        rows = graph.add("Slice", [codes, *ends, axis], f"init_rows{at}")
        bytes_ = graph.constant_of_type(f"init_landmarks{at}", part.T, np.int8)
        wide = graph.cast(bytes_, f"init_wide{at}", np.float32)
        doubled = graph.add("Mul", [wide, minus_two], f"init_doubled{at}")
        inner = graph.add("MatMul", [rows, doubled], f"init_in{at}")
        squared = graph.add("Mul", [rows, rows], f"init_squared{at}")
        ones = number(f"init_ones{at}", np.ones((part.shape[1], 1)))
        own = graph.add("MatMul", [squared, ones], f"init_own{at}")
        apart = graph.add("Add", [inner, own], f"init_plus_own{at}")
        others = number(f"init_others{at}", np.square(part, dtype=np.float32).sum(axis=1))
        apart = graph.add("Add", [apart, others], f"init_apart{at}")
        total = apart if total is None else graph.add("Add", [total, apart], f"init_total{at}")
    return total
