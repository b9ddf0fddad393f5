"""Every step of a save fails once: the former file stays whole, and nothing else is left."""

import errno
import io
import os

import numpy as np
import pytest
from models import paper
from sklearn.datasets import load_iris

from cwboost import load_model
from cwboost.model_file import container

X, Y = load_iris(return_X_y=True)


class Failing:
    """Calls of the operating system, of which the n-th fails (None: none does)."""

    def __init__(self, monkeypatch, at):
        self.calls, self.at = 0, at
        for name in ("open", "fsync", "replace"):
            monkeypatch.setattr(container.os, name, self.counted(getattr(os, name)))
        monkeypatch.setattr(container, "open", self.open, raising=False)

    def count(self):
        self.calls += 1
        if self.calls == self.at:
            raise OSError(errno.ENOSPC, "No space left on device")

    def counted(self, function):
        def call(*arguments, **options):
            self.count()
            return function(*arguments, **options)

        return call

    def open(self, descriptor, mode):
        # Without a buffer every part is a write of its own.
        return Counted(io.FileIO(descriptor, mode), self)


class Counted:
    """An open file whose writes are counted, half of the bytes written before one fails."""

    def __init__(self, file, failing):
        self.file, self.failing = file, failing

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()

    def write(self, part):
        self.file.write(part[: len(part) // 2])
        self.failing.count()
        self.file.write(part[len(part) // 2 :])

    def flush(self):
        self.failing.count()

    def fileno(self):
        return self.file.fileno()


def model(seed):
    return paper(n_estimators=3, C=100.0, random_state=seed).fit(X[:, seed:], Y)


def test_every_step_of_a_save_fails_once(tmp_path):
    former, new, path = model(0), model(1), tmp_path / "model.cwb"
    with pytest.MonkeyPatch.context() as patch:
        whole = Failing(patch, None)
        new.save(path)
    former.save(path)
    before = path.read_bytes()
    # open, a write per array, of the prefix and of the header, flush, fsync, replace
    assert whole.calls > 10
    for at in range(1, whole.calls + 1):
        with pytest.MonkeyPatch.context() as patch:
            Failing(patch, at)
            with pytest.raises(OSError, match="No space left"):
                new.save(path)
        assert path.read_bytes() == before
        assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
    np.testing.assert_array_equal(load_model(path).predict(X), former.predict(X))


def test_a_first_save_that_fails_leaves_nothing(tmp_path):
    with pytest.MonkeyPatch.context() as patch:
        Failing(patch, 5)
        with pytest.raises(OSError, match="No space left"):
            model(0).save(tmp_path / "model.cwb")
    assert list(tmp_path.iterdir()) == []
