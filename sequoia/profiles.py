"""Plans a tree for each ready hardware profile: `python -m sequoia.profiles --help`."""

import sys

from sequoia.bench.ready_profiles import main

if __name__ == "__main__":
    sys.exit(main())
