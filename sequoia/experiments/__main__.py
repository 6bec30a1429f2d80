"""The experiments: `python -m sequoia.experiments --help`."""

import sys

from sequoia.experiments.command import main

if __name__ == "__main__":
    sys.exit(main())
