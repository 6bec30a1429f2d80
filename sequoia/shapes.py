"""Times models of real sizes with random weights: `python -m sequoia.shapes --help`."""

import sys

from sequoia.bench.random_weights import main

if __name__ == "__main__":
    sys.exit(main())
