"""Run the paper's experiments and write the table and the figures.

Finished runs are not repeated: after an interruption, the same command continues. Missing data
sets are reported and never replaced by others; VOWEL and PENDIGITS come with the package.
"""

from cwboost.commands import CommandError, InputPath, add_run_arguments, check_run_arguments
from cwboost.support.extras import extra

FIGURES = ("uci", "digits", "images", "scenes", "traffic", "solver")
QUICK = {"runs": 1, "rounds": 60, "selection_rounds": 20, "seconds": 10.0}


def add_arguments(parser) -> None:
    parser.add_argument(
        "--figure",
        nargs="+",
        choices=(*FIGURES, "all"),
        default=["all"],
        metavar="NAME",
        help=f"experiments: {', '.join(FIGURES)} or all (default: all)",
    )
    parser.add_argument("--data", type=InputPath, metavar="DIR", help="folder of the data sets")
    parser.add_argument("--runs", type=int, help="runs of each method (default: 5)")
    parser.add_argument("--rounds", type=int, help="rounds of boosting (default: 500)")
    parser.add_argument(
        "--selection-rounds", type=int, help="rounds before C is chosen (default: 100)"
    )
    parser.add_argument("--methods", nargs="+", metavar="M", help="only these methods")
    parser.add_argument("--datasets", nargs="+", metavar="NAME", help="only these data sets")
    parser.add_argument(
        "--seconds",
        type=float,
        metavar="S",
        help="limit on the processor time of each training of AdaBoost.MO (default: 1000)",
    )
    parser.add_argument(
        "--weak-learner",
        default="stump",
        metavar="NAME",
        help="registered name (default: stump)",
    )
    parser.add_argument(
        "--quick", action="store_true", help="1 run, 60 rounds, AdaBoost.MO for 10 s at most"
    )
    parser.add_argument("--quiet", action="store_true", help="do not show progress bars")
    add_run_arguments(parser, folder="reproduction", holds="the runs, the table and the figures")


def run(args) -> int:
    check_run_arguments(args)
    from cwboost.experiments.methods import METHODS
    from cwboost.experiments.reproduce import Study

    chosen = dict(QUICK) if args.quick else {}
    chosen |= {name: given for name in QUICK if (given := getattr(args, name)) is not None}
    study = Study(
        figures=FIGURES if "all" in args.figure else tuple(dict.fromkeys(args.figure)),
        out=args.out,
        data_dir=args.data,
        methods=tuple(dict.fromkeys(args.methods or METHODS)),
        datasets=args.datasets,
        seed=args.seed,
        n_jobs=args.jobs,
        weak_learner=args.weak_learner,
        quiet=args.quiet,
        **chosen,
    )
    asked = {*study.protocols(), *study.protocols("solver")}
    if not asked:
        raise CommandError(
            f"--datasets must name data sets of the figures {', '.join(study.figures)}, got "
            f"{' '.join(args.datasets)}"
        )
    if len(carry_out(study, args.results)) == len(asked):
        raise CommandError("--data must have the data of an experiment, got none of them")
    return 0


def carry_out(study, results) -> dict[str, str]:
    """Make the missing runs, print the tables and draw the figures; return what data are absent."""
    with extra("reporting", "a reproduction needs pandas and tqdm"):
        import tqdm  # noqa: F401

        from cwboost.experiments.reporting.figures import draw_figures
        from cwboost.experiments.reporting.report import write_report
    from cwboost.experiments.reproduce import reproduce

    absent = reproduce(study)
    print(write_report(study, absent), file=results)
    for name, message in absent.items():
        print(f"not run: data absent: {name}\n{message}\n", file=results)
    try:
        for path in draw_figures(study):
            print(path, file=results)
    except ImportError as error:
        print(f"no figures: {error}", file=results)
    return absent
