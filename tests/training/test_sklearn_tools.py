"""Use with scikit-learn: names of data frames, tags, metadata routing."""

import numpy as np
import pytest
import sklearn
from models import CLASSIFIERS, FAMILIES, paper
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import (
    GridSearchCV,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cwboost import CWBoostClassifier, SklearnFamily, TreeFamily, get_init
from cwboost.datasets import load_vowel

FEATURES = [f"feature {f}" for f in range(10)]
NAMES = np.array([f"vowel {c}" for c in range(11)])


@pytest.fixture(scope="module")
def vowel():
    X, y = load_vowel(return_X_y=True)
    rows = np.random.default_rng(0).permutation(len(y))[:400]
    return X[rows], NAMES[y[rows]]


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def pandas_frame(X):
    return pytest.importorskip("pandas").DataFrame(X, columns=FEATURES)


def polars_frame(X):
    return pytest.importorskip("polars").DataFrame(X, schema=FEATURES)


LINEAR = SklearnFamily(RidgeClassifier())  # takes neither sparse matrices nor gaps


def small(classifier=CWBoostClassifier, **parameters):
    return classifier(n_estimators=5, random_state=0, **parameters)


@pytest.mark.parametrize("frame", [pandas_frame, polars_frame])
def test_names_are_checked_at_prediction(frame, vowel):
    X, y = vowel
    clf = small().fit(frame(X), y, X_val=frame(X[:50]), y_val=y[:50])
    shuffled = frame(X)[FEATURES[::-1]]
    for method in (clf.predict, clf.predict_proba, clf.decision_function, clf.explain):
        with pytest.raises(ValueError, match="in the same order as they were in fit"):
            method(shuffled)
    with pytest.raises(ValueError, match=r"(?s)Feature names seen at fit time, yet now missing"):
        clf.predict(frame(X)[FEATURES[:9]])
    with pytest.raises(ValueError, match="in the same order as they were in fit"):
        small().fit(frame(X), y, X_val=shuffled, y_val=y)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        clf.predict(X)


@pytest.mark.parametrize(
    "classifier, weak_learner",
    [
        *zip(CLASSIFIERS, [*FAMILIES, LINEAR] * 2),
        *((CWBoostClassifier, family) for family in (*FAMILIES[1:], LINEAR)),
    ],
    ids=str,
)
def test_tags_say_what_the_classifier_takes(classifier, weak_learner, vowel):
    X, y = vowel
    clf = small(classifier, weak_learner=weak_learner)
    tags = sklearn.utils.get_tags(clf).input_tags
    assert tags.sparse is tags.allow_nan is (weak_learner is not LINEAR)
    if tags.sparse:
        np.testing.assert_array_equal(clf.fit(sparse.csc_array(X), y).predict(X), clf.predict(X))
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    if tags.allow_nan:
        assert np.mean(clf.fit(holes, y).predict(holes) == y) > 0.15
    else:
        with pytest.raises(ValueError, match=r"X contains NaN; impute .*'tree'\."):
            clf.fit(holes, y)
        with pytest.raises(ValueError, match=r"X contains NaN; impute .*'tree'\."):
            clf.fit(X, y).predict(holes)


def test_weights_reach_every_fit_and_score_of_a_search(routing, vowel):
    X, y = vowel
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    clf = small().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    search = GridSearchCV(clf, {"C": [1e2, 1e4]}, cv=3)
    search.fit(X, y, sample_weight=weight)
    by_hand = small(C=search.best_params_["C"]).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(search.decision_function(X), by_hand.decision_function(X))
    scored = cross_validate(
        clf.set_params(**search.best_params_), X, y, cv=3, params={"sample_weight": weight}
    )
    best = search.cv_results_["mean_test_score"][search.best_index_]
    assert scored["test_score"].mean() == pytest.approx(best)
    with pytest.raises(ValueError, match=r"sample_weight.* but .*not explicitly set"):
        GridSearchCV(small(), {"C": [1e2]}, cv=3).fit(X, y, sample_weight=weight)


def test_held_out_examples_pass_through_a_pipeline(routing, vowel):
    """`transform_input` passes X_val through the earlier steps; y_val is passed unchanged."""
    X, y = vowel
    train, held = np.arange(300), np.arange(300, 400)
    settings = {"early_stopping": True, "n_iter_no_change": 2, "C": 1e5}
    clf = paper(n_estimators=60, **settings)
    scaler = StandardScaler().fit(X[train])
    by_hand = sklearn.clone(clf).fit(
        scaler.transform(X[train]), y[train], X_val=scaler.transform(X[held]), y_val=y[held]
    )
    clf.set_fit_request(X_val=True, y_val=True)
    pipeline = make_pipeline(StandardScaler(), clf, transform_input=["X_val"])
    pipeline.fit(X[train], y[train], X_val=X[held], y_val=y[held])
    np.testing.assert_array_equal(clf.history_["valid_error"], by_hand.history_["valid_error"])
    np.testing.assert_array_equal(pipeline.predict(X), by_hand.predict(scaler.transform(X)))


def test_encoders_of_skrub_take_dates_and_text():
    pandas, skrub = pytest.importorskip("pandas"), pytest.importorskip("skrub")
    rng = np.random.default_rng(0)
    days, is_shop = rng.integers(0, 700, 300), rng.random(300) < 0.5
    dates = pandas.Timestamp("2025-01-01") + pandas.to_timedelta(days, unit="D")
    topic = rng.choice(["invoice", "outage"], 300)
    X = pandas.DataFrame(
        {
            "opened": dates,
            "message": [f"{topic[i]} number {i}" for i in range(300)],
            "customer": pandas.Categorical(np.where(is_shop, "shop", "home")),
            "before": np.where(rng.random(300) < 0.1, np.nan, rng.poisson(2, 300)),
        }
    )
    y = np.where(dates.month < 7, topic, np.where(is_shop, "shop", "none"))
    with pytest.raises(ValueError, match="column 'opened'"):
        small().fit(X.drop(columns="message"), y)
    encoder = skrub.TableVectorizer(low_cardinality=skrub.ToCategorical())
    clf = CWBoostClassifier(init=None, n_estimators=40, random_state=0)
    model = make_pipeline(encoder, clf).fit(X[:200], y[:200])
    assert model.score(X[200:], y[200:]) > 0.8
    names = list(model[-1].feature_names_in_)
    assert {"opened_month", "customer", "before"} < set(names)
    assert list(model[-1].categories_) == [names.index("customer")]


@pytest.mark.parametrize("name", ["tree", "auto"])
@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=lambda c: c.__name__)
def test_a_named_weak_learner_has_nested_parameters(classifier, name):
    named = classifier(weak_learner=name)
    given = classifier(weak_learner=TreeFamily())
    nested = {k: v for k, v in named.get_params().items() if k.startswith("weak_learner__")}
    assert nested and nested.items() <= given.get_params().items()
    assert named.weak_learner == name  # Asking changes nothing.
    assert named.set_params(weak_learner__max_depth=4) is named
    assert isinstance(named.weak_learner, TreeFamily) and named.weak_learner.max_depth == 4
    assert clone(named).get_params()["weak_learner__max_depth"] == 4


def test_a_name_and_nested_parameters_are_set_together():
    search = GridSearchCV(paper(), {})
    for clf, prefix in ((paper(), ""), (search, "estimator__")):
        names = {"weak_learner": "tree", "weak_learner__max_depth": 3}
        clf.set_params(**{prefix + name: value for name, value in names.items()})
        family = (clf.estimator if prefix else clf).weak_learner
        assert isinstance(family, TreeFamily) and family.max_depth == 3


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_parameters_that_are_set_after_a_fit_are_those_of_the_next(classifier, vowel):
    clf = small(classifier, weak_learner=TreeFamily()).fit(*vowel)
    assert clf.set_params(weak_learner__max_depth=3).family_.max_depth == TreeFamily().max_depth


def test_parameters_of_the_init_model_are_those_of_its_fit(vowel):
    clf = small(init=get_init("kernel")(max_landmarks=60)).fit(*vowel)
    assert clf.set_params(init__max_landmarks=70).init_.model.max_landmarks == 60


def test_unknown_names_do_not_hide_the_other_parameters():
    clf = paper("no_such_family")
    assert clf.get_params() == clf.get_params(deep=False)
    with pytest.raises(ValueError, match="unknown weak learner 'no_such_family'"):
        clf.set_params(weak_learner__max_depth=3)
    with pytest.raises(ValueError, match="Invalid parameter 'depth'"):
        paper("tree").set_params(weak_learner__depth=3)
