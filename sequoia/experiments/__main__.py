"""Entry point of `python -m sequoia.experiments`."""

import sys

from sequoia.experiments.command import main

if __name__ == "__main__":
    sys.exit(main())
