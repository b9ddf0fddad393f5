"""No command overwrites what it reads: each pair of paths, as one file, symlink and hard link."""

import argparse
import os
import pkgutil
from importlib import import_module
from itertools import combinations
from pathlib import Path

import pytest

from cwboost import commands
from cwboost.cli import main
from cwboost.commands import InputPath, OutputPath

NAMES = [m.name for m in pkgutil.iter_modules(commands.__path__) if not m.name.startswith("_")]
LINKS = {
    "one path": lambda link, file: None,
    "another spelling": lambda link, file: None,
    "symlink": lambda link, file: link.symlink_to(file),
    "hard link": lambda link, file: os.link(file, link),
}


def actions_of(command):
    parser = argparse.ArgumentParser()
    import_module(f"cwboost.commands.{command}").add_arguments(parser)
    return parser._actions


def role_of(action):
    """Return the class of the path that an argument takes, None if it takes no path."""
    try:
        value = action.type("name.csv")
    except (TypeError, ValueError):
        return None
    return type(value) if isinstance(value, Path) else None


def pairs():
    for command in NAMES:
        paths = [action for action in actions_of(command) if role_of(action)]
        for first, second in combinations(paths, 2):
            if OutputPath in (role_of(first), role_of(second)):
                name = f"{command}-{first.dest}-{second.dest}"
                yield pytest.param(command, first, second, id=name)


def arguments(command, values):
    """Return the arguments of a command with the given paths, the required ones among them."""
    out = [command]
    for action in actions_of(command):
        if action.dest in values or action.required:
            value = str(values.get(action.dest, f"other-{action.dest}"))
            out += [action.option_strings[0], value] if action.option_strings else [value]
    return out


def test_every_path_says_whether_it_is_read_or_written():
    roles = {}
    for command in NAMES:
        for action in actions_of(command):
            role = role_of(action)
            assert role in (None, InputPath, OutputPath), (command, action.dest)
            is_path = action.metavar in ("FILE", "DIR", "FOLDER")
            assert role or not (is_path or action.dest in ("data", "model")), (command, action.dest)
            roles[command, action.dest] = role
    written = {("fit", "model"), ("fit", "history"), ("predict", "out"), ("export", "onnx")}
    assert {roles[each] for each in written} == {OutputPath}
    read = {("fit", "data"), ("fit", "valid"), ("predict", "model"), ("predict", "data")}
    assert {roles[each] for each in read} == {InputPath}


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("command, first, second", pairs())
def test_a_file_is_not_read_and_written(
    command, first, second, link, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "file"
    file.write_text("1,a\n2,b\n")
    other = {"one path": file, "another spelling": Path("x/../file")}.get(link, tmp_path / "link")
    Path("x").mkdir()
    LINKS[link](other, file)
    assert main(arguments(command, {first.dest: file, second.dest: other})) == 1
    error = capsys.readouterr().err
    for action in (first, second):
        assert [*action.option_strings, action.dest][0] in error
    assert "must be two files, got one" in error
    assert file.read_text() == "1,a\n2,b\n"


def test_two_outputs_that_do_not_exist_yet_are_two(tmp_path, capsys):
    data, model = tmp_path / "data.csv", tmp_path / "model.cwb"
    data.write_text("x,y\n" + "1,a\n2,b\n" * 9)
    (tmp_path / "link").symlink_to(model)
    for history in (model, tmp_path / "link"):
        assert main(["fit", str(data), str(model), "--history", str(history)]) == 1
        assert "model and --history must be two files, got one" in capsys.readouterr().err
    assert not model.exists()


def test_the_standard_input_is_a_file_too(tmp_path, capsys):
    data, model = tmp_path / "data.csv", tmp_path / "model.cwb"
    data.write_text("x,y\n" + "1,a\n2,b\n" * 9)
    fit = ["--weak-learner", "stump", "--rounds", "1", "--quiet"]
    assert main(["fit", str(data), str(model), *fit]) == 0
    standard_input, file = os.dup(0), os.open(data, os.O_RDONLY)
    try:
        os.dup2(file, 0)
        assert main(["predict", str(model), "-", "--out", str(data)]) == 1
    finally:
        os.dup2(standard_input, 0)
        os.close(standard_input)
        os.close(file)
    assert "data and --out must be two files" in capsys.readouterr().err
