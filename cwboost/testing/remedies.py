"""What to do about a plugin that fails a check, one line per check."""

import traceback
from collections.abc import Mapping

GIVE_EXAMPLES = "give the suite examples that the plugin takes by make_X"


def remedy(plugin, errors: Mapping[str, Exception]) -> str:
    """Return what to do about errors with one cause, by the checks that met them."""
    if any(getattr(error, "refused_examples", False) for error in errors.values()):
        at = place(plugin, next(iter(errors.values())))
        return f"Mend {at or 'what the error names'}, or {GIVE_EXAMPLES}."
    name, error = next(iter(errors.items()))
    is_slip = len(errors) > 1 or isinstance(error, (AttributeError, ImportError, NameError))
    if is_slip and (at := place(plugin, error)):
        return f"Mend {at}."
    at = cause(plugin, error)
    return f"Mend what the error names, met by {at}." if len(errors) > 1 else REMEDIES[name]


def place(plugin, error: Exception) -> str | None:
    """Return the line of the plugin's own modules that raised an error; None if there is none."""
    module = type(plugin).__module__
    own = module.rpartition(".")[0] or module
    frames = traceback.walk_tb(error.__traceback__)
    found = [f for f in frames if f"{f[0].f_globals.get('__name__')}.".startswith(f"{own}.")]
    return _called(*found[-1]) if found else None


def cause(plugin, error: Exception) -> str | None:
    """Return the line that errors of one cause share; None for a check that has its result."""
    met = None
    for frame, line in traceback.walk_tb(error.__traceback__):
        is_check = frame.f_globals.get("__name__", "").startswith("cwboost.testing.checks")
        is_result = is_check and isinstance(error, AssertionError)
        met = None if is_result else _called(frame, line)
    return place(plugin, error) or met


def _called(frame, line: int) -> str:
    return f"line {line} of {frame.f_code.co_filename}, in {frame.f_code.co_name}"


REMEDIES = {
    "check_declarations": "Set name, api_version, learners_type and capabilities on the class.",
    "check_hyper_parameters": "Let __init__ store its arguments unchanged, and do nothing else.",
    "check_bind_has_no_side_effects": "Copy what you change; keep results on the pricer.",
    "check_process_is_left_alone": "Draw from random_state; use np.errstate; do not print.",
    "check_generator_is_the_only_state": "Keep the reference to random_state, and no other state.",
    "check_pricers_are_independent": "Keep what bind prepares on the pricer, not on the class.",
    "check_edges": "Pack what the method outputs gives; report (weights * outputs).sum() as edges.",
    "check_requests": "Ignore the request, or find what you find without it.",
    "check_divisions": "Return in divide the cells that the learner's method cells returns.",
    "check_best_constant": "Let the two constants compete, with the edge abs(weights.sum()).",
    "check_scaling": "Compare sums with each other, never with a fixed number.",
    "check_zero_weight": "Multiply what you compute from an example by its weight.",
    "check_determinism": "Add in one fixed order, or declare deterministic=False.",
    "check_number_of_targets": "Price each row of weights, len(weights) in all, for itself.",
    "check_rebound": "Return a new pricer that draws from context.random_state, or None.",
    "check_candidates": "Return clones of the family, with other values of its parameters.",
    "check_bind_rows": "Take X[rows] in their order, or leave bind_rows to the base class.",
    "check_fit_rows": "Take X[rows] in their order, or leave fit_rows to the base class.",
    "check_repeated_pricing": "Return new arrays from every call of price.",
    "check_shared_pricing": "Return one learner; its edge is the sum of abs(weights @ outputs).",
    "check_exact_pricing": "Search all learners, or leave exact at False.",
    "check_exact_at_scale": "Do not sample rows or bin features, or leave exact at False.",
    "check_rows": "Compute each row from that row alone; a product with BLAS does not.",
    "check_threads": "Keep nothing that calls share and change, such as a scratch array.",
    "check_arrays_round_trip": "Return everything that from_arrays needs, as arrays of numbers.",
    "check_pickle": "Keep no function, file or lock on learners.",
    "check_take_and_concatenate": "Index every array by learner, also with an empty list.",
    "check_scores": "Sum the outputs times coef in the order of the learners.",
    "check_flat_form": "Let flat_form compare as outputs does: above is z > threshold.",
    "check_damaged_arrays": "Check dtypes, shapes, indices and signs in check_values.",
    "check_loading_runs_no_code": "Read arrays as numbers; import modules at the top.",
    "check_layouts": "Copy X by np.ascontiguousarray(X, np.float64) before you compute.",
    "check_weights_layout": "Do not assume that rows of weights are adjacent, nor write to them.",
    "check_one_feature": "Keep two dimensions when you select columns.",
    "check_constant_features": "Fall back on the better constant if nothing can be split.",
    "check_one_example": "Fall back on the better constant if nothing can be split.",
    "check_new_examples": "Take values beyond those of training in outputs.",
    "check_life_of_a_classifier": "The smaller checks that fail too say what is wrong.",
    "check_missing_values": "Give NaN one side, or leave missing_values at False.",
    "check_sparse_input": "Count entries that are not stored as 0, or leave sparse_input False.",
    "check_sparse_memory": "Do not make X dense, or leave sparse_input at False.",
    "check_monotonic": "Refuse splits that break a constraint, or leave monotonic at False.",
    "check_interactions": "Let a learner read one set, or leave interactions at False.",
    "check_symmetric": "Let -h be a learner for every h, or do not declare symmetric.",
    "check_scores_of_every_matrix": "Return finite float64 scores, or refuse what is sparse.",
    "check_scores_without_own_label": "Cross-fit, or leave each example out in closed form.",
    "check_scores_rise_with_the_class": "Give the likeliest class the largest score.",
    "check_weights": "Let context.weight count, as copies of the examples would.",
    "check_fit_is_repeatable": "Draw from context.random_state alone; add in one fixed order.",
    "check_shapley_values": "Return None, or values of each row that end at its scores.",
    "check_partitions": "Let summaries be sums of PartitionWeights.rounded().",
}
