"""The benchmark: `python -m sequoia.bench --help`."""

import sys

from sequoia.bench.benchmark import main

sys.exit(main())
