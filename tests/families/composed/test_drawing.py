"""What `draw` sees, on one machine and on partitions; arrays that all derived features share."""

import numpy as np
import pytest
from derived_families import Landmarks, Means
from models import bind
from partitions import assert_same_learners, local, split, train

from cwboost import CWBoostClassifier, DerivedFeatureFamily
from cwboost.datasets import load_vowel
from cwboost.testing import check_plugin, parametrize_with_plugin_checks


@pytest.fixture(autouse=True)
def registered(register):
    for family in (Means, Landmarks, Watching):
        register(family)


class Watching(Means):
    """Keeps what `draw` was shown."""

    name = "watching"
    sample_size = 200
    seen: list = []  # noqa: RUF012

    def draw(self, context):
        self.seen.append(context)
        return super().draw(context)


class OnceMeans(Means):
    """The same, drawn once; it has the classes but no weights of a round."""

    name = "once_means"
    redraw = False

    def draw(self, context):
        assert context.weights is None
        members = context.y == np.unique(context.y)[:, None]
        return {"along": members @ context.X}


@pytest.fixture(scope="module")
def data():
    """Few distinct values per feature, so that bins do not round."""
    X, y = load_vowel(return_X_y=True)
    return np.round(X[:500]), y[:500]


@pytest.mark.slow
@parametrize_with_plugin_checks([Means(), Landmarks()])
def test_it_keeps_the_contract(plugin, check):
    check(plugin)


@pytest.mark.slow
def test_a_setting_with_one_draw_keeps_the_rest_of_the_contract():
    """Of one landmark, every draw is the same, as the suite says: `redraw` would save nothing."""
    expected = {"check_redraws": "one landmark has one draw"}
    check_plugin(Landmarks(n_landmarks=1, n_near=3), expected_failures=expected)


def test_draw_sees_examples_of_every_class_and_their_weights(data):
    X, at = np.unique(data[0], axis=0, return_index=True)
    y = data[1][at]
    weight = np.random.default_rng(0).integers(1, 4, size=len(y)).astype(float)
    Watching.seen.clear()
    model = CWBoostClassifier(Watching(), init=None, n_estimators=3, subsample=1.0, random_state=0)
    model.fit(X, y, sample_weight=weight)
    first, *_, last = Watching.seen
    assert first.X.shape == (200, 10) and first.n_samples == len(y)
    np.testing.assert_array_equal(first.X, last.X)
    shares = np.bincount(first.y) / 200, np.bincount(y) / len(y)
    np.testing.assert_allclose(*shares, atol=1 / 200)
    assert len(np.unique(first.weight)) == 3
    mass = np.abs(first.weights).sum(axis=1)
    assert first.weights.shape == (11, 200) and ((mass > 0.5) & (mass <= 1)).all()
    # Before the first round, a target's own examples count for it and the others against it.
    own = first.y == np.arange(11)[:, None]
    assert ((first.weights > 0) == own).all()
    for array in (first.X, first.y, first.weight, first.weights):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


@pytest.mark.parametrize("family", [Means(), OnceMeans(), Landmarks()], ids=lambda f: f.name)
def test_partitions_draw_what_one_process_draws(family, data):
    """The same examples are seen, so that the models differ by bins and rounding alone."""
    X, y = data
    models = [train(family, split(X, y, *sizes), 8) for sizes in ((), (200,), (40, 0, 300))]
    one, *others = (model.model.ensemble() for model in models)
    for other in others:
        assert_same_learners(one, other, rtol=1e-9)
    errors = [model.model.history["train_error"][-1] for model in models]
    assert errors == errors[:1] * 3
    assert (
        abs(errors[0] - local(family, X, y, 8, random_state=0).history_["train_error"][-1]) < 0.05
    )


def test_partitions_see_classes_and_weights(data):
    X, y = data
    weight = np.random.default_rng(0).integers(1, 4, size=len(y)).astype(float)
    contexts = []
    for sizes in ((), (100, 250)):
        Watching.seen.clear()
        parts = np.split(np.arange(len(y)), np.cumsum(sizes).astype(int))
        train(Watching(), [(X[rows], y[rows], weight[rows]) for rows in parts], 2)
        contexts.append(Watching.seen[0])
    for name in ("X", "y", "weight", "weights"):
        one, other = (getattr(context, name) for context in contexts)
        np.testing.assert_array_equal(one, other, err_msg=name)
    assert contexts[0].X.shape == (200, 10) and len(np.unique(contexts[0].weight)) == 3


def test_a_lost_partition_can_answer_without_the_question_before(data):
    """Features that were drawn once are computed again on a partition that was replaced."""
    X, y = data
    training = train(OnceMeans(), split(X, y, 250), 3)
    host = training.crew.hosts[0]
    expected = training.pricer.price(None).edges
    for partition in host.partitions.values():
        partition.pricer._number = partition.pricer._binned = None
    np.testing.assert_array_equal(training.pricer.price(None).edges, expected)


def test_batches_of_two_trainings_keep_their_shared_arrays(data):
    X, y = data
    models = [local(Landmarks(), X, y, 2, random_state=seed) for seed in (0, 1)]
    one, other = (model.ensemble_.learners for model in models)
    joined = type(one).concatenate([one, other, one.take([0])])
    assert joined.landmarks.shape == (2, 8, 10)
    expected = np.hstack([one.outputs(X), other.outputs(X), one.outputs(X)[:, :1]])
    np.testing.assert_array_equal(joined.outputs(X), expected)
    stored = type(one).from_arrays(joined.arrays(), 10)
    np.testing.assert_array_equal(stored.outputs(X), expected)
    with pytest.raises(ValueError, match=r"array 'group' must hold indices of 2 groups"):
        type(one).from_arrays({**joined.arrays(), "group": joined.group + 2}, 10)
    with pytest.raises(ValueError, match="n_near must be positive, got 0"):
        type(one).from_arrays({**one.arrays(), "which": one.which[:, :0]}, 10)
    small = local(Landmarks(n_landmarks=3), X, y, 1).ensemble_.learners
    with pytest.raises(ValueError, match="shared arrays of batches must have equal shapes"):
        type(one).concatenate([one, small])


def wrong(base=Means, **members):
    return type("Wrong", (base,), {"name": "wrong", **members})


def drawing(along):
    return {"draw": lambda self, context: {"along": along} if along is not None else {}}


UNTURNED = {"direction": staticmethod(lambda n_features, along: along)}
NARROW = {"transform": staticmethod(lambda X, **parameters: X[:, :1])}
NO_LANDMARKS = {"draw_shared": lambda self, context: {}}
STATIC = "put @staticmethod before it"
# Members of a family of four features, and what must be said when it prices or is made.
FAULTS = [
    (Means, drawing(None), r"must return a dict with the names \['along'\], got \[\]"),
    (Means, {"draw": lambda self, context: (1, 2)}, "must return a dict .*, got tuple"),
    (Means, drawing(np.ones((0, 4))), "draw of Wrong must return a derived feature, got 0"),
    (Means, drawing(np.ones((3, 5))), r"draw of Wrong: array 'along' must have shape \(3, 4\)"),
    (Means, UNTURNED, r"direction of Wrong must .* 4 features, got \(1, 4\)"),
    (Landmarks, NARROW, r"transform of Wrong must return shape \(5, 12\)"),
    (Landmarks, NO_LANDMARKS, r"draw_shared of Wrong must return a dict .* \['landmarks'\]"),
    (Means, {"direction": lambda self, n_features, along: along}, STATIC),
    (Means, {"check_stored": lambda self, n_features, along: None}, STATIC),
    (Means, {"__init__": lambda self, draw=1: None}, r"attributes called \['draw'\]"),
    (Means, {"layout": {"threshold": ("float64", ())}}, r"\['threshold'\] belong to the base"),
    (Means, {"layout": {"along": "f8"}}, r"layout must have dtypes and .*, got \{'along': 'f8'\}"),
    (Means, {"layout": {"along": ("f8", "n")}}, r"layout must have dtypes and tuples of lengths"),
    (Means, {"shared": {"along": ("flaot", ())}}, r"shared must have dtypes and tuples of lengths"),
    (
        DerivedFeatureFamily,
        drawing(np.ones(3)),
        "Wrong must declare the layout of what draw returns",
    ),
    (DerivedFeatureFamily, {"layout": {}}, "Wrong must define transform, or direction"),
]


@pytest.mark.parametrize("base, members, message", FAULTS)
def test_faults_of_families_are_named(base, members, message):
    with pytest.raises((TypeError, ValueError), match=message):
        bind(wrong(base, **members)(), np.ones((5, 4)), 1).price(np.ones((1, 5)))


def test_stored_parameters_that_transform_cannot_take_are_refused(data):
    learners = local(Landmarks(), *data, 1).ensemble_.learners
    free = wrong(Landmarks, check_stored=staticmethod(lambda n_features, **parameters: None))
    arrays = learners.arrays() | {"which": learners.which + 99}
    with pytest.raises(ValueError, match="'wrong' cannot compute with its stored parameters"):
        free.learners_type.from_arrays(arrays, 10)
