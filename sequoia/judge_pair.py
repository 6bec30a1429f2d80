"""Judges a pair by what people see: `python -m sequoia.judge_pair --help`."""

import sys

from sequoia.bench.pair_judge import main

if __name__ == "__main__":
    sys.exit(main())
