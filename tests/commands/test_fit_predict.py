"""``cwboost fit`` and ``predict``: files in, model and predictions out, errors explained."""

import re

import numpy as np
import pytest
from wave_family import Waves

from cwboost import CWBoostClassifier, load_model, register_family
from cwboost.cli import main
from cwboost.datasets import load_vowel
from cwboost.families import registry
from cwboost.input.splits import part_of
from cwboost.kernels import SortedFeatures

pd = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def vowel():
    X, y = load_vowel(return_X_y=True)
    return X[::3], y[::3]


def table_of(X, y=None, names=None):
    frame = pd.DataFrame(X, columns=names or [f"f{i}" for i in range(np.shape(X)[1])])
    return frame if y is None else frame.assign(label=y)


def write_csv(path, X, y=None, names=None):
    table_of(X, y, names).to_csv(path, index=False)
    return path


def run(*arguments):
    return main([str(argument) for argument in arguments])


def test_fit_and_predict_from_csv(vowel, tmp_path, capsys):
    X, y = vowel
    data = write_csv(tmp_path / "train.csv", X, y)
    model = tmp_path / "model.cwb"
    options = ["--weak-learner", "stump", "--rounds", 20, "--seed", 3, "--quiet"]
    settings = ["--set", "correction=total", "--set", "C=100", "--set", "tol=0.0"]
    assert run("fit", data, model, *options, *settings) == 0
    printed = capsys.readouterr().out
    assert f"20 rounds on {len(X)} examples, {X.shape[1]} features, 11 classes" in printed
    expected = CWBoostClassifier(
        "stump", n_estimators=20, correction="total", C=100, tol=0.0, random_state=3
    ).fit(table_of(X), y)
    X, loaded = table_of(X), load_model(model)
    assert np.array_equal(loaded.decision_function(X), expected.decision_function(X))

    assert run("predict", model, data, "--label", -1) == 0
    captured = capsys.readouterr()
    lines = captured.out.splitlines()
    assert lines[0] == "label"
    assert lines[1:] == expected.predict(X).astype(str).tolist()
    assert f"error {1 - expected.score(X, y):.2%} on {len(X)} examples" in captured.err

    features = write_csv(tmp_path / "test.csv", X)
    for option, method in (("--proba", "predict_proba"), ("--scores", "decision_function")):
        out = tmp_path / "out.csv"
        assert run("predict", model, features, option, "--out", out, "--jobs", 1, "--quiet") == 0
        header, found = out.read_text().split()[0], np.loadtxt(out, delimiter=",", skiprows=1)
        assert header == ",".join(map(str, expected.classes_))
        assert np.array_equal(found, getattr(expected, method)(X))
    assert capsys.readouterr() == ("", "")


def test_columns_are_picked_by_the_names_of_the_model(vowel, tmp_path, capsys, recwarn):
    X, y = vowel
    names = [f"länge {f}" for f in range(10)]
    train = write_csv(tmp_path / "train.csv", X, y, names)
    model = tmp_path / "model.cwb"
    assert run("fit", train, model, "--label", "label", "--rounds", 3, "--quiet") == 0
    assert load_model(model).feature_names_in_.tolist() == names
    same = write_csv(tmp_path / "same.csv", X, names=names)
    nameless, turned = tmp_path / "nameless.csv", tmp_path / "turned.csv"
    pd.DataFrame(X).to_csv(nameless, index=False, header=False)
    table = pd.DataFrame({"label": y, "note": "x,y"}).join(pd.DataFrame(X, columns=names))
    table[["label", "note", *reversed(names)]].to_csv(turned)  # with an index
    table.to_parquet(tmp_path / "turned.parquet")
    capsys.readouterr()
    outputs = []
    for data in (
        same,
        [nameless, "--read", "header=None"],
        train,
        turned,
        turned.with_suffix(".parquet"),
    ):
        assert run("predict", model, *(data if isinstance(data, list) else [data])) == 0
        outputs.append(capsys.readouterr().out)
    assert len(set(outputs)) == 1
    assert not recwarn.list
    # The last column that is not a feature of the model is not the label.
    assert run("evaluate", model, turned) == 1
    assert "got 'x,y' (--label names their column)" in capsys.readouterr().err
    found = []
    index = ["--drop", "Unnamed: 0"]
    for data, label in (
        (train, []),
        (turned, ["--label", "label"]),
        (turned, ["--drop", "note", *index]),
    ):
        assert run("evaluate", model, data, *label) == 0
        found.append(capsys.readouterr().out)
    assert len(set(found)) == 1 and "examples           330" in found[0]
    fewer = write_csv(tmp_path / "fewer.csv", X[:, 2:], names=names[2:])
    assert run("predict", model, fewer) == 1
    assert "lacks ['länge 0', 'länge 1']; its columns are" in capsys.readouterr().err
    # Names in the file are ignored if the model was trained without names.
    narrow = tmp_path / "narrow.csv"
    pd.DataFrame(X[:, 1:]).assign(label=y).to_csv(narrow, index=False, header=False)
    assert run("fit", narrow, model, "--rounds", 2, "--quiet", "--read", "header=None") == 0
    assert not hasattr(load_model(model), "feature_names_in_")
    assert run("predict", model, same, "--drop", names[0]) == 0
    assert not recwarn.list


def test_errors_are_one_line(vowel, tmp_path, capsys):
    X, y = vowel
    data, model = write_csv(tmp_path / "train.csv", X, y), tmp_path / "model.cwb"
    assert run("fit", data, model, "--rounds", 2, "--quiet") == 0
    features = write_csv(tmp_path / "features.csv", X)
    narrow = write_csv(tmp_path / "narrow.csv", X[:, :3], y)
    quick = ["reproduce", "--out", tmp_path / "out", "--data", tmp_path, "--quick", "--quiet"]
    quick += ["--figure", "uci", "--datasets"]
    bad = tmp_path / "bad.csv"
    bad.write_text(features.read_text() + "1" + 10 * ",1" + "\n")
    rows = pd.DataFrame({"a": [], "b": []})
    rows.to_parquet(tmp_path / "rows.parquet")
    rows.to_csv(tmp_path / "rows.csv", index=False)
    pd.DataFrame().to_parquet(tmp_path / "columns.pq")
    cases = [
        (["fit", tmp_path / "absent.csv", model], "absent.csv: No such file"),
        (["fit", tmp_path, model], "Is a directory"),
        (["fit", data, model, "--time-limit", -1], "--time-limit must be >= 0, got -1"),
        (["fit", data, model, "--read", "sep"], "--read must be NAME=VALUE, got 'sep'"),
        (["fit", data, model, "--read", "sop=;"], "unexpected keyword argument 'sop' (--sep and"),
        (["fit", data, model, "--read", "encoding=klingon"], "unknown encoding: klingon"),
        (["fit", data, model, "--sep", ";"], "must have 1 features, got 0; its columns are"),
        (["fit", data, model, "--label", "kind"], "--label must be a column of"),
        (["fit", data, model, "--drop", "label", "--label", "label"], "that is not left out"),
        (["predict", model, data, "--label", "f1"], "that is not a feature of the model"),
        (["predict", model, tmp_path / "rows.parquet", "--sep", ";"], "must go with a text file"),
        (["predict", model, bad], "saw 11 (--sep and --read"),
        (["fit", data, tmp_path / "nowhere" / "model.cwb"], "must be in a folder that exists"),
        (["fit", data, tmp_path], "must be a file to write, got a folder"),
        (["fit", data, model, "--weak-learner", "shrub"], "unknown weak learner 'shrub'"),
        (["fit", data, model, "--set", "depth=3"], "Invalid parameter 'depth' for estimator"),
        (["fit", data, model, "--set", "C"], "--set must be NAME=VALUE, got 'C'"),
        (["fit", data, model, "--set", "C=-1"], "C"),
        (["fit", data, model, "--set", "C=much"], "C"),
        (["predict", data, data], "train.csv: not a cwboost model file"),
        (["predict", tmp_path / "absent.cwb", data], "absent.cwb: No such file"),
        (["predict", model, data, "--jobs", 0], "--jobs must be a number of threads, or -1"),
        (["fit", data, model, "--set", "weak_learner__depth=3"], "Invalid parameter 'depth'"),
        (["fit", data, model, "--set", "callbacks=x"], "got callbacks: use --history"),
        (["fit", data, model, "--held-out", "1.5"], "--held-out must be a share >= 0 and < 1"),
        (["fit", data, model, "--valid", tmp_path / "absent.csv"], "absent.csv: No such file"),
        (
            ["fit", data, model, "--valid", narrow],
            "narrow.csv must have 10 features of the model, lacks ['f3',",
        ),
        (["fit", data, model, "--jobs", 0], "--jobs must be a number of threads, -1 for all"),
        (["fit", data, model, "--rounds", 0], "error: --rounds must be >= 1, got 0"),
        (["fit", data, model, "--seed", -1], "error: --seed must be None, an integer from 0"),
        (["evaluate", model, features], "must have a column of labels, got ['f0',"),
        (["fit", tmp_path / "rows.parquet", model], "must have rows, got none"),
        (["fit", tmp_path / "rows.csv", model], "must have rows, got none"),
        (["predict", model, tmp_path / "columns.pq"], "10 features of the model, got 0"),
        (["datasets", "list", "VOWEL"], "list must have no name, got VOWEL"),
        (["fit", data, model, "--history", tmp_path / "no" / "h.csv"], "must be in a folder"),
        (["inspect", model, "--top", -1], "--top must be >= 0"),
        (["evaluate", model, data, "--alpha", 1.5], "--alpha must be between 0 and 1, got 1.5"),
        (["export", model, "--onnx", tmp_path / "m.onnx", "--rounds", 99], "n_estimators must lie"),
        (["plugins", "bench", "projection", "--rounds", 0], "rounds must be >= 1, got 0"),
        (["plugins", "bench", "stump", "--init", "nobody"], "unknown init model 'nobody'"),
        ([*quick, "ISOLET"], "--data must have the data of an experiment"),
        ([*quick, "USPS"], "--datasets must name data sets of the figures uci, got USPS"),
    ]
    capsys.readouterr()
    for arguments, message in cases:
        assert run(*arguments) == 1, arguments
        error = capsys.readouterr().err
        assert message in error, error
        # Before it, at most how a file was read.
        *notes, last = error.splitlines()
        assert last.startswith(f"cwboost {arguments[0]}: error: ")
        assert all(" features" in note for note in notes), error


def test_validation_and_history(vowel, tmp_path, capsys):
    X, y = vowel
    train = write_csv(tmp_path / "train.csv", X[::2], y[::2])
    model, history = tmp_path / "model.cwb", tmp_path / "history.csv"
    share = ["--rounds", 8, "--valid", 0.25, "--history", history, "--quiet"]
    assert run("fit", train, model, *share) == 0
    printed = capsys.readouterr().out
    rows = pd.read_csv(history)
    assert rows["round"].tolist() == list(range(1, 9))
    valid_error = rows["valid_error"].iloc[-1]
    n_valid = len(y[::2]) - int(printed.partition(" rounds on ")[2].split()[0])
    assert abs(n_valid - 42) <= 3  # by class
    assert f"validation error {valid_error:.2%} on {n_valid} examples" in printed

    # The label has a name, and so has the file's: its columns may have another order.
    valid = tmp_path / "valid.csv"
    table_of(X[1::2], y[1::2])[["label", *(f"f{i}" for i in range(10))]].to_csv(valid, index=False)
    paper = ["--weak-learner", "stump", "--set", "correction=total"]
    assert run("fit", train, model, *paper, "--rounds", 8, "--valid", valid, "--quiet") == 0
    expected = CWBoostClassifier("stump", n_estimators=8, correction="total", random_state=0)
    expected.fit(table_of(X[::2]), y[::2], X_val=table_of(X[1::2]), y_val=y[1::2])
    loaded, X = load_model(model), table_of(X)
    assert np.array_equal(loaded.predict_proba(X), expected.predict_proba(X))
    assert f"validation error {expected.history_['valid_error'][-1]:.2%}" in capsys.readouterr().out


def test_a_time_limit_holds_for_both_trainings(vowel, tmp_path, capsys):
    data, model = write_csv(tmp_path / "train.csv", *vowel), tmp_path / "model.cwb"
    fit = ["fit", data, model, "--weak-learner", "stump", "--set", "init=None", "--quiet"]
    assert run(*fit, "--rounds", 10**6, "--time-limit", 0) == 0
    assert "held-out error" in capsys.readouterr().out
    assert load_model(model).stop_reason_ == "time limit"


@pytest.mark.parametrize("at", [7, 1])
def test_an_interrupted_fit_exits_with_130_and_saves_finished_rounds(
    at, vowel, tmp_path, capsys, monkeypatch
):
    data, model = write_csv(tmp_path / "train.csv", *vowel), tmp_path / "model.cwb"
    search, calls = SortedFeatures.search, []

    def interrupted(*arguments):
        calls.append(arguments)
        if len(calls) == at:
            raise KeyboardInterrupt
        return search(*arguments)

    monkeypatch.setattr(SortedFeatures, "search", interrupted)
    assert run("fit", data, model, "--weak-learner", "stump", "--rounds", 19, "--quiet") == 130
    captured = capsys.readouterr()
    assert "interrupted" in captured.err and model.exists() == (at > 1)
    if at == 1:
        assert "no round was finished: nothing saved" in captured.err
    else:
        assert "6 rounds" in captured.out and load_model(model).stop_reason_ == "interrupted"


def test_columns_of_text_are_categories(tmp_path, capsys):
    rng = np.random.default_rng(0)
    city, size = rng.integers(0, 6, 120), rng.random(120)
    names = np.array(["Ulm", "Bonn", "", "Trier", "12", "Hof"])[city]
    rows = [f"{s:.3f},{name},{c % 3}" for s, name, c in zip(size, names, city)]
    data, model = tmp_path / "towns.csv", tmp_path / "model.cwb"
    data.write_text("\n".join(["size,town,kind", *rows]) + "\n")
    assert run("fit", data, model, "--weak-learner", "stump", "--rounds", 10) == 0
    loaded = load_model(model)
    assert sorted(loaded.categories_[1]) == ["12", "Bonn", "Hof", "Trier", "Ulm"]
    assert run("evaluate", model, data, "--quiet") == 0
    assert "error              0.00%" in capsys.readouterr().out
    # A file that has numbers only is read as the model needs it.
    data.write_text("size,town,kind\n0.5,12,1\n0.5,NA,2\n")
    assert run("predict", model, data, "--label", "kind", "--quiet") == 0
    assert capsys.readouterr().out.splitlines() == ["label", "1", "2"]
    assert run("inspect", model) == 0
    assert "town in {" in capsys.readouterr().out


@pytest.mark.parametrize("write", [pd.DataFrame.to_csv, pd.DataFrame.to_parquet])
def test_truth_values_are_numbers_or_the_categories_of_the_model(write, tmp_path, capsys):
    open_ = np.tile([True, False, None], 9)
    X = pd.DataFrame({"as category": pd.Categorical(open_), "as number": open_})
    y = np.where(X["as category"].isna(), "unknown", np.where(X["as number"], "yes", "no"))
    clf = CWBoostClassifier("stump", init=None, n_estimators=9, random_state=0).fit(X, y)
    clf.save(tmp_path / "model.cwb")
    data = tmp_path / ("data.csv" if write is pd.DataFrame.to_csv else "data.parquet")
    write(X.astype(object), data, index=False)
    assert run("predict", tmp_path / "model.cwb", data, "--quiet") == 0
    assert capsys.readouterr().out.split()[1:] == clf.predict(X).tolist() == y.tolist()


@pytest.mark.parametrize("odd", ["?", "-", "01", " b", "b "])
@pytest.mark.parametrize("write", [pd.DataFrame.to_csv, pd.DataFrame.to_parquet])
def test_categories_and_labels_are_words_as_the_model_has_them(odd, write, tmp_path, capsys):
    words = np.array([odd, "b", "c"], dtype=object)
    y = words[np.arange(60) % 3]
    X = pd.DataFrame({"word": words[np.arange(60) % 3]}, dtype="category")
    clf = CWBoostClassifier(n_estimators=9, init=None, random_state=0).fit(X, y)
    clf.save(tmp_path / "model.cwb")
    data = tmp_path / f"data.{write.__name__.removeprefix('to_')}"
    write(X.astype(object).assign(kind=y), data, index=False)
    command = "predict", tmp_path / "model.cwb", data, "--label", "kind", "--out"
    assert run(*command, tmp_path / "labels.csv") == 0
    assert "error 0.00% on 60 examples" in capsys.readouterr().err
    found = pd.read_csv(tmp_path / "labels.csv", keep_default_na=False)
    assert found["label"].tolist() == clf.predict(X).tolist() == y.tolist()


@pytest.mark.parametrize("share", ["--valid", "--held-out"])
@pytest.mark.parametrize("option", ["--groups", "--time"])
def test_whole_groups_or_the_last_part_of_time_are_held_out(option, share, tmp_path, monkeypatch):
    calls, fit = [], CWBoostClassifier.fit

    def observed(self, X, y, **given):
        calls.append((X["kept"], given, self.cv))
        return fit(self, X, y, **given)

    monkeypatch.setattr(CWBoostClassifier, "fit", observed)
    at, data = np.random.default_rng(0).permutation(120), tmp_path / "a.csv"
    table = pd.DataFrame({"of": at // 6, "kept": at // 6, "kind": np.where(at % 2, "a", "b")})
    table.to_csv(data, index=False)
    options = ["--weak-learner", "stump", "--set", "init=None", "--rounds", 2, "--quiet"]
    options += ["--set", "subsample=0.5"]  # the labels follow no column
    assert run("fit", data, tmp_path / "m.cwb", option, "of", share, 0.25, *options) == 0
    kept, given, cv = calls[-1]
    held = set(given["X_val"]["kept"]) if share == "--valid" else set(range(20)) - set(kept)
    assert 1 <= 20 - kept.nunique() <= 6
    if option == "--groups":
        assert held.isdisjoint(kept) and cv is None
        assert given["groups"].tolist() == kept.tolist()
    else:
        assert max(kept) <= min(held) and kept.is_monotonic_increasing and "groups" not in given
        assert type(cv).__name__ == "TimeSeriesSplit"


class Loud(Waves):
    name = "loud"

    @staticmethod
    def transform(X, centre, length):
        print("a word of a plugin")
        return Waves.transform(X, centre, length)


def test_what_a_plugin_prints_does_not_reach_the_results(vowel, tmp_path, capsys, monkeypatch):
    data, model = write_csv(tmp_path / "train.csv", *vowel), tmp_path / "model.cwb"
    registered = dict(registry.WEAK_LEARNERS._registered)
    monkeypatch.setattr(registry.WEAK_LEARNERS, "_registered", registered)
    register_family(Loud)
    assert run("fit", data, model, "--weak-learner", "loud", "--rounds", 2) == 0
    assert run("predict", model, data, "--label", -1) == 0
    assert run("evaluate", model, data, "--json") == 0
    captured = capsys.readouterr()
    assert "a word" in captured.err and "a word" not in captured.out


def test_predict_does_not_demand_labels(tmp_path, capsys):
    data, model = tmp_path / "data.csv", tmp_path / "model.cwb"
    data.write_text("size,kind\n" + "1,a\n2,b\n" * 9)
    assert run("fit", data, model, "--weak-learner", "stump", "--rounds", 2, "--quiet") == 0
    capsys.readouterr()
    for command, text, message in (
        ("predict", "size,kind\n1,\n2,b\n", "1 features; ignored: 'kind'"),
        ("predict --label kind", "size,kind\n1,\n2,b\n", "error 0.00% on 1 examples"),
        ("predict --label kind", "size,kind\n1,\n2,\n", "label in column 'kind'"),
        ("predict --label kind", "size\n1\n2\n", "['size'], or its number, got 'kind'"),
        ("predict --label -1", "size\n1\n2\n", "a column that is not a feature of the model"),
        ("evaluate", "size,kind\n2,b\n1,\n", "row 2 must have a label in column 'kind', got none"),
        ("evaluate", "size\n1\n2\n", "must have a column of labels, got ['size']"),
    ):
        data.write_text(text)
        command, *label = command.split()
        status = run(command, model, data, *label)
        captured = capsys.readouterr()
        assert message in captured.err and status == ("error: " in captured.err)
        assert captured.out.splitlines() == ([] if status else ["label", "a", "b"])
    data.write_text("size,kind\n1,\n2,b\n")
    assert run("predict", model, data, "--label", "kind", "--drop-unlabelled") == 0
    assert capsys.readouterr().out.split() == ["label", "b"]


def test_labels_that_are_no_classes_are_refused(tmp_path, capsys):
    data, model = tmp_path / "data.csv", tmp_path / "model.cwb"
    rows = ["a,1,Ann,1.5,", "b,2,Bob,2,", "a,3,Cy,1.5,", "b,4,Cy,2,", "b,5,Di,2,"]
    data.write_text("\n".join(["kind,size,name,price,none", *rows]))
    for label, message in [
        ("name", "got 3 of 5 labels that occur once, such as 'Ann'"),
        ("price", "got numbers such as 1.5 (--label names another column, --read"),
        ("none", "must have rows with a label, got none"),
    ]:
        assert run("fit", data, model, "--label", label, "--drop-unlabelled") == 1
        assert message in capsys.readouterr().err
    as_text = "--label", "price", "--read", 'dtype={"price": "str"}', "--rounds", 2
    assert run("fit", data, model, *as_text) == 0
    assert run("fit", data, model, "--label", "kind", "--drop", "name", "--rounds", 2) == 0
    # What fit left out need not be named again.
    assert run("predict", model, data) == 0 and run("evaluate", model, data, "--label", "kind") == 0


@pytest.mark.parametrize("method", ["multiboost", "adaboost-ecc", "adaboost-mh", "adaboost-mo"])
def test_the_other_methods(method, vowel, tmp_path, capsys):
    data, model = write_csv(tmp_path / "train.csv", *vowel), tmp_path / "model.cwb"
    options = ["--method", method, "--rounds", 3, "--held-out", 0, "--quiet"]
    assert run("fit", data, model, *options) == run("predict", model, data, "--label", -1) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(vowel[0]) + 2
    assert run("evaluate", model, data) == 0
    why = "training left no examples out" if method == "multiboost" else r"AdaBoost.* a scale"
    assert re.search(f"no prediction sets: {why}", capsys.readouterr().err)


def test_an_error_on_examples_that_were_not_trained_on(vowel, tmp_path, capsys):
    X, y = vowel
    data, model = write_csv(tmp_path / "train.csv", X, y), tmp_path / "model.cwb"
    fit = ["fit", data, model, "--weak-learner", "stump", "--rounds", 20, "--quiet"]
    assert run(*fit) == 0
    text, clf, X = capsys.readouterr().out, load_model(model), table_of(X)
    assert f"training error {1 - clf.score(X, y):.2%}" in text
    kept, held = part_of(y, 0.2, 0)
    expected = CWBoostClassifier("stump", n_estimators=20, random_state=0).fit(
        X.iloc[kept], y[kept]
    )
    error = f"held-out error {1 - expected.score(X.iloc[held], y[held]):.2%} on 66 examples"
    assert f"{error}, of a model of the other 264" in text
    assert run(*fit, "--held-out", 0) == 0 and "held-out" not in capsys.readouterr().out
    assert run(*fit, "--valid", 0.2) == 0 and "held-out" not in capsys.readouterr().out
    assert run(*fit, "--set", "early_stopping=True") == 0
    text = capsys.readouterr().out
    assert "validation error" in text and "held-out" not in text
    few = write_csv(tmp_path / "few.csv", np.c_[X.iloc[:4, :-1], [0, 0, 1, 1]], [0, 0, 1, 1])
    assert run("fit", few, *fit[2:], "--groups", "f9") == 0
    assert "no held-out error: --held-out must leave" in capsys.readouterr().err
