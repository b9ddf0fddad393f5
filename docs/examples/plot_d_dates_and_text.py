"""
Dates and text
==============

``fit`` takes numbers and categories, and refuses dates and free text. An encoder in front of it
makes numbers of these, and leaves categories and gaps as they are.
"""

# %%
# A made-up table: messages to a help desk. What a message is about follows from its words, from
# the hour, and from the kind of customer.
import numpy as np
import pandas as pd

rng = np.random.default_rng(0)
n = 1200
words = {
    "invoice": ["invoice", "amount", "paid", "twice", "refund", "bill"],
    "outage": ["offline", "error", "server", "down", "again", "slow"],
    "question": ["how", "where", "export", "settings", "account", "invite"],
}
common = ["please", "hello", "thanks", "the", "my", "we", "is", "not"]
opened = pd.Timestamp("2026-01-01") + pd.to_timedelta(rng.integers(0, 365 * 24, n), unit="h")
at_night = (opened.hour < 7) | (opened.hour > 20)
is_shop = rng.random(n) < 0.4
weight = np.array([np.where(is_shop, 3, 1), np.where(at_night, 4, 1), np.ones(n)]).T
y = np.array([rng.choice(list(words), p=w / w.sum()) for w in weight])


def text_about(topic):
    """Return six words in any order, one of them telling in seven texts of ten."""
    telling = rng.choice(words[topic] if rng.random() < 0.7 else common)
    return " ".join(rng.permutation([telling, *rng.choice(common, 5)]))


X = pd.DataFrame(
    {
        "opened": opened,
        "message": [text_about(topic) for topic in y],
        "customer": pd.Categorical(np.where(is_shop, "shop", "home")),
        "messages before": np.where(rng.random(n) < 0.1, np.nan, rng.poisson(2, n)),
    }
)
print(X.head(3).to_string())

# %%
# ``TableVectorizer`` of skrub finds out what each column is. Dates become year, month, day, hour,
# weekday and seconds since 1970. Columns of many texts become a few numbers: the weights of their
# terms, projected on the directions of largest variation. ``ToCategorical`` leaves columns of few
# names to cwboost, which treats them as categories. Numbers pass, gaps included.
from sklearn.pipeline import make_pipeline
from skrub import DatetimeEncoder, StringEncoder, TableVectorizer, ToCategorical

from cwboost import CWBoostClassifier

encoder = TableVectorizer(
    low_cardinality=ToCategorical(),
    high_cardinality=StringEncoder(n_components=12, random_state=0),
    datetime=DatetimeEncoder(add_weekday=True),
)
train, test = np.arange(n) < 800, np.arange(n) >= 800
model = make_pipeline(encoder, CWBoostClassifier(random_state=0)).fit(X[train], y[train])
print(encoder.transform(X[:2]).T.to_string())

# %%
# What each of the columns is worth, by the accuracy without it:
from matplotlib import pyplot

accuracy = {"all columns": model.score(X[test], y[test])}
for column in X:
    fewer = X.drop(columns=column)
    accuracy[f"without {column}"] = model.fit(fewer[train], y[train]).score(fewer[test], y[test])
_, ax = pyplot.subplots(figsize=(6, 2.5), layout="constrained")
ax.bar_label(ax.barh(list(accuracy), list(accuracy.values())), fmt="{:.1%}", padding=3)
ax.set(xlim=(0, 1), xlabel="accuracy on new messages")
ax.invert_yaxis()
