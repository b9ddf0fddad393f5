"""The tables of a study on a page: means with standard errors, and comparisons by pairs."""

import csv
import io

import numpy as np
from peers.paired import Paired, standard_error
from peers.report import conditions, table

CHOSEN_ON = {
    *("VOWEL", "PENDIGITS", "digits", "SATIMAGE", "MFEAT", "USPS", "ISOLET"),
    *("otto", "diabetes130", "prudential", "incident_first", "student_dropout", "obesity"),
    *("soybean", "anneal_orig", "mic_outcome", "steel_plates", "cardiotocography10"),
    *("eucalyptus", "animal_shelter", "arrhythmia", "dry_bean", "wall_robot"),
    *("credit_data", "lending_club", "cells", "wa_churn", "OJ", "HMDA", "SmokeBan", "ResumeNames"),
    *("TitanicSurvival", "nassCDS", "headInjury", "loanapp"),
    *("diamonds, clarity", "diamonds, color", "flights, carrier", "stops, race", "rodents, genus"),
    *("clusters, 10 classes", "clusters, 4 classes", "waveform", "friedman"),
}
"""Sets whose training parts were used to choose settings: no evidence for the default."""

FLATTERS = {"mice_protein"}
"""Sets with several rows per subject, which random splits divide: left out of comparisons."""

ORDER = [
    *("cwboost", "trees alone", "kernel alone", "from kernel", "logistic alone", "from logistic"),
    *("stumps", "shared trees", "class-wise trees"),
    *("LightGBM", "XGBoost", "XGBoost vector leaves", "HistGradientBoosting", "CatBoost"),
    *("ChimeraBoost", "tuned LightGBM", "RealMLP", "xRFM"),
]
"""The models as columns."""

FIRST = ["cwboost", "LightGBM", "XGBoost"]
"""The models of the first page."""

LEAST = {"error": 0.001, "log_loss": 0.0}
"""What is added to a measure before ratios are formed, so that an error of 0 has one."""


def errors(records):
    """Return the tables of a study: errors and log losses, and the default against each package."""
    paired = Paired(records, ORDER)
    return "\n\n".join(
        [
            f"Test error in percent / log loss, {_conditions(records, paired)}",
            table(["set", *paired.models], [[name, *_both(paired, name)] for name in paired.sets]),
            *_comparison(paired, (("error", 1.0), ("log_loss", 1.0))),
        ]
    )


def compared(records):
    """Return the default against each package on the sets of a study that are evidence."""
    paired = Paired(records, ORDER)
    measures = [("error", 1.0), ("log_loss", 1.0)]
    if "auc" in records[0]:
        measures.insert(0, ("auc", -1.0))
    parts = _comparison(paired, measures)
    splits = max(paired.n_splits.values())
    return "\n\n".join([*parts, f"{splits} splits. {conditions(records)}."])


def spreadsheet(studies, about):
    """Return the results of every set and package as text of comma-separated values.

    Parameters
    ----------
    studies : dict of str to list of dict
        Records by the name of their study.
    about : list of dict
        Sizes of the sets.
    """
    sizes = {size["set"]: size for size in about}
    columns = ("rows", "numbers", "categories", "missing", "classes")
    spread = [f"{m}{end}" for m in ("error", "log_loss", "auc") for end in ("", "_se")]
    head = ["study", "set", *columns, "chosen_on", "package", "splits", *spread, "fit_seconds"]
    lines = []
    for study, records in studies.items():
        paired = Paired(records, ORDER)
        for name, model in ((n, m) for n in paired.sets for m in paired.models):
            if not paired.measured([name], model):
                continue
            size = [str(round(sizes[name][key], 4)) for key in columns]
            cells = [study, name, *size, str(name in CHOSEN_ON), model, str(paired.n_splits[name])]
            for measure in ("error", "log_loss", "auc"):
                values = paired.values(name, model, measure)
                cells += [_digits(values.mean()), _digits(standard_error(values))]
            lines.append([*cells, _digits(paired.values(name, model, "fit_seconds").mean())])
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([head, *lines])
    return text.getvalue()


def _digits(value):
    """Return a number as text of four digits, nothing for NaN: refused, or not measured."""
    return "" if np.isnan(value) else f"{value:.4g}"


def summary(records):
    """Return the table of the default against each package over several studies."""
    paired = Paired(records, ORDER)
    counted = not_chosen_on(paired)
    behind = []
    for other in paired.models[1:]:
        worse = [
            f"`{name}`"
            for name in paired.measured(counted, other)
            if paired.against("cwboost", other, "error", [name])[2]
        ]
        if worse:
            behind.append(f"than {other} on {', '.join(worse)}")
    return "\n\n".join(
        [
            _against(paired, counted, (("error", 1.0), ("log_loss", 1.0))),
            f"cwboost has the higher error {'; '.join(behind)}." if behind else "",
            f"{conditions(records)}.",
        ]
    )


def beyond_boosting(records):
    """Return the table of the default against models that do not boost."""
    return _default_over(("RealMLP", "xRFM"), records)


def tuned(records):
    """Return the table of the default against tuned packages."""
    return _default_over(("tuned LightGBM",), records)


def _default_over(others, records):
    paired = Paired(records, ORDER)
    counted = not_chosen_on(paired)
    lines = []
    for other in others:
        common = paired.measured(counted, other)
        cells = [other, str(len(common))]
        for measure, least in LEAST.items():
            lower = sum(
                paired.values(name, "cwboost", measure).mean()
                < paired.values(name, other, measure).mean()
                for name in common
            )
            ratio = paired.ratio("cwboost", other, measure, common, least)
            cells.append(f"{bold(f'{ratio:.2f}', ratio < 1)} (lower on {lower})")
        for what in ("fit", "predict"):
            ratio = paired.ratio("cwboost", other, f"{what}_seconds", common)
            cells.append(bold(f"{ratio:.2g}", ratio < 1))
        lines.append(cells)
    head = ["cwboost over", "sets", "error", "log loss", "time of a fit", "of a prediction"]
    return f"{table(head, lines)}\n\n{conditions(records)}."


def ratios(records):
    """Return by package: the number of sets, and its error, log loss and time over the default's.

    Geometric means over the sets on which no choice depends, rounded for a figure.
    """
    paired = Paired(records, ORDER)
    found = {}
    for other in paired.models[1:]:
        common = paired.measured(not_chosen_on(paired), other)
        if common:
            over = {
                measure: round(paired.ratio(other, "cwboost", measure, common, least), 3)
                for measure, least in (*LEAST.items(), ("fit_seconds", 0.0))
            }
            found[other] = {"sets": len(common), **over}
    return found


def largest(records):
    """Return error and log loss on the largest tables of at least ten columns, none chosen on.

    Five have several classes, two have two. Records without a model are those of sets.jsonl.
    """
    about = {r["set"]: r for r in records if "model" not in r}
    paired = Paired([r for r in records if "model" in r], FIRST)
    columns = {name: r["numbers"] + r["categories"] for name, r in about.items()}
    known = [name for name in not_chosen_on(paired) if columns.get(name, 0) >= 10]
    known.sort(key=lambda name: -about[name]["rows"])
    several = [name for name in known if about[name]["classes"] > 2]
    two = [name for name in known if about[name]["classes"] == 2]
    lines = []
    for name in [*several[:5], *two[:2]]:
        size = about[name]
        shape = f"{size['rows']:,} × {columns[name]}, {size['classes']} classes"
        lines.append([f"{name}: {shape}", *_both(paired, name)])
    return table(["data", *paired.models], lines)


def _both(paired, name):
    """Return the cells of a set: per model the mean error in percent and log loss, lowest bold."""
    cells = []
    for model in paired.models:
        parts = []
        for measure, form, factor in (("error", ".1f", 100.0), ("log_loss", ".2f", 1.0)):
            mean = factor * paired.values(name, model, measure).mean()
            parts.append(bold(format(mean, form), paired.is_lowest(name, model, measure)))
        refused = np.isnan(paired.values(name, model, "error")).any()
        cells.append("refused" if refused else " / ".join(parts))
    return cells


def ablation(records):
    """Return error and log loss of parts of the default over those of the default."""
    paired = Paired(records, ORDER)
    lines = []
    for model in paired.models[1:]:
        cells = [model]
        for measure, least in LEAST.items():
            ratio = paired.ratio(model, "cwboost", measure, paired.sets, least)
            lower, _, higher = paired.against(model, "cwboost", measure, paired.sets)
            cells.append(f"{ratio:.2f} ({lower}, {higher})")
        lines.append(cells)
    note = f"{len(paired.sets)} sets, {max(paired.n_splits.values())} splits. {conditions(records)}"
    return f"{table(['model', 'error', 'log loss'], lines)}\n\n{note}."


def trees(records):
    """Return errors and log losses of trees that classes share, and of those of one class each."""
    paired = Paired(records, ORDER)
    means = ["geometric mean of ratios", "1"]
    ratios = [
        f"{paired.ratio(paired.models[1], paired.models[0], measure, paired.sets, least):.2f}"
        for measure, least in (*LEAST.items(), ("fit_seconds", 0.0))
    ]
    lines = [[name, *_both(paired, name)] for name in paired.sets]
    lines.append([*means, f"{ratios[0]} / {ratios[1]}"])
    text = table(["data", *paired.models], lines)
    time = f"Time of class-wise trees over shared ones: {ratios[2]}"
    return f"{text}\n\n{time}; {_conditions(records, paired)}"


def _conditions(records, paired):
    return (
        f"means over {max(paired.n_splits.values())} splits, at most "
        f"{max(r['n'] for r in records):,} training rows. {conditions(records)}."
    )


def _comparison(paired, measures):
    """Return a sentence and the table of the default against each package; nothing without sets."""
    counted = not_chosen_on(paired)
    if not counted:
        return []
    sets = "these sets" if len(counted) == len(paired.sets) else f"the {len(counted)} other sets"
    if FLATTERS & set(paired.sets):
        sets += f" ({', '.join(sorted(FLATTERS & set(paired.sets)))} left out)"
    return [f"cwboost over each package on {sets}:", _against(paired, counted, measures)]


def _against(paired, names, measures):
    titles = {"error": "error", "log_loss": "log loss", "auc": "area under the curve"}
    lines = []
    for other in paired.models[1:]:
        common = paired.measured(names, other)
        if not common:
            continue
        cells = [str(len(common))]
        for measure, sign in measures:
            ratio = paired.ratio("cwboost", other, measure, common, LEAST.get(measure, 0.0))
            counts = "–".join(map(str, paired.against("cwboost", other, measure, common, sign)))
            cells.append(f"{bold(f'{ratio:.2f}', sign * ratio < sign)} ({counts})")
        for what in ("fit", "predict"):
            ratio = paired.ratio("cwboost", other, f"{what}_seconds", common)
            cells.append(bold(f"{ratio:.2f}", ratio < 1.0))
        lines.append([other, *cells])
    head = ["cwboost over", "sets", *(titles[measure] for measure, _ in measures)]
    return table([*head, "time of a fit", "of a prediction"], lines)


def bold(text, condition):
    """Return text of Markdown, in bold letters if the condition holds."""
    return f"**{text}**" if condition else text


def not_chosen_on(paired):
    """Return the sets that are evidence: nothing was chosen on them, and none flatters."""
    return [name for name in paired.sets if name not in CHOSEN_ON | FLATTERS]
