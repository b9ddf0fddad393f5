"""Columns by name and place, and the order of categories."""

import numpy as np
import pytest
from scipy import sparse

from cwboost.estimator.input.categories import in_order_of, learn_categories
from cwboost.estimator.input.columns import place_of, places_of_objects


@pytest.mark.parametrize(
    ("column", "names", "place"),
    [(1, None, 1), (np.int8(2), ["a", "b", "c"], 2), ("b", ["a", "b", "c"], 1), (2, [5, 6, 2], 2)],
)
def test_a_name_or_a_place(column, names, place):
    assert place_of(column, names, 3, "parameter") == place


@pytest.mark.parametrize(
    ("column", "names", "message"),
    [
        (3, None, "X has no names"),
        (-1, None, "places from 0 to 2"),
        (True, None, "got True"),
        (1.0, None, r"got 1\.0"),
        ("d", ["a", "b", "c"], "X has the columns 'a', 'b', 'c'"),
        (1, [1, 0, 2], "the column there has the name 0"),
    ],
)
def test_neither_or_both(column, names, message):
    with pytest.raises(ValueError, match=message):
        place_of(column, names, 3, "parameter")


def test_columns_whose_entries_are_read_one_by_one():
    X = np.ones((4, 3))
    assert places_of_objects(X) == places_of_objects(sparse.csr_array(X)) == []
    assert places_of_objects(X.astype(object)) == [0, 1, 2]


def test_categories_keep_the_order_that_is_known_if_they_are_the_same():
    known = {0: ["b", "a"], 1: ["b", "a"]}
    learned = {0: ["a", "b"], 1: ["a", "b", "c"], 2: ["a"]}
    assert in_order_of(known, learned) == {0: ["b", "a"], 1: ["a", "b", "c"], 2: ["a"]}
    assert in_order_of(known, {1: ["b"]}) == {1: ["b"]}


def test_integers_that_doubles_cannot_tell_apart_are_no_categories():
    for sign in (1, -1):
        X = np.array([[0.0], [sign * 2.0**53]])
        assert sorted(learn_categories(X, [0])[0]) == sorted(X.ravel())
        with pytest.raises(ValueError):
            learn_categories(X + sign * 2, [0])
