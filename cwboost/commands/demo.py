"""Train the default and two classifiers of scikit-learn on bundled data, print a table.

Every classifier has its default settings.
"""

import os
import shutil
import sysconfig

from cwboost.commands import add_run_arguments, check_run_arguments


def add_arguments(parser) -> None:
    add_run_arguments(parser, folder="demo_output", holds="the models and the figure")


def run(args) -> int:
    check_run_arguments(args)
    print(
        "The default of cwboost beside two classifiers of scikit-learn, on three bundled data "
        "sets.\nThis takes about ten seconds on one core, and a few more when first run.\n",
        file=args.results,
        flush=True,
    )
    from cwboost.experiments import demo

    trained, splits = [], {}
    for dataset, (_, about) in demo.SETS.items():
        split = splits[dataset] = demo.make_split(dataset, args.seed)
        rows, test_rows = len(split.y_train), len(split.y_test)
        print(
            f"{dataset}: {about}; {rows:,} rows to train on, {test_rows:,} to test",
            file=args.results,
            flush=True,
        )
        trained += demo.train(split, args.seed, args.jobs)
    print(
        f"\n{demo.table(trained)}\n\n"
        f"One stratified 75/25 split of each set (seed {args.seed}), default settings, "
        f"threads: {args.jobs}.\nMeasurements are on the documentation's page of benchmarks.\n\n"
        f"The certificate: {demo.certificate(splits['VOWEL'], args.seed, args.jobs)}\n",
        file=args.results,
    )
    figure, path = args.out / "demo.png", args.out / "annealing.cwb"
    written = _draw(demo.draw, trained, figure, args.results)
    args.out.mkdir(parents=True, exist_ok=True)
    defaults = {result.dataset: result for result in trained if result.name == "cwboost"}
    defaults["ANNEALING"].model.save(path)
    print("written:", *written, path, sep="\n  ", file=args.results)
    command = _command()
    print(
        "next:",
        f"{command} inspect {path}   # what this model holds",
        f"{command} reproduce --figure uci --quick   # the methods of the paper, round by round",
        f"{command} --help         # fit your own file",
        "or in Python: CWBoostClassifier().fit(X, y), as in README.md",
        sep="\n  ",
        file=args.results,
    )
    return 0


def _draw(draw, trained, path, results) -> list:
    """Draw a figure; return its path, or nothing if matplotlib is absent, which is printed."""
    try:
        draw(trained, path)
    except ImportError as error:
        print(f"no figure: {error}", file=results)
        return []
    return [path]


def _command() -> str:
    """Return what runs cwboost here: its name if a shell finds it, else a relative path."""
    if shutil.which("cwboost"):
        return "cwboost"
    return os.path.join(os.path.relpath(sysconfig.get_path("scripts")), "cwboost")
