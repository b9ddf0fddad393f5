"""``python -m cwboost`` is the command ``cwboost``."""

import sys

from cwboost.cli import main

if __name__ == "__main__":
    sys.exit(main())
