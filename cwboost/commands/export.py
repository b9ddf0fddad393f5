"""Export a saved model to ONNX.

The input X of the graph is one row of features per example; the outputs are label, scores and
probabilities. Needs onnx.

    cwboost export model.cwb --onnx model.onnx
"""

from cwboost.commands import CommandError, InputPath, OutputPath
from cwboost.commands._models import load
from cwboost.support.files import replacing


def add_arguments(parser) -> None:
    parser.add_argument("model", type=InputPath, help="file written by cwboost fit")
    parser.add_argument(
        "--onnx", type=OutputPath, metavar="FILE", required=True, help="file to write"
    )
    parser.add_argument(
        "--float32", action="store_true", help="features are float32 (default: float64)"
    )
    parser.add_argument("--rounds", type=int, help="use the first rounds only (default: all)")


def run(args) -> int:
    from cwboost import to_onnx

    classifier = load(args.model)
    if not args.onnx.absolute().parent.is_dir():
        raise CommandError(f"{args.onnx} must be in a folder that exists")
    try:
        converted = to_onnx(
            classifier,
            n_estimators=args.rounds,
            input_dtype="float32" if args.float32 else "float64",
        )
    except (NotImplementedError, TypeError) as error:
        raise CommandError(f"{args.model}: {error}") from error
    with replacing(args.onnx) as file:
        file.write(converted.SerializeToString())
    n_rounds = classifier.ensemble_.n_rounds if args.rounds is None else args.rounds
    print(
        f"{args.onnx}: {n_rounds} rounds, {classifier.n_features_in_} features, "
        f"{len(classifier.classes_)} classes, {args.onnx.stat().st_size} bytes",
        file=args.results,
    )
    return 0
