"""Tables of a study on the same splits: means with standard errors, and paired comparisons."""

import numpy as np

BEYOND = 2.0
"""Standard errors by which the mean paired difference of two models must differ from zero."""


class Paired:
    """Values of measures by set, model and split.

    Parameters
    ----------
    records : list of dict
        Each has ``set``, ``model``, ``seed`` and measures, or ``refused``.
    models : iterable of str
        All names in the order of the columns; those without a record are left out.
    """

    def __init__(self, records, models):
        known = {r["model"] for r in records}
        self.models = [name for name in models if name in known]
        self.sets = list(dict.fromkeys(r["set"] for r in records))
        self.n_splits = {
            name: 1 + max(r["seed"] for r in records if r["set"] == name) for name in self.sets
        }
        self._records = {(r["set"], r["model"], r["seed"]): r for r in records}

    def measured(self, names, model):
        """Return those of the sets on which a model was run on all splits, if only to refuse."""
        return [
            n
            for n in names
            if all((n, model, seed) in self._records for seed in range(self.n_splits[n]))
        ]

    def values(self, name, model, measure):
        """Return a measure by split, NaN for a split that the model refused or was not run on."""
        seeds = range(self.n_splits[name])
        found = [self._records.get((name, model, seed), {}) for seed in seeds]
        return np.array([r.get(measure, np.nan) for r in found])

    def cell(self, name, model, measure, form, factor=1.0):
        """Return mean and standard error as text, "refused", or a dash if a split was not run."""
        values = factor * self.values(name, model, measure)
        if np.isnan(values).any():
            return "refused" if self.measured([name], model) else "–"
        return mean_and_error(values, form)

    def is_lowest(self, name, model, measure, sign=1.0):
        """Return True if no model has a better mean; `sign` is -1 if more is better."""
        models = [other for other in self.models if self.measured([name], other)]
        means = [sign * self.values(name, other, measure).mean() for other in models]
        return sign * self.values(name, model, measure).mean() <= np.nanmin(means) + 1e-12

    def against(self, own, other, measure, names, sign=1.0):
        """Return the numbers of sets on which `own` is better, neither is, and `other` is.

        One is better if the mean of the differences on the same splits exceeds two standard
        errors. A model that refused a set is behind on it.
        """
        counts = [0, 0, 0]
        for name in names:
            differences = sign * (
                self.values(name, own, measure) - self.values(name, other, measure)
            )
            error = standard_error(differences)
            if np.isnan(differences).any() or differences.mean() < -BEYOND * error:
                counts[0] += 1
            else:
                counts[2 if differences.mean() > BEYOND * error else 1] += 1
        return counts

    def ratio(self, model, other, measure, names, least=0.0):
        """Return the geometric mean of the ratios of means, over sets that neither refused."""
        both = (model, other)
        means = np.array([[self.values(n, m, measure).mean() for m in both] for n in names])
        means = means[~np.isnan(means).any(axis=1)] + least
        return float(np.exp(np.log(means[:, 0] / means[:, 1]).mean()))


def standard_error(values):
    """Return the standard error of the mean, NaN of one value."""
    return values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan


def mean_and_error(values, form):
    """Return mean and standard error as text; of one value the mean alone."""
    mean, error = format(values.mean(), form), standard_error(values)
    return mean if np.isnan(error) else f"{mean} ± {format(error, form)}"
