"""The growing path keeps what rounds append, in order."""

import numpy as np
import pytest

from cwboost.ensemble.path import PathBuilder


@pytest.mark.parametrize("seed", range(3))
def test_entries_are_sorted_by_column_then_score(seed):
    rng = np.random.default_rng(seed)
    builder, rounds, n_learners = PathBuilder(), [], 0
    for _ in range(60):
        n_learners += int(rng.integers(0, 4))
        keys = rng.permutation(n_learners * 3)[: rng.integers(0, 40)]
        values = rng.random(len(keys))
        builder.append(keys // 3, keys % 3, values, n_learners)
        rounds.append((np.sort(keys), values[np.argsort(keys)], n_learners))
    path = builder.path()
    assert builder.n_rounds == path.n_rounds == 60
    np.testing.assert_array_equal(np.diff(path.round_offsets), [len(keys) for keys, *_ in rounds])
    np.testing.assert_array_equal(path.learners_offsets[1:], [known for *_, known in rounds])
    keys = np.concatenate([keys for keys, *_ in rounds])
    np.testing.assert_array_equal(path.column * 3 + path.score_index, keys)
    np.testing.assert_array_equal(path.value, np.concatenate([values for _, values, _ in rounds]))
    assert path.column.dtype == path.score_index.dtype == np.int32


def test_a_path_that_was_handed_out_does_not_change():
    builder = PathBuilder()
    builder.append([0], [0], [1.0], 1)
    path = builder.path()
    value = path.value.copy()
    builder.append(np.array([0, 1])[::-1], [0, 1], np.array([2.0, 9.0, 3.0])[::2], 2)
    np.testing.assert_array_equal(path.value, value)
    np.testing.assert_array_equal(builder.path().value, [1.0, 3.0, 2.0])
