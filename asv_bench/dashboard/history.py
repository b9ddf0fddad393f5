"""The stored points: each holds what the present benchmarks measure, with the same parameters."""

import json

__all__ = ["tidied", "tidy"]


def tidied(point, benchmarks):
    """Return a stored point without what would split or outlive the curves.

    Parameters
    ----------
    point : dict
        Results of one commit, as asv stores them.
    benchmarks : dict
        asv's ``benchmarks.json``.

    Returns
    -------
    dict
        Without results of benchmarks that are gone or measured something else then, which have
        another version; and without the version of asv's file format, which some releases store
        among the parameters of the machine: asv draws one curve per set of parameters.
    """
    place = point["result_columns"].index("version")
    present = {
        name: result
        for name, result in point["results"].items()
        if name in benchmarks and result[place] == benchmarks[name]["version"]
    }
    params = {name: value for name, value in point["params"].items() if name != "version"}
    return {**point, "results": present, "params": params}


def tidy(folder):
    """Tidy all points of one machine; `folder` is that of the history."""
    benchmarks = json.loads((folder / "benchmarks.json").read_text())
    for path in folder.glob("*/*-*.json"):
        point = json.loads(path.read_text())
        if (new := tidied(point, benchmarks)) != point:
            path.write_text(json.dumps(new))
