"""The programs in README.md and in the documentation run as they are printed."""

import re
import runpy

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sources import ROOT

from cwboost import CWBoostClassifier, datasets
from cwboost.datasets import load_pendigits

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def programs(page):
    """The fenced blocks marked as Python, joined: later blocks of a page use earlier ones."""
    return re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)


def some_pendigits(return_X_y):
    return tuple(array[::6] for array in load_pendigits(return_X_y=return_X_y))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The set_\\w+ function:PendingDeprecationWarning")  # shap's
@pytest.mark.parametrize("page", [p for p in PAGES if programs(p)], ids=lambda p: p.name)
def test_the_programs_of_a_page_run(page, tmp_path, monkeypatch, capsys):
    """Those of the first page print what it shows. That of users fits ten models, to fewer rows."""
    if page.stem == "user_guide":
        monkeypatch.setattr(datasets, "load_pendigits", some_pendigits)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    program = tmp_path / f"{page.stem}.py"
    program.write_text("\n".join(programs(page)), encoding="utf-8")
    runpy.run_path(str(program), run_name="__main__")
    if page.stem == "README":
        shown = re.findall(r"^```text\n(.*?)^```", page.read_text("utf-8"), re.M | re.S)
        assert shown and capsys.readouterr().out == "".join(shown)


@pytest.mark.filterwarnings("default")  # those of MLflow
def test_the_mlflow_recipe_gives_our_probabilities(tmp_path, monkeypatch):
    pytest.importorskip("mlflow")
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs/deployment.md").read_text(encoding="utf-8")
    served, saving = re.findall(r"^```py\n(.*?)^```", page, re.M | re.S)
    (tmp_path / "cwboost_model.py").write_text(served, encoding="utf-8")
    X, y = load_iris(return_X_y=True)
    clf = CWBoostClassifier("stump", init=None, n_estimators=5, random_state=0).fit(X, y)
    names = {"clf": clf, "X": X}
    exec(saving, names)
    np.testing.assert_array_equal(names["probabilities"], clf.predict_proba(X))
    assert not list((tmp_path / "model").glob("**/*.pkl"))


def test_the_readme_begins_with_the_two_commands_of_continuous_integration():
    block = re.search(r"^```shell\n(.*?)^```", PAGES[0].read_text(encoding="utf-8"), re.M | re.S)
    steps = re.findall(r"^step (\w+) \d+ (make \w+)$", (ROOT / ".ci/run").read_text(), re.M)
    assert set(re.findall(r"^make \w+", block[1], re.M)) == {"make demo", "make test"}
    assert {("demo", "make demo"), ("test", "make test")} <= set(steps)
