"""Attack cwboost: ``python tests/support/attack.py [--times N] [--seed S] NAME...``.

A name stands for every attack that begins with it: "models" for mutated model files of each kind of
model, "models/tree", "checkpoints", "lines", "alarms" and "allocations" for faults at each moment
of small fits.

An attack is a generator of strikes, functions that return what came of it and raise if that is a
defect. A strike on a file names it; the file is kept if the strike raises.
"""

from __future__ import annotations

import argparse
import random
import re
import shutil
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from contextvars import copy_context
from pathlib import Path
from typing import NamedTuple


class Strike(NamedTuple):
    act: Callable[[], str]
    path: Path | None = None


def edited(source, *edits):
    """Return a source with edits (old, new); old is there once, new is indented as its line."""
    for old, new in edits:
        assert source.count(old) == 1, f"{source.count(old)} times: {old}"
        indent = re.search("^ *", source[: source.index(old)].rpartition("\n")[2])[0]
        source = source.replace(old, new.replace("\n", "\n" + indent))
    return source


def carried_out(name, attack, times, seed):
    """Carry out an attack of that many strikes; return how often each outcome came."""
    outcomes, strike, start = Counter(), None, time.process_time()
    try:
        for strike in attack(times, seed):
            # A fault at the end of `with np.errstate(...)` leaves it on, in this context alone.
            outcomes[copy_context().run(strike.act)] += 1
    except BaseException:
        print(f"{name}: strike {outcomes.total()} of {times}, seed {seed}", flush=True)
        if strike is not None and strike.path is not None and strike.path.exists():
            kept = Path(tempfile.mkdtemp(prefix="cwboost-attack-"), strike.path.name)
            print(f"see {shutil.copy(strike.path, kept)}", flush=True)
        raise
    print(f"{name}: {dict(outcomes)}, {time.process_time() - start:.0f} s", flush=True)
    return outcomes


def main():
    # Here, since these modules import this one.
    import attack_fits
    import attack_models

    attacks = attack_models.ATTACKS | attack_fits.ATTACKS
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="+", metavar="NAME")
    parser.add_argument("--times", type=int, default=1000, help="strikes per attack")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    options = parser.parse_args()
    groups = dict.fromkeys(name.partition("/")[0] for name in attacks)
    chosen = [name for name in attacks if name.startswith(tuple(options.names))]
    if unknown := [
        given for given in options.names if not any(n.startswith(given) for n in chosen)
    ]:
        parser.error(f"no attack begins with {unknown}; there are {', '.join(groups)}")
    if attack_fits.need_a_library(chosen):
        return attack_fits.run_with_library(sys.argv).returncode
    for name in chosen:
        carried_out(name, attacks[name], options.times, options.seed)
    return 0


if __name__ == "__main__":
    # Under its own name, so that the attacks import this module and no second copy.
    sys.modules["attack"] = sys.modules["__main__"]
    warnings.simplefilter("ignore")
    sys.exit(main())
