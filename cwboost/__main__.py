"""Entry point of ``python -m cwboost``, which runs the command ``cwboost``."""

import sys

from cwboost.cli import main

if __name__ == "__main__":
    sys.exit(main())
