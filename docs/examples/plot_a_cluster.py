"""
Training on a cluster
=====================

The same models on data that exceed one machine.
"""

# %%
# A "cluster" of two threads in this process stands for one of many machines. For a real one, pass
# the address of its scheduler to ``Client``.
import dask.array as da
from dask.distributed import Client
from sklearn.model_selection import train_test_split

from cwboost.dask import DaskCWBoostClassifier
from cwboost.datasets import load_pendigits

client = Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=":0")
X, y = load_pendigits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)

# %%
# Data that one worker has room for are trained on there, as on one machine: so are these digits.
# Of larger data, partitions of the rows stay on their workers, which send sums and small tables in
# each round.
rows = da.from_array(X_train, chunks=(2100, -1))
labels = da.from_array(y_train, chunks=2100)
clf = DaskCWBoostClassifier(
    weak_learner="stump", correction="stagewise", learning_rate=0.5, n_estimators=40, random_state=0
)
clf.fit(rows, labels)
print(rows.numblocks[0], "partitions,", clf.n_iter_, "rounds")
print("place:", clf.plan_.reasons["place"])

# %%
# ``to_local`` returns the ordinary classifier, which needs no cluster.
local = clf.to_local()
print(f"test accuracy {local.score(X_test, y_test):.1%}")
client.close()

# %%
# All plots work on it.
from matplotlib import pyplot

from cwboost.plotting import plot_history, plot_loss

axes = pyplot.subplots(1, 2, figsize=(9, 4), layout="constrained")[1]
plot_history(local, ax=axes[0])
plot_loss(local, X_test, y_test, ax=axes[1])
