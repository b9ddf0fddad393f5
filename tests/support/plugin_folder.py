"""Distributions of two files each, as found by the discovery of entry points."""

from __future__ import annotations

import textwrap
from pathlib import Path

import numpy as np
from attack import edited
from models import bind

from cwboost.families.discovery import list_plugins, resolve_weak_learner

REFERENCE = Path(__file__).with_name("reference_family.py")
ANOTHER = "\n\nclass Another(ReferenceStump):\n    name = {!r}\n    api_version = {}\n"
HOOK = "@cwboost.hookimpl\n"
REGISTER = "register(ReferenceStump)"


def family_source(name, *edits) -> str:
    """Return the source of the reference family under a name, with edits."""
    return edited(REFERENCE.read_text(), ("reference_stump", name), *edits)


def loading(name, *statements) -> str:
    """Return the same with statements that run when the module is imported."""
    first = "DTYPES = {"
    return family_source(name, (first, "\n".join([*statements, first])))


# One module with the families "first" and "second".
PAIR = family_source("first", (REGISTER, f"{REGISTER}\nregister(Another)"))
PAIR += ANOTHER.format("second", 1)


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


BUILT_IN = ["mixed", "projection", "sklearn", "stump", "tree"]
OWN_INIT_MODELS = ["kernel", "linear", "sklearn"]


def only_record(distribution):
    records = [r for r in list_plugins() if r.distribution == distribution]
    assert len(records) == 1
    return records[0]


def assert_usable(name):
    """Assert that another family still prices, unaffected by a failed plugin."""
    weights = np.array([[1.0, 2, -3, -4, 5, 6]])
    pricer = bind(resolve_weak_learner(name), np.arange(12.0).reshape(6, 2), 1)
    assert pricer.price(weights).edges[0] >= weights.sum() - 1e-9


CAPABLE = "Capabilities(missing_values=True)"
HEALTHY = {"healthy_plugin": family_source("healthy", (CAPABLE, "Capabilities()"))}
HEALTHY_RECORD = ("healthy-dist", "2.1", "healthy", "loaded", ("deterministic",))


def assert_healthy_undisturbed():
    r = only_record("healthy-dist")
    got = (r.distribution, r.version, r.name, r.state, r.capabilities)
    assert got == HEALTHY_RECORD
    assert_usable("healthy")
