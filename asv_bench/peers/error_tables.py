"""The tables of errors, log losses and times, and the comparison with the goals."""

import numpy as np
from peers.report import table

OTHERS = ("LightGBM", "XGBoost", "CatBoost", "Hist", "Extra", "RandomForest", "SVC")


class Rows:
    """Results, by set and model.

    Parameters
    ----------
    rows : list of dict
        Each has ``set``, ``model``, ``seed`` and measures.
    sets, models : sequence of str
        All names, in the order of the tables.
    one_split : sequence of str, default=()
        Sets whose split is the same for every seed, so that seeds are those of the models alone.
    """

    def __init__(self, rows, sets, models, one_split=()):
        self._one_split = one_split
        self.sets = [name for name in sets if any(row["set"] == name for row in rows)]
        self.models = [name for name in models if any(row["model"] == name for row in rows)]
        self._values = {}
        for row in rows:
            self._values.setdefault((row["set"], row["model"]), {})[row["seed"]] = row

    def values(self, name, model, measure):
        """Return a measure by seed."""
        found = self._values.get((name, model), {})
        return {seed: row[measure] for seed, row in found.items() if measure in row}

    def mean(self, name, model, measure):
        """Return the mean over the seeds, NaN without any."""
        values = list(self.values(name, model, measure).values())
        return float(np.mean(values)) if values else np.nan

    def ratio(self, name, model, other, measure):
        """Return the ratio of two models' means over the splits that both have, or NaN."""
        if name in self._one_split:
            return self.mean(name, model, measure) / self.mean(name, other, measure)
        ours, theirs = (self.values(name, one, measure) for one in (model, other))
        common = ours.keys() & theirs.keys()
        if not common:
            return np.nan
        return float(np.sum([ours[s] for s in common]) / np.sum([theirs[s] for s in common]))

    def best_other(self, name, measure):
        """Return the model of another package with the lowest mean, or None."""
        others = [m for m in self.models if m.startswith(OTHERS)]
        means = {m: self.mean(name, m, measure) for m in others}
        means = {m: mean for m, mean in means.items() if not np.isnan(mean)}
        return min(means, key=means.get) if means else None


def grid(rows: Rows, measure, form):
    """Return a table with a line per model and a column per set, the lowest of a column in bold.

    A cell has the number of its splits in brackets if that is not the number in the first line.
    """
    models = [m for m in rows.models if any(rows.values(s, m, measure) for s in rows.sets)]
    usual = [len(rows.values(name, models[0], measure)) for name in rows.sets]
    lowest = [np.nanmin([rows.mean(name, m, measure) for m in models]) for name in rows.sets]
    lines = [["splits", *map(str, usual)]]
    for model in models:
        line = [model]
        for name, n_usual, low in zip(rows.sets, usual, lowest):
            mean, n = rows.mean(name, model, measure), len(rows.values(name, model, measure))
            text = form.format(mean) if n else "-"
            text = f"**{text}**" if n and text == form.format(low) else text
            line.append(f"{text} ({n})" if n and n != n_usual else text)
        lines.append(line)
    return table(["", *rows.sets], lines)


def by_set(rows: Rows, measure, form="%.2f"):
    """Return a table with a line per set and a column per model, the lowest of a line in bold."""
    lines = []
    for name in rows.sets:
        values = [rows.mean(name, model, measure) for model in rows.models]
        cells = [f"**{form % v}**" if v == np.nanmin(values) else form % v for v in values]
        sizes = (rows.mean(name, rows.models[0], of) for of in ("n_train", "d", "n_classes"))
        lines.append([name, *(f"{size:,.0f}" for size in sizes), *cells])
    return table(["", "training examples", "features", "classes", *rows.models], lines)


def against_goals(rows: Rows, ours):
    """Return, per set, one model's error and log loss over the best others', and times."""
    head = ["", ours, "the best other", "its error", "error over it", "log loss over the best"]
    head += ["fit over LightGBM", "prediction over LightGBM"]
    lines = []
    for name in rows.sets:
        best, surest = (rows.best_other(name, measure) for measure in ("error", "log_loss"))
        ratios = [
            rows.ratio(name, ours, best, "error"),
            rows.ratio(name, ours, surest, "log_loss"),
            rows.ratio(name, ours, "LightGBM", "seconds"),
            rows.ratio(name, ours, "LightGBM", "predict_ms"),
        ]
        errors = [f"{rows.mean(name, ours, 'error'):.2f}", best]
        errors += [f"{rows.mean(name, best, 'error'):.2f}" if best else "-"]
        cells = ["-" if np.isnan(ratio) else f"{ratio:.2f}" for ratio in ratios]
        lines.append([name, *map(str, errors), *cells])
    return table(head, lines)
