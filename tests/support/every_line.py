"""Interrupt fits at lines of Python: ``python tests/support/every_line.py STEP``.

KeyboardInterrupt is raised at every STEP-th line that a small fit runs, for every classifier and
family. It must arrive, and leave the former model whole or the rounds that were finished.
"""

import sys
from collections import Counter

import numpy as np
from failing_memory import CLASSIFIERS, FAMILIES, X, Y, made
from interrupts import LineCount


def interrupted(at, clf, whole):
    """Interrupt a fit at line number `at`; return what is left."""
    former, lines = dict(vars(clf)), LineCount(at)
    try:
        with lines:
            clf.fit(X, Y)
    except KeyboardInterrupt:
        pass
    else:
        assert lines.fired is None, f"the interrupt in {lines.where} was lost"
        return "ended before that line"
    if clf.__dict__.get("ensemble_") is former.get("ensemble_"):
        assert clf.__dict__ == former
        return "the former model"
    ended = (clf.stop_reason_, clf.n_iter_) == (whole.stop_reason_, whole.n_iter_)
    assert ended or clf.stop_reason_ == "interrupted"
    expected = whole.ensemble_.scores(X, n_rounds=clf.n_iter_)
    np.testing.assert_array_equal(clf.ensemble_.scores(X), expected)
    return "the whole model" if clf.n_iter_ == whole.n_iter_ else "some rounds"


def main(step):
    """Try every classifier and family."""
    for classifier in CLASSIFIERS:
        for family in FAMILIES:
            n_jobs, outcomes = 1 + FAMILIES.index(family) % 2, Counter()
            whole = made(classifier, family, n_jobs).fit(X, Y)
            with LineCount() as lines:
                made(classifier, family, n_jobs).fit(X, Y)
            for at in range(1, lines.lines, step):
                clf = made(classifier, family, n_jobs)
                if at % 2:
                    clf.__dict__.update(vars(whole))
                outcomes[interrupted(at, clf, whole)] += 1
            print(f"{classifier}, {family}: {dict(outcomes)}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
