"""Train on the two bundled data sets, print a table and write a figure.

CW corrects all coefficients every round, CW-1 only the new ones. The gap is the objective minus
the dual bound: no model of stumps, of any size, can lower the objective by more than the gap.
"""

from __future__ import annotations

from cwboost.commands import add_run_arguments, shows_progress

__all__ = ["add_arguments", "run"]


def add_arguments(parser) -> None:
    """Declare the arguments."""
    parser.add_argument("--rounds", type=int, default=200, help="rounds of boosting (default: 200)")
    add_run_arguments(parser, folder="demo_output", holds="the models and the figure")


def run(args) -> int:
    """Train, print, write."""
    from cwboost.experiments import demo

    verbose = int(shows_progress(args))
    trained, written = [], []
    for dataset in demo.SETS:
        for method in demo.METHOD_NAMES:
            if not args.quiet:
                print(f"{dataset}, {method}", file=args.results, flush=True)
            one = demo.train(
                dataset,
                method,
                rounds=args.rounds,
                seed=args.seed,
                n_jobs=args.jobs,
                verbose=verbose,
            )
            trained.append(one)
            written += demo.save(one, args.out)
    print(demo.table(trained), file=args.results)
    figure = args.out / "demo.png"
    try:
        demo.draw(trained, figure)
        written.append(figure)
    except ImportError as error:
        print(f"no figure: {error}", file=args.results)
    print("written:", *written, sep="\n  ", file=args.results)
    return 0
