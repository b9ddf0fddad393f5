"""Every step of a save fails once: the former file stays whole, and nothing else is left."""

import errno
import io

import numpy as np
import pytest
from models import paper
from sklearn.datasets import load_iris

from cwboost import load_model
from cwboost.model_file import container

X, Y = load_iris(return_X_y=True)


class Steps:
    """The steps of a save that may fail, of which the n-th does (None: none)."""

    def __init__(self, patch, at=None):
        self.count, self.at = 0, at
        for name in ("open", "fsync", "replace"):
            patch.setattr(container.os, name, self.step(getattr(container.os, name)))
        # Without a buffer every part is a write of its own.
        opened = lambda descriptor, mode: File(descriptor, mode, self)  # noqa: E731
        patch.setattr(container, "open", opened, raising=False)

    def step(self, function):
        def call(*arguments, **options):
            self.count += 1
            if self.count == self.at:
                raise OSError(errno.ENOSPC, "No space left on device")
            return function(*arguments, **options)

        return call


class File(io.FileIO):
    """An open file that has written half of a part before the write fails."""

    def __init__(self, descriptor, mode, steps):
        super().__init__(descriptor, mode)
        self.rest, self.flush = steps.step(super().write), steps.step(super().flush)

    def write(self, part):
        super().write(part[: len(part) // 2])
        self.rest(part[len(part) // 2 :])


def model(seed):
    return paper(n_estimators=3, C=100.0, random_state=seed).fit(X[:, seed:], Y)


@pytest.mark.parametrize("first", [True, False], ids=["first save", "second save"])
def test_every_step_of_a_save_fails_once(first, tmp_path):
    former, new, path = model(0), model(1), tmp_path / "model.cwb"
    with pytest.MonkeyPatch.context() as patch:
        whole = Steps(patch)
        new.save(path)
    # open, a write per array, of the prefix and of the header, flush, fsync, replace
    assert whole.count > 10
    former.save(path)
    before = path.read_bytes()
    for at in range(1, whole.count + 1):
        path.unlink() if first else path.write_bytes(before)
        with pytest.MonkeyPatch.context() as patch:
            Steps(patch, at)
            with pytest.raises(OSError, match="No space left"):
                new.save(path)
        assert [p.read_bytes() for p in tmp_path.iterdir()] == [before][first:]
        path.touch()
    former.save(path)
    np.testing.assert_array_equal(load_model(path).predict(X), former.predict(X))
