"""The tables: methods, errors by round, compactness, sparsity, solvers."""

import numpy as np
import pandas as pd

from cwboost.experiments.reporting.summary import GROUP, Results, mean, rounds_to_reach

ABSENT = "not run: data absent"
AT_ROUNDS = (10, 25, 50, 100, 200, 500)
AT_ROUNDS_OF_PASSES = (10, 20, 40, 100)


def method_tables(results: Results, absent) -> dict[str, str]:
    """Return the tables of methods by name; "methods" names the absent data."""
    missing = [[name, ABSENT] for name in absent]
    if not len(results.runs):
        return {"methods": _table(["data", "method"], missing)} if missing else {}
    tables = {"methods": _markdown(_methods(results), missing)}
    errors = 100 * results.at("test_error")
    tables["rounds"] = _markdown(_text(mean(_at(errors, AT_ROUNDS)), ".1f"))
    methods = set(errors.index.get_level_values("method"))
    if "CW" in methods and len(methods) > 1:
        tables["paired"] = _markdown(_paired(_at(errors, AT_ROUNDS)))
    if "MultiBoost" in methods:
        tables["compact"] = _markdown(_compact(results, errors))
        tables["sparse"] = _markdown(_sparse(results))
    return tables


def solver_tables(results: Results, absent) -> dict[str, str]:
    """Return the tables of the study of solvers by name."""
    missing = [[name, ABSENT] for name in absent]
    if not len(results.runs):
        return {"solvers": _table(["data", "method"], missing)}
    objective = mean(results.at("objective"))
    excess = 100 * _at(objective / _of(objective, "FCD-20") - 1.0, AT_ROUNDS_OF_PASSES)
    passes = _text(excess, "+.1f").rename(columns="round {}".format)
    return {"solvers": _markdown(_solvers(results), missing), "passes": _markdown(passes)}


def _at(table: pd.DataFrame, rounds) -> pd.DataFrame:
    """Return the columns of some rounds that there are, and of the last round."""
    last = table.columns[-1]
    return table[[*(n for n in rounds if n < last), last]]


def _methods(results: Results) -> pd.DataFrame:
    runs = results.runs
    spent, in_solver = results.last("cpu_seconds"), results.last("solver_cpu_seconds")
    nothing = pd.Series(np.nan, runs.index)
    C, seconds = (runs.get(name, nothing) for name in ("C", "selection_seconds"))
    cut = runs["stopped"].groupby(level=GROUP, sort=False).any()
    return pd.DataFrame(
        {
            "test error %": _spread(100 * results.last("test_error"), 2),
            "rounds": _rounds(runs) + cut.map({True: "*", False: ""}),
            "training s": _spread(spent, 2),
            "in the solver s": _spread(in_solver, 2),
            "rest per round ms": _spread(1e3 * (spent - in_solver) / runs["rounds"], 1),
            "C": C.groupby(level=GROUP, sort=False).agg(_powers),
            "choice of C s": _spread(seconds.map(_total), 2),
            "runs": runs.groupby(level=GROUP, sort=False).size().map(str),
        }
    )


def _powers(C: pd.Series) -> str:
    return " ".join(f"{value:.0e}".replace("e+0", "e") for value in C.dropna()) or "-"


def _total(seconds) -> float:
    return sum(seconds.values()) if isinstance(seconds, dict) else np.nan


def _paired(errors: pd.DataFrame) -> pd.DataFrame:
    """Return CW's test error less a method's on the same splits, with standard errors."""
    others = errors.drop("CW", level="method")
    of_cw = _of(errors, "CW").reindex(others.index)
    less = (of_cw - others)[of_cw.notna().any(axis=1)]
    groups = less.groupby(level=GROUP, sort=False)
    table = _with_spread(mean(less), groups.std().div(groups.size() ** 0.5, axis=0), "+.1f")
    last = less.iloc[:, -1].groupby(level=GROUP, sort=False)
    lower = last.agg(lambda differences: (differences < 0).sum())
    table["lower at the end"] = lower.map(str) + " of " + last.count().map(str)
    return table


def _compact(results: Results, errors: pd.DataFrame) -> pd.DataFrame:
    """Return what each method needs to reach MultiBoost's last error."""
    averages = mean(errors)
    targets = mean(results.last("test_error") * 100).xs("MultiBoost", level="method")
    averages = averages[averages.index.isin(targets.index, level="data")]
    first = rounds_to_reach(averages, targets)
    seconds, n_learners, n_nonzero = (
        _then(mean(results.at(name)), first) for name in ("cpu_seconds", "n_learners", "n_nonzero")
    )
    return pd.DataFrame(
        {
            "rounds": _text(first, ".0f").replace("-", "never"),
            "weak learners": _text(n_learners, ".0f"),
            "non-zero coefficients": _text(n_nonzero, ".0f"),
            "training s": _text(seconds, ".2f"),
            "over MultiBoost's": _text(seconds / _of(seconds, "MultiBoost"), ".3g"),
            "MultiBoost's error %": targets.reindex(first.index, level="data").map("{:.2f}".format),
        }
    )


def _sparse(results: Results) -> pd.DataFrame:
    """Return the classes per weak learner of MultiBoost."""
    runs = results.runs.xs("MultiBoost", level="method", drop_level=False)
    nonzero, learners = (
        pd.DataFrame(runs[f"selection_{what}"].tolist(), index=runs.index)
        for what in ("nonzero", "learners")
    )
    table = (nonzero / learners).apply(_spread, digits=2).rename(columns="C = {}".format)
    last = (results.last("n_nonzero") / results.last("n_learners")).loc[runs.index]
    return table.assign(**{"chosen C, last round": _spread(last, 2)})


def _solvers(results: Results) -> pd.DataFrame:
    """Compare each solver with L-BFGS-B at the last round."""
    objective, seconds = (mean(results.last(c)) for c in ("objective", "solver_cpu_seconds"))
    targets = 1.001 * objective.xs("L-BFGS-B", level="method")
    curve, spent = mean(results.at("objective")), mean(results.at("solver_cpu_seconds"))
    first = rounds_to_reach(curve, targets)
    to_same = _then(spent, first)
    reference = _of(seconds, "L-BFGS-B")
    return pd.DataFrame(
        {
            "rounds": _rounds(results.runs),
            "objective": objective.map("{:.5g}".format),
            "over L-BFGS-B's": _text(objective / _of(objective, "L-BFGS-B") - 1.0, "+.2%"),
            "solver s": _spread(results.last("solver_cpu_seconds"), 3),
            "its time over L-BFGS-B's": _text(seconds / reference, ".3g"),
            "to its objective within 0.1%": _text(to_same / reference, ".3g"),
            "test error %": _spread(100 * results.last("test_error"), 2),
        }
    )


def _then(table: pd.DataFrame, rounds: pd.Series) -> pd.Series:
    """Return the number of each row at a round of its own, NaN without a round."""
    return pd.Series([table.loc[row].get(n, np.nan) for row, n in rounds.items()], rounds.index)


def _of(values, method: str):
    """Return the rows of one method in place of those of every method of the same data and run."""
    levels = [level for level in values.index.names if level != "method"]
    of_method = values.xs(method, level="method")
    keys = values.index.droplevel("method")
    rows = of_method.reindex(keys if len(levels) > 1 else keys.to_numpy())
    rows.index = values.index
    return rows


def _rounds(runs: pd.DataFrame) -> pd.Series:
    groups = runs["rounds"].groupby(level=GROUP, sort=False)
    low, high = groups.min().map(str), groups.max().map(str)
    return low.where(low == high, low + " to " + high)


def _spread(values: pd.Series, digits: int) -> pd.Series:
    """Return means and standard deviations over the runs as text."""
    return _with_spread(mean(values), values.groupby(level=GROUP, sort=False).std(), f".{digits}f")


def _with_spread(means, spread, form: str):
    """Return means as text, a dash for NaN, with their spread behind a "±" if both are known."""
    known = spread.where(means.notna())
    form_of_spread = form.removeprefix("+")
    return _text(means, form) + known.map(
        lambda s: "" if np.isnan(s) else f" ± {s:{form_of_spread}}"
    )


def _text(values, form: str):
    """Return numbers as text, NaN as a dash."""
    return values.map(lambda value: "-" if np.isnan(value) else format(value, form))


def _markdown(table: pd.DataFrame, more=()) -> str:
    rows = [[*group, *cells] for group, cells in zip(table.index, table.to_numpy().tolist())]
    return _table([*table.index.names, *table.columns], [*rows, *more])


def _table(header, rows) -> str:
    """Return a Markdown table; short rows get empty cells."""
    lines = [list(header), ["---"] * len(header), *rows]
    full = [[*line, *[""] * (len(header) - len(line))] for line in lines]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in full)
