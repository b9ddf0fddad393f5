"""
A column of text
================

A plugin that turns text into scores of the classes.
"""

# %%
# The task: from which part of SciPy does a function come? Its summary is a text, the counts of its
# parameters and lines are numbers, and its type is a category.
import importlib
import inspect

import numpy as np
import pandas
from cwboost_text import TextScores
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from cwboost import CWBoostClassifier

rows = []
for part in ["integrate", "linalg", "ndimage", "optimize", "signal", "special", "stats"]:
    module = importlib.import_module(f"scipy.{part}")
    for name in module.__all__:
        thing = getattr(module, name)
        doc = inspect.getdoc(thing) or ""
        if not callable(thing) or len(doc) < 200:
            continue
        summary, _, rest = doc.partition("Parameters\n")
        rows.append(
            {
                "text": summary[:300],
                "parameters": rest.partition("Returns\n")[0].count(" : "),
                "lines": doc.count("\n"),
                "kind": type(thing).__name__,
                "part": part,
            }
        )
frame = pandas.DataFrame(rows)
y = frame.pop("part")
frame["kind"] = frame["kind"].astype("category")
print(f"{len(frame)} examples, for one:\n{frame.iloc[0]}")

# %%
# ``TextScores`` replaces the text by one column per class: scores of a logistic regression on terms
# weighted by TF-IDF. Those of training rows are cross-fitted, so that they are as good as those of
# new rows, not better. Numbers, gaps and categories stay as they are.
models = {
    "without the text": make_pipeline(CWBoostClassifier(random_state=0)),
    "the text alone": make_pipeline(
        TfidfVectorizer(ngram_range=(1, 2), min_df=2), LogisticRegression(C=3, max_iter=300)
    ),
    "both": make_pipeline(TextScores("text"), CWBoostClassifier(random_state=0)),
}
for name, model in models.items():
    errors = []
    for seed in range(3):
        parts = train_test_split(frame, y, test_size=0.4, random_state=seed, stratify=y)
        X_train, X_test, y_train, y_test = parts
        if name == "without the text":
            X_train, X_test = X_train.drop(columns="text"), X_test.drop(columns="text")
        elif name == "the text alone":
            X_train, X_test = X_train["text"], X_test["text"]
        errors.append(1 - model.fit(X_train, y_train).score(X_test, y_test))
    print(f"{name:18} test error {np.mean(errors):.1%}")

# %%
# The columns of scores that replace the text matter most:
from cwboost.plotting import plot_importances

plot_importances(model[-1], n_features=8)
