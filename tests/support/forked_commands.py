"""Run commands, each in a process that begins as one of Python does, but has imported everything.

The standard input has a list in JSON of (arguments, streams, encoding). `streams` has for 1 and 2
the name of a file, or None for a closed one. The standard output gets the status of each command.
"""

import gc
import json
import os
import sys
from importlib import import_module

from cwboost.cli import main

WARM = "pandas", "sklearn.svm", "sklearn.discriminant_analysis", "cwboost.classifier"


def stream(descriptor, name, encoding, errors):
    """Return the stream of a descriptor, as an interpreter makes it when it begins."""
    if name is None:
        os.close(descriptor)
        return None
    file = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(file, descriptor)
    os.close(file)
    buffering = 1 if descriptor == 2 else -1  # messages by line
    return open(descriptor, "w", buffering, encoding, errors, closefd=False)


def run(arguments, streams, encoding):
    """Run a command in a child and return its status; nothing is cleared up, to save time."""
    if child := os.fork():
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    sys.stdout = sys.__stdout__ = stream(1, streams["1"], encoding, "strict")
    sys.stderr = sys.__stderr__ = stream(2, streams["2"], encoding, "backslashreplace")
    status = main(arguments)
    try:
        for each in filter(None, (sys.stdout, sys.stderr)):
            each.flush()
    except OSError:
        status = 120  # as the interpreter ends if it cannot write what is left
    os._exit(status)


if __name__ == "__main__":
    for name in WARM:
        import_module(name)
    gc.freeze()  # else a collection in a child copies all of its memory
    print(json.dumps([run(*job) for job in json.load(sys.stdin)]))
