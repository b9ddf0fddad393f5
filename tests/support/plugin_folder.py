"""Distributions made of two files each, as the discovery of entry points sees them."""

from __future__ import annotations

import textwrap
from pathlib import Path

# A family that keeps the contract in a dozen lines: the constant learner of the heavier sign.
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

    def __init__(self, X, n_targets):
        self.X, self.n_samples, self.n_targets = X, X.shape[0], n_targets

    def price(self, weights):
        sums = weights.sum(axis=1)
        learners = ConstantLearners(np.where(sums >= 0, 1, -1).astype(np.int8))
        return cwboost.Priced(learners, cwboost.pack_outputs(learners.outputs(self.X)), abs(sums))


class {class_name}(cwboost.WeakLearnerFamily):
    name = {name!r}
    api_version = {api_version}
    learners_type = ConstantLearners
    capabilities = cwboost.Capabilities(exact_pricing=True)

    def bind(self, X, *, n_targets, random_state, n_threads):
        return ConstantPricer(X, n_targets)
"""

REGISTER = """

@cwboost.hookimpl
def cwboost_register_families(register):
    register({class_name})
"""


def family_source(name, *, class_name="Constant", api_version=1, register=True) -> str:
    """Source of a module with one family."""
    source = CONSTANT_FAMILY + (REGISTER if register else "")
    return source.format(name=name, class_name=class_name, api_version=api_version)


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
