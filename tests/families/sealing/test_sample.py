"""A family gets the training matrix read-only, and what is checked is copied before."""

import numpy as np
import pytest
from cwboost.plugins.stumps import StumpFamily
from models import context
from scipy import sparse

from cwboost import CWBoostClassifier
from cwboost.datasets import load_vowel
from cwboost.families.sealing.pricer import bind_family

X, y = load_vowel(return_X_y=True)


FORMS = {"dense": np.asarray, "csr": sparse.csr_array, "csc": sparse.csc_array}


def parts_of(X):
    return [X.data, X.indices, X.indptr] if sparse.issparse(X) else [X]


@pytest.mark.parametrize("form", FORMS)
def test_the_training_matrix_is_handed_out_read_only_and_not_copied(form):
    given, seen = FORMS[form](X), []

    class Curious(StumpFamily):
        def bind(self, X, context):
            seen.append(X)
            return super().bind(X, context)

    pricer = bind_family(Curious(), given, context())
    (found,) = seen
    assert type(found) is type(given)
    for ours, theirs in zip(parts_of(given), parts_of(found), strict=True):
        assert np.shares_memory(ours, theirs) and ours.flags.writeable
        assert not theirs.flags.writeable
    for part in parts_of(pricer.sample.X):
        assert not part.flags.writeable
        assert not any(np.shares_memory(part, ours) for ours in parts_of(given))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("part", [0, 1, 2])
def test_a_family_that_edits_the_training_matrix_fails_alone(form, part):
    """It changed the matrix of the families beside it, and its error fell to 0."""

    class Editing(StumpFamily):
        def bind(self, X, context):
            arrays = parts_of(X)
            arrays[part % len(arrays)][...] = 1
            return super().bind(X, context)

    given = FORMS[form](X)
    before = given.copy()
    with pytest.raises(ValueError, match="read-only") as caught:
        CWBoostClassifier(["stump", Editing()], init=None, n_estimators=3).fit(given, y)
    notes = getattr(caught.value, "__notes__", None) or [str(caught.value)]
    assert any("raised by bind of weak learner 'stump'" in note for note in notes)
    for ours, theirs in zip(parts_of(before), parts_of(given), strict=True):
        np.testing.assert_array_equal(ours, theirs)
