"""Measures the acceptance of a pair: `python -m sequoia.survey --help`."""

import sys

from sequoia.bench.acceptance_survey import main

if __name__ == "__main__":
    sys.exit(main())
