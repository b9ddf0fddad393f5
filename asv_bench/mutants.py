"""The part of the page on reliability: faults made on purpose, and what the tests run.

Records of results/mutants.jsonl are faults in an `area`: those of tools/mutants.py, and those made
by hand in kernels. The answer to one that no test noticed is "test" (added since), "removed" (the
code) or the reason why none does. One record holds the measured coverage.
"""


def report(records):
    """Return a table of areas, then a sentence on coverage."""
    made = [r for r in records if "outcome" in r]
    (coverage,) = (r for r in records if "lines" in r)
    rows = [
        "| faults in | made | noticed at once | answered by a test or less code | by a reason |"
    ]
    rows.append("|---|---|---|---|---|")
    for area in dict.fromkeys(r["area"] for r in made):
        own = [r for r in made if r["area"] == area]
        noticed = sum(r["outcome"] == "killed" for r in own)
        answered = sum(r.get("answer") in ("test", "removed") for r in own)
        counts = len(own), f"{noticed / len(own):.0%}", answered, len(own) - noticed - answered
        rows.append(f"| {area} | {' | '.join(map(str, counts))} |")
    sentence = (
        f"The fast tests run {coverage['lines']:.0%} of the lines of Python and "
        f"{coverage['branches']:.0%} of the branches."
    )
    return "\n".join([*rows, "", sentence])
