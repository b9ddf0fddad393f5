"""The same task for each package: rounds, threads and depth in its own parameters."""

import warnings

LARGE_C = 1e40
"""C for training that must run all rounds: with 1e4, columns run out after 40 to 160 rounds on
some data; with 1e8, after 83 on MFEAT."""


def cwboost_stumps(rounds, threads=1, correction="stagewise", C=1e4, **options):
    from cwboost import CWBoostClassifier

    return CWBoostClassifier(
        weak_learner="stump",
        init=None,
        n_estimators=rounds,
        C=C,
        correction=correction,
        learning_rate=1.0,
        subsample=1.0,
        epsilon=0.1,
        max_working_sets=2,
        tol=0,
        n_jobs=threads,
        random_state=0,
        **options,
    )


def cwboost_default(rounds, threads=1):
    from cwboost import CWBoostClassifier

    return CWBoostClassifier(n_estimators=rounds, n_jobs=threads, random_state=0)


def lightgbm(rounds, threads=1, num_leaves=2):
    import lightgbm as package

    return package.LGBMClassifier(
        n_estimators=rounds,
        num_leaves=num_leaves,
        n_jobs=threads,
        random_state=0,
        verbosity=-1,
    )


MAKERS = {
    "cwboost_default": cwboost_default,
    "cwboost_stumps": cwboost_stumps,
    "lightgbm": lightgbm,
}


def fit(model, X, y):
    """Fit a model; raise an error if a cwboost model did not run all its rounds.

    Total correction may end earlier, when no column pays; `ended` reports it.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    if type(model).__module__.startswith("cwboost") and model.n_iter_ != model.n_estimators:
        at_end = model.correction == "total" and model.stop_reason_ in ("optimal", "no column")
        if not at_end:
            raise RuntimeError(f"stopped after {model.n_iter_} of {model.n_estimators} rounds")
    return model


def ended(model):
    """Return a note for a row if training ended before its last round."""
    if model.n_iter_ == model.n_estimators:
        return ""
    return f" (after {model.n_iter_} rounds no column pays)"


def fitting(X, y, maker, *arguments, **options):
    """Return a callable that fits a new model."""
    return lambda: fit(MAKERS[maker](*arguments, **options), X, y)


def warm_up(X, y):
    """Fit small models of cwboost and LightGBM: the first fit of a process imports modules."""
    fitting(X, y, "cwboost_stumps", 5, C=LARGE_C)()
    fitting(X, y, "lightgbm", 5)()
