"""Distributions of two files each, as found by the discovery of entry points."""

from __future__ import annotations

import textwrap
from pathlib import Path

import numpy as np

import cwboost
from cwboost.families.discovery import list_plugins, resolve_weak_learner

# A family that fulfils the contract in a dozen lines: the constant learner of the heavier sign.
CONSTANT_FAMILY = """
import numpy as np
import cwboost


class ConstantLearners(cwboost.WeakLearners):
    def __init__(self, sign):
        self.sign = sign

    def __len__(self):
        return len(self.sign)

    def outputs(self, X):
        return np.tile(self.sign, (X.shape[0], 1))

    def arrays(self):
        return {{"sign": self.sign}}

    @classmethod
    def from_arrays(cls, arrays, n_features):
        return cls(arrays["sign"])

    def take(self, indices):
        return ConstantLearners(self.sign[np.asarray(indices, dtype=np.intp)])

    @classmethod
    def concatenate(cls, batches):
        return cls(np.concatenate([batch.sign for batch in batches]))


class ConstantPricer(cwboost.Pricer):
    exact = True

    def __init__(self, X):
        self.X, self.n_samples = X, X.shape[0]

    def price(self, weights, request=None):
        sums = weights.sum(axis=1)
        learners = ConstantLearners(np.where(sums >= 0, 1, -1).astype(np.int8))
        return cwboost.Priced(learners, cwboost.pack_outputs(learners.outputs(self.X)), abs(sums))


class {class_name}(cwboost.WeakLearnerFamily):
    name = {name!r}
    api_version = {api_version}
    learners_type = ConstantLearners
    capabilities = cwboost.Capabilities()

    def bind(self, X, context):
        return ConstantPricer(X)
"""

REGISTER = """

@cwboost.hookimpl
def cwboost_register_families(register):
    register({class_name})
"""


def family_source(name, *, class_name="Constant", api_version=1, register=True) -> str:
    """Return the source of a module with one family."""
    source = CONSTANT_FAMILY + (REGISTER if register else "")
    return source.format(name=name, class_name=class_name, api_version=api_version)


# One module with the families "first" and "second".
PAIR = (
    family_source("first") + family_source("second", class_name="Other", register=False)
).replace("    register(Constant)", "    register(Constant)\n    register(Other)")


def write_distribution(folder: Path, name: str, version: str, entry_points: dict, modules: dict):
    """Write modules and a ``dist-info`` folder; entry_points maps names to module names."""
    for module, source in modules.items():
        (folder / f"{module}.py").write_text(textwrap.dedent(source))
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    lines = [f"{key} = {value}" for key, value in entry_points.items()]
    (info / "entry_points.txt").write_text("\n".join(["[cwboost]", *lines, ""]))
    return info


BUILT_IN = ["auto", "mixed", "projection", "sklearn", "stump", "tree"]
OWN_INIT_MODELS = ["kernel", "sklearn"]


def only_record(distribution):
    records = [r for r in list_plugins() if r.distribution == distribution]
    assert len(records) == 1
    return records[0]


def assert_usable(name):
    """Assert that another family still prices, unaffected by a failed plugin."""
    family = resolve_weak_learner(name)
    X = np.arange(12.0).reshape(6, 2)
    weights = np.array([[1.0, 2, -3, -4, 5, 6]])
    pricer = family.bind(X, cwboost.BindContext(n_targets=1, random_state=np.random.default_rng(0)))
    assert pricer.price(weights).edges[0] >= weights.sum() - 1e-9


HEALTHY = {"healthy_plugin": family_source("healthy")}
HEALTHY_RECORD = ("healthy-dist", "2.1", "healthy", "loaded", 1, ("deterministic",))


def assert_healthy_undisturbed():
    r = only_record("healthy-dist")
    got = (r.distribution, r.version, r.name, r.state, r.api_version, r.capabilities)
    assert got == HEALTHY_RECORD
    assert_usable("healthy")
