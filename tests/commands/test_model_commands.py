"""``cwboost inspect``, ``evaluate`` and ``export``: what they say of a saved model."""

import json
import sys

import numpy as np
import pytest
from attack_plugins import PRICED, family
from models import pair_loss, paper
from reference_family import ReferenceStump
from sklearn.calibration import calibration_curve
from sklearn.metrics import classification_report, confusion_matrix, log_loss, roc_auc_score
from threadpoolctl import threadpool_info, threadpool_limits

import cwboost
from cwboost import AdaBoostMOClassifier, Capabilities
from cwboost.cli import main
from cwboost.experiments import plugin_bench
from cwboost.families.registry import WEAK_LEARNERS

pd = pytest.importorskip("pandas")


def write_table(path, X, y):
    frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(X.shape[1])])
    frame.assign(label=y).to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def saved(tmp_path_factory, halves):
    """A model of stumps, its file, and a file of examples that it was not trained on."""
    X, y, X_test, y_test = halves
    folder = tmp_path_factory.mktemp("saved")
    model = paper(n_estimators=15).fit(X, y)
    model.feature_names_in_ = np.array([f"f{i}" for i in range(10)], dtype=object)
    model.save(folder / "model.cwb")
    del model.feature_names_in_
    return model, folder / "model.cwb", write_table(folder / "data.csv", X_test, y_test)


def output(capsys, *arguments):
    assert main([str(argument) for argument in arguments]) == 0
    return capsys.readouterr().out


def test_inspect(saved, halves, capsys):
    model, path, _ = saved
    found = json.loads(output(capsys, "inspect", path, "--json", "--top", 4))
    assert found["summary"]["rounds"] == 15 and found["summary"]["weak_learner"] == "StumpFamily()"
    for parameter in ("correction='total'", "n_estimators=15", "random_state=0"):
        assert parameter in found["summary"]["classifier"]
    assert found["summary"]["gap"] == model.history_["gap"][-1] / model.history_["objective"][-1]
    X, y, *_ = halves
    loss = pair_loss(model.decision_function(X), y) / (10 * len(y))
    assert found["summary"]["loss"] == pytest.approx(loss)
    assert found["classes"] == list(range(11))
    order = np.argsort(-model.feature_importances_)[:4]
    assert [entry["feature"] for entry in found["importances"]] == [f"f{i}" for i in order]
    strongest = found["strongest"]
    assert len(strongest) == 4
    columns = model.class_columns(strongest[0]["class"])
    assert strongest[0]["coef"] == columns.coef[0] == model.ensemble_.coef().max()
    assert strongest[0]["round"] == columns.round[0]
    assert strongest[0]["edge"] == columns.edge[0] and 0 < strongest[0]["edge"] <= 1
    # The words say when the weak learner answers +1.
    name, sign, threshold, *_ = strongest[0]["votes +1 if"].split()
    values = X[:, int(name[1:])]
    expected = values > float(threshold) if sign == ">" else values <= float(threshold)
    assert np.array_equal(columns.learners.take(np.array([0])).outputs(X)[:, 0] > 0, expected)
    text = output(capsys, "inspect", path)
    for part in (
        "rounds         15",
        f"gap            {found['summary']['gap']:.2%}",
        strongest[0]["votes +1 if"],
    ):
        assert part in text


def test_inspect_says_what_it_cannot_know(halves, tmp_path, capsys):
    path = tmp_path / "bits.cwb"
    AdaBoostMOClassifier("tree", n_estimators=2, random_state=0).fit(*halves[:2]).save(path)
    text = output(capsys, "inspect", path, "--top", 2)
    assert "bit" in text and "tree of " in text


def test_evaluate(halves, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    X, y, X_test, y_test = halves
    model = paper(n_estimators=15).fit(X, y).calibrate(X_test[::2], y_test[::2])
    model.save(tmp_path / "m.cwb")
    X, y = X_test[1::2], y_test[1::2]
    data = write_table(tmp_path / "d.csv", X, y)
    evaluate = ["evaluate", tmp_path / "m.cwb", data, "--alpha", 0.2]
    figure = ["--calibration", tmp_path / "calibration.png"]
    found = json.loads(output(capsys, *evaluate, "--json", "--quiet", *figure))
    p, predicted, sets = model.predict_proba(X), model.predict(X), model.predict_set(X, 0.2)
    assert found["accuracy"] == model.score(X, y)
    assert found["error"] == pytest.approx(np.mean(predicted != y))
    assert found["log_loss"] == pytest.approx(log_loss(y, p))
    matrix = confusion_matrix(y, predicted)
    assert found["confusion_matrix"] == matrix.tolist()
    assert found["auc"] == pytest.approx(roc_auc_score(y, p, multi_class="ovr"))
    report = classification_report(y, predicted, output_dict=True)
    text = output(capsys, *evaluate)
    assert f"error              {found['error']:.2%}" in text
    own = [line.split() for line in text.splitlines() if line.startswith("0 ")]
    assert float(own[0][2]) == round(found["by_class"][0]["recall"], 3)
    assert [int(word) for word in own[1]] == [0, *matrix[0]]
    found_report = {str(row.pop("class")): row for row in found["by_class"]} | found["averages"]
    accuracy = report.pop("accuracy")
    assert found_report == {name: pytest.approx(row) for name, row in report.items()} | {
        "accuracy": accuracy
    }
    true, mean = calibration_curve(predicted == y, p.max(axis=1), n_bins=15)
    size = np.histogram(p.max(axis=1), np.linspace(0, 1, 16))[0]
    wanted = np.abs(true - mean) @ size[size > 0] / len(y)
    assert found["calibration_error"] == pytest.approx(wanted)
    coverage, size = sets[np.arange(len(y)), y].mean(), sets.sum(axis=1).mean()
    assert found["prediction_sets"] == {"alpha": 0.2, "coverage": coverage, "size": size}
    assert (tmp_path / "calibration.png").read_bytes().startswith(b"\x89PNG")
    assert "hold the true class, 80% wanted; " in text


def test_classes_may_have_the_names_of_averages(halves, tmp_path, capsys):
    X, y, *_ = halves
    model, data, found = tmp_path / "m.cwb", tmp_path / "d.csv", []
    for names in (["a", "b", "c"], ["accuracy", "macro avg", "weighted avg"]):
        labels = np.array(names)[y % 3]
        paper(n_estimators=3).fit(X, labels).save(model)
        write_table(data, X, labels)
        found.append(json.loads(output(capsys, "evaluate", model, data, "--json")))
        assert [row.pop("class") for row in found[-1]["by_class"]] == names
        assert names[1] in output(capsys, "evaluate", model, data)
    assert found[0]["by_class"] == found[1]["by_class"]


def test_many_classes_list_the_commonest_confusions(vowel, tmp_path, capsys):
    X, y = vowel
    names = np.array([f"a rather long name of vowel {label}" for label in y])
    paper(n_estimators=3).fit(X, names).save(tmp_path / "m.cwb")
    data = write_table(tmp_path / "d.csv", X, names)
    text = output(capsys, "evaluate", tmp_path / "m.cwb", data)
    assert "the commonest 20 of " in text
    counts = [int(line.split()[-1]) for line in text.partition("examples\n")[2].splitlines()[4:]]
    assert counts == sorted(counts, reverse=True)


def test_export(saved, tmp_path, capsys):
    onnxruntime = pytest.importorskip("onnxruntime")
    model, path, data = saved
    text = output(capsys, "export", path, "--onnx", tmp_path / "m.onnx", "--rounds", 10)
    assert "10 rounds, 10 features, 11 classes" in text
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx")
    X = pd.read_csv(data).iloc[:, :10].to_numpy()
    (label,) = session.run(["label"], {"X": X})
    assert np.array_equal(label, model.predict(X, n_estimators=10))


@pytest.mark.parametrize("command", ["demo", "reproduce"])
def test_long_commands_refuse_arguments_first(command, tmp_path, capsys):
    (tmp_path / "file").touch()
    for wrong, message in [
        (["--out", str(tmp_path / "file")], "--out must be a folder, got the file"),
        (["--seed", "-1"], "--seed must be an integer from 0 to 2**32 - 1, got -1"),
        (["--jobs", "0"], "--jobs must be a number of threads, or -1 for all, got 0"),
    ]:
        assert main([command, "--out", str(tmp_path / "new"), *wrong]) == 1
        captured = capsys.readouterr()
        assert message in captured.err and captured.err.count("\n") == 1 and not captured.out
    assert not (tmp_path / "new").exists()


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


def test_the_cause_is_shown_with_its_remedy(faulty, capsys):
    assert main(["plugins", "check", faulty]) == 1
    out = capsys.readouterr().out
    assert out.count("AttributeError") == out.count("Mend line") == 1
    assert "fails check_fit" in out and len(out.splitlines()) < 6


@pytest.mark.parametrize("name, others", [("stump", "default tree"), ("kernel", "default")])
def test_a_plugin_is_compared_with_the_default(name, others, monkeypatch, capsys):
    sets = {key: plugin_bench.SETS[key] for key in ("VOWEL",)}
    monkeypatch.setattr(plugin_bench, "SETS", sets)
    monkeypatch.setattr(plugin_bench, "MOST_ROWS", 400)
    threads = set()
    monkeypatch.setattr(
        plugin_bench,
        "process_time",
        lambda: threads.update(library["num_threads"] for library in threadpool_info()) or 0.0,
    )
    with threadpool_limits(2):
        assert main(["plugins", "bench", name, "--rounds", "3"]) == 0
    assert threads == {1}
    out = capsys.readouterr().out
    lines = [line for line in out.splitlines()[2:] if "%" not in line]
    for model in [name, *others.split()]:
        (line,) = [line for line in lines if line.startswith(model)]
        error, *_, seconds = (float(w) for w in line.split() if w.replace(".", "").isdigit())
        assert 0 < error < 100 and seconds == 0
    assert out.count(" ± ") == 2
    assert "One and two threads give the same bits." in out


class NoGaps(ReferenceStump):
    name = "without_gaps"
    capabilities = Capabilities()


def test_gaps_are_filled_for_a_plugin_that_takes_none(monkeypatch):
    monkeypatch.setattr(plugin_bench, "SETS", {"ANNEALING": plugin_bench.SETS["ANNEALING"]})
    monkeypatch.setattr(plugin_bench, "N_SPLITS", 2)
    title, table = plugin_bench.bench_plugin(NoGaps(), 2)
    assert "gaps are filled by the most frequent value" in title and "refuses" not in table


def test_a_plugin_may_be_a_file(tmp_path, monkeypatch, capsys):
    """It is registered under its name, for every sub-command."""
    monkeypatch.setattr(WEAK_LEARNERS, "_registered", dict(WEAK_LEARNERS._registered))
    path = tmp_path / "a_first_plugin.py"
    path.write_text(
        "import cwboost\n\n\n@cwboost.register_family\nclass First(cwboost.StumpFamily):\n"
        "    name = 'first'\n"
    )
    assert main(["--plugin", str(path), "plugins", "check", "first"]) == 0
    assert "First() passes" in capsys.readouterr().out
    assert main(["--plugin", str(tmp_path / "absent.py"), "plugins"]) == 1
    assert "absent.py" in capsys.readouterr().err
    assert main(["--plugin", "numpy.py", "plugins"]) == 1
    assert "must be a Python file of a new module name" in capsys.readouterr().err
    del sys.modules["a_first_plugin"]


def test_bits_are_compared(monkeypatch):
    from cwboost import CWBoostClassifier

    class Careless(CWBoostClassifier):
        def decision_function(self, X):
            return super().decision_function(X) + 1e-12 * (self.n_jobs or 1)

    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 3)), np.arange(60) % 3
    model = Careless("stump", init=None, n_estimators=2).fit(X, y)
    assert "other bits" in plugin_bench._compare_bits(model, X, X, y, y)
