"""The tables of a study on a page: means with standard errors, and paired comparisons."""

from peers.paired import Paired
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
"""Sets on whose training parts choices depend: no evidence for the default."""

FLATTERS = {"mice_protein"}
"""Tables with several rows per subject, which random splits put in both parts: not in the means."""

ORDER = [
    *("cwboost", "trees alone", "kernel alone", "from kernel", "logistic alone", "from logistic"),
    "stumps",
    *("LightGBM", "XGBoost", "HistGradientBoosting", "CatBoost", "ChimeraBoost"),
]
"""The models as columns."""


def errors(records):
    """Return the tables of a page: errors, log losses, and the default against each package."""
    paired = Paired(records, ORDER)
    counted = _counted(paired)
    parts = [
        f"Test error in percent, {_conditions(records, paired)}",
        _grid(paired, "error", ".1f", 100.0),
        "Log loss:",
        _grid(paired, "log_loss", ".3f"),
    ]
    if counted:
        parts += [
            f"{_of_counted(paired, counted)} cwboost against each package: geometric means of "
            "ratios, and the numbers of sets on which it is better, neither is, and it is worse, "
            "beyond two standard errors of the differences on the same splits:",
            _against(paired, counted, (("error", 1.0), ("log_loss", 1.0))),
        ]
    return "\n\n".join(parts)


def ablation(records):
    """Return error and log loss of the default and of its parts alone, in one table."""
    paired = Paired(records, ORDER)
    lines = []
    for name in paired.sets:
        cells = [
            f"{paired.cell(name, model, 'error', '.1f', 100.0)} / "
            f"{paired.values(name, model, 'log_loss').mean():.3f}"
            for model in paired.models
        ]
        lines.append([name, *cells])
    lines.append(["geometric mean over the default", *_over_default(paired)])
    note = f"Test error in percent, mean ± standard error over {paired.n_splits} splits / log loss"
    return f"{note} ({conditions(records)}):\n\n{table(['set', *paired.models], lines)}"


def _over_default(paired):
    return [
        " / ".join(
            f"{paired.ratio(model, 'cwboost', measure, paired.sets, least):.2f}"
            for measure, least in (("error", 0.001), ("log_loss", 0.0))
        )
        for model in paired.models
    ]


def areas(records):
    """Return the same for two classes, with the area under the ROC curve in place of the error."""
    paired = Paired(records, ORDER)
    counted = _counted(paired)
    return "\n\n".join(
        [
            f"Area under the ROC curve, {_conditions(records, paired)}",
            _grid(paired, "auc", ".3f", sign=-1.0),
            "Log loss:",
            _grid(paired, "log_loss", ".3f"),
            f"{_of_counted(paired, counted)} cwboost against each package, as above:",
            _against(paired, counted, (("auc", -1.0), ("log_loss", 1.0), ("error", 1.0))),
        ]
    )


def _conditions(records, paired):
    return (
        f"mean ± standard error over {paired.n_splits} splits; at most "
        f"{max(r['n'] for r in records):,} training rows, defaults of all packages, one thread; "
        "the lowest mean in bold, of areas the largest; a dash: refused, or not run for its time "
        f"({conditions(records)}):"
    )


def _grid(paired, measure, form, factor=1.0, sign=1.0):
    lines = []
    for name in paired.sets:
        mark = " (chosen on)" if name in CHOSEN_ON else ""
        cells = [paired.cell(name, model, measure, form, factor) for model in paired.models]
        best = [paired.is_lowest(name, model, measure, sign) for model in paired.models]
        shown = (f"**{cell}**" if is_best else cell for cell, is_best in zip(cells, best))
        lines.append([f"{name}{mark}", *shown])
    return table(["set", *paired.models], lines)


def _against(paired, names, measures):
    titles = {"error": "error", "log_loss": "log loss", "auc": "area under the curve"}
    lines = []
    for other in paired.models[1:]:
        common = paired.measured(names, other)
        if not common:
            continue
        cells = [str(len(common))]
        for measure, sign in measures:
            least = 0.001 if measure == "error" else 0.0
            ratio = paired.ratio("cwboost", other, measure, common, least)
            better, neither, worse = paired.against("cwboost", other, measure, common, sign)
            cells.append(f"{ratio:.2f}; {better}, {neither}, {worse}")
        seconds = [
            paired.ratio("cwboost", other, f"{what}_seconds", common) for what in ("fit", "predict")
        ]
        lines.append([other, *cells, *(f"{ratio:.2f}" for ratio in seconds)])
    head = ["cwboost over", "sets", *(titles[measure] for measure, _ in measures)]
    return table([*head, "time of a fit", "of a prediction"], lines)


def _counted(paired):
    return [name for name in paired.sets if name not in CHOSEN_ON | FLATTERS]


def _of_counted(paired, counted):
    if len(counted) == len(paired.sets):
        return "No choice depends on these sets."
    repeated = sorted(FLATTERS & set(paired.sets))
    without = f" (without {', '.join(repeated)}, whose rows repeat subjects)" if repeated else ""
    return f"On the {len(counted)} sets on which no choice depends{without},"
