"""``cwboost plugins check`` and ``bench``: what they say of sound and faulty plugins."""

import numpy as np
import pytest
from attack_plugins import PRICED, family

import cwboost
from cwboost.cli import main
from cwboost.experiments import plugin_bench
from cwboost.families.registry import WEAK_LEARNERS


@pytest.fixture
def faulty(monkeypatch):
    """The name of a registered family whose author misspelt an attribute."""
    monkeypatch.setattr(WEAK_LEARNERS, "_registered", dict(WEAK_LEARNERS._registered))
    plugin = family((PRICED, f"self.not_there\n{PRICED}"))
    return cwboost.register_family(type(plugin)).name


@pytest.mark.parametrize("name", ["projection", "kernel"])
def test_a_sound_plugin_passes(name, capsys):
    assert main(["plugins", "check", name]) == 0
    assert " passes " in capsys.readouterr().out


def test_the_first_cause_is_shown_and_the_others_are_counted(faulty, capsys):
    assert main(["plugins", "check", faulty]) == 1
    out = capsys.readouterr().out
    assert out.count("AttributeError") == out.count("Mend line") == 1
    assert "other checks" in out and len(out.splitlines()) < 6


def test_an_unknown_plugin_is_an_error(capsys):
    assert main(["plugins", "check", "nothing"]) == 1
    assert "nothing" in capsys.readouterr().err


@pytest.mark.parametrize("name, others", [("stump", "default tree"), ("kernel", "default")])
def test_a_plugin_is_compared_with_the_default(name, others, monkeypatch, capsys):
    sets = {key: plugin_bench.SETS[key] for key in ("VOWEL",)}
    monkeypatch.setattr(plugin_bench, "SETS", sets)
    monkeypatch.setattr(plugin_bench, "MOST_ROWS", 400)
    assert main(["plugins", "bench", name, "--rounds", "3"]) == 0
    out = capsys.readouterr().out
    lines = [line for line in out.splitlines()[2:] if "%" not in line]
    for model in [name, *others.split()]:
        (line,) = [line for line in lines if line.startswith(model)]
        error, *_, seconds = (float(w) for w in line.split() if w.replace(".", "").isdigit())
        assert 0 < error < 100 and seconds >= 0
    assert out.count(" ± ") == 2
    assert "One and two threads give the same bits." in out


def test_a_set_that_a_plugin_refuses_is_named(monkeypatch, capsys):
    monkeypatch.setattr(plugin_bench, "SETS", {"ANNEALING": plugin_bench.SETS["ANNEALING"]})
    assert main(["plugins", "bench", "projection", "--rounds", "2"]) == 0
    assert "refuses: weak learner 'projection'" in capsys.readouterr().out


def test_bits_are_compared(monkeypatch):
    from cwboost import CWBoostClassifier

    class Careless(CWBoostClassifier):
        def decision_function(self, X):
            return super().decision_function(X) + 1e-12 * (self.n_jobs or 1)

    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 3)), np.arange(60) % 3
    model = Careless("stump", init=None, n_estimators=2).fit(X, y)
    assert "other bits" in plugin_bench._compare_bits(model, X, X, y, y)
