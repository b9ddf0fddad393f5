"""Files that tests/model_files/write.py wrote, of every version, predict as they did."""

import numpy as np
import pytest
from import_graph import ROOT

from cwboost import load_model

FILES = sorted((ROOT / "tests/model_files").glob("*/*.cwb"))


def test_files_are_kept():
    assert {"default", "stumps", "trees", "projections", "cluster"} <= {path.stem for path in FILES}


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_file_predicts_as_the_version_that_wrote_it(path):
    with np.load(path.parent / "predictions.npz", allow_pickle=False) as known:
        X, scores, chances, labels = (
            known[f"{path.stem}: {name}"] for name in ("X", "scores", "chances", "labels")
        )
    if path.stem == "named-categories":
        pandas = pytest.importorskip("pandas")
        X = pandas.DataFrame({"size": X[:, 0].astype(float), "colour": pandas.Categorical(X[:, 1])})
    model = load_model(path)
    # The last digits of matrix products and of the exponential are those of other libraries.
    np.testing.assert_allclose(model.decision_function(X), scores, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(model.predict_proba(X), chances, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(model.predict(X), labels)
