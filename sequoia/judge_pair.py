"""Judges a pair of models by the text it writes: `python -m sequoia.judge_pair --help`."""

import sys

from sequoia.bench.pair_judge import main

if __name__ == "__main__":
    sys.exit(main())
