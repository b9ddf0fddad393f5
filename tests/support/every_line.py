"""Interrupt fits at lines of Python: ``python tests/support/every_line.py STEP [NAME...]``.

KeyboardInterrupt is raised at every STEP-th line that a small fit runs, for every one of
small_fits.py. It must arrive, and leave the former model whole or the rounds that were finished.
"""

import sys
from collections import Counter

import numpy as np
from interrupts import LineCount
from small_fits import small_fits


def interrupted(at, small_fit, clf, whole):
    """Interrupt a fit at line number `at`; return what is left."""
    former, lines = dict(vars(clf)), LineCount(at)
    try:
        with lines:
            small_fit.run(clf)
    except KeyboardInterrupt:
        pass
    else:
        assert lines.fired is None, f"the interrupt in {lines.where} was lost"
        return "ended before that line"
    if clf.__dict__.get("model_") is former.get("model_"):
        assert clf.__dict__ == former
        return "the former model"
    ended = (clf.stop_reason_, clf.n_iter_) == (whole.stop_reason_, whole.n_iter_)
    assert ended or clf.stop_reason_ == "interrupted"
    expected = whole.ensemble_.scores(small_fit.X, n_rounds=clf.ensemble_.n_rounds)
    np.testing.assert_array_equal(clf.ensemble_.scores(small_fit.X), expected)
    return "the whole model" if clf.n_iter_ == whole.n_iter_ else "some rounds"


def main(step, *names):
    """Try the small fits of these names; all by default."""
    for small_fit in small_fits():
        if names and small_fit.name not in names:
            continue
        whole, outcomes = small_fit.make(), Counter()
        small_fit.run(whole)
        with LineCount() as lines:
            small_fit.run(small_fit.make())
        for at in range(1, lines.lines, step):
            clf = small_fit.make()
            if at % 2:
                clf.__dict__.update(vars(whole))
            try:
                outcomes[interrupted(at, small_fit, clf, whole)] += 1
            except BaseException:
                print(f"{small_fit.name}: line {at} of {lines.lines}", flush=True)
                raise
        print(f"{small_fit.name}: {dict(outcomes)}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
