"""Plans a tree for each hardware profile that comes with the program: `python -m sequoia.profiles
--help`."""

import sys

from sequoia.bench.ready_profiles import main

if __name__ == "__main__":
    sys.exit(main())
