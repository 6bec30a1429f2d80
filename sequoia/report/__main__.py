"""The report: `python -m sequoia.report --help`."""

import sys

from sequoia.report.command import main

sys.exit(main())
