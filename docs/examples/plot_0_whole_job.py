"""
A whole job on a mixed table
============================

From a file to a model that serves: read, train, estimate the error, look at probabilities and
reasons, save, predict for one record.
"""

# %%
# The file
# --------
# ANNEALING comes with the package: steel coils, described by numbers and by names, with many gaps.
# The task is to predict the class of a coil. Written to a file and read again, it is a table as you
# may have one.
import json
import tempfile
from pathlib import Path

import pandas as pd
from pandas.api.types import is_numeric_dtype

from cwboost.datasets import load_annealing

table, target = load_annealing(as_frame=True, return_X_y=True)
folder = Path(tempfile.mkdtemp())
table.assign(grade=target).to_csv(folder / "coils.csv", index=False)

data = pd.read_csv(folder / "coils.csv")
y = data.pop("grade")
names = [column for column in data if not is_numeric_dtype(data[column])]
print(f"{len(data)} rows; {data.shape[1]} columns, {len(names)} of text")
print(f"{data.isna().to_numpy().mean():.0%} of the values are missing")
print("rows by class:", y.value_counts().to_dict())

# %%
# Training
# --------
# Columns of text are declared as categories. Gaps need no attention, and neither do parameters. A
# quarter of the rows is kept for the end, and decides nothing. ``plan_`` shows what the training
# rows have decided.
from sklearn.model_selection import train_test_split

from cwboost import CWBoostClassifier

X_train, X_test, y_train, y_test = train_test_split(data, y, stratify=y, random_state=0)
clf = CWBoostClassifier(categorical_features=names, random_state=0)
clf.fit(X_train, y_train)
print(clf.plan_)

# %%
# How good is it?
# ---------------
# Cross-validation on the training rows. If rows belong together (of one patient, one day), pass
# ``groups`` and a splitter such as ``StratifiedGroupKFold``.
from sklearn.model_selection import StratifiedKFold, cross_validate

folds = StratifiedKFold(5, shuffle=True, random_state=0)
found = cross_validate(
    clf, X_train, y_train, cv=folds, scoring=["accuracy", "balanced_accuracy", "neg_log_loss"]
)
for measure in ("accuracy", "balanced_accuracy", "neg_log_loss"):
    values = found[f"test_{measure}"]
    print(f"{measure:18} {values.mean():.3f} ± {values.std(ddof=1) / len(values) ** 0.5:.3f}")
print(f"test accuracy      {clf.score(X_test, y_test):.3f}")

# %%
# Probabilities
# -------------
# They are calibrated on rows that training did not use. The same rows calibrate prediction sets,
# which lack the true class in about one of two hundred cases: most sets have one class, and the
# others show which rows need a second look.
probabilities = pd.DataFrame(clf.predict_proba(X_test), X_test.index, clf.classes_)
sets = clf.predict_set(X_test, alpha=0.005)
print(probabilities[sets.sum(axis=1) > 1].round(2).head())

# %%
# Reasons
# -------
# Which columns matter for the model:
from cwboost.plotting import plot_importances

plot_importances(clf, n_features=8)

# %%
# And for one row: how far each column moves the score of the predicted class from its mean over
# the training rows.
from matplotlib import pyplot

row = X_test.iloc[[0]]
base, values, _ = clf.shap_values(row, background=X_train)
label = clf.predict(row)[0]
parts = pd.Series(values[0, :, list(clf.classes_).index(label)], data.columns)
parts = parts[parts.abs().sort_values().index][-8:]
ax = pyplot.subplots(layout="constrained")[1]
ax.barh([f"{name} = {row[name].iloc[0]}" for name in parts.index], parts)
ax.axvline(0.0, color="0.3", linewidth=0.8)
ax.set(title=f"Why class {label}", xlabel="part of the score")

# %%
# Save and serve
# --------------
# A model file holds arrays, not code, and is safe to load. The process that serves needs the file
# and cwboost. A record may come as JSON, with its fields in any order and some of them missing.
from cwboost import load_model

clf.fit(data, y)  # the model to keep is trained on all rows
clf.save(folder / "coils.cwb")
model = load_model(folder / "coils.cwb")


def answer(request):
    """Return the class of a record and its probability, as JSON."""
    record = pd.DataFrame([json.loads(request)]).reindex(columns=model.feature_names_in_)
    p = model.predict_proba(record)[0]
    return json.dumps({"class": int(model.classes_[p.argmax()]), "probability": round(p.max(), 3)})


request = data.iloc[0].dropna().to_json()
print(request)
print(answer(request))
