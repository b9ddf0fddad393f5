"""The hyper-parameter `max_features`."""

import pytest

from cwboost import count_max_features


@pytest.mark.parametrize(
    ("max_features", "n_features", "expected"),
    [
        ("sqrt", 16, 4),
        ("sqrt", 1, 1),
        ("sqrt", 2, 1),
        (None, 9, 9),
        (5, 3, 3),
        (0.5, 9, 4),
        (1.0, 9, 9),
        (1, 9, 1),
        (1e-9, 9, 1),
    ],
)
def test_counts(max_features, n_features, expected):
    assert count_max_features(max_features, n_features) == expected


@pytest.mark.parametrize("max_features", [0, -1, 1.5, 0.0, "log", True, [], float("nan")])
def test_invalid_values(max_features):
    with pytest.raises(ValueError, match="max_features must be an int of at least 1"):
        count_max_features(max_features, 9)
