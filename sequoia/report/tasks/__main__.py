"""Runs one task: `python -m sequoia.report.tasks NAME ARGUMENTS`."""

import sys

from sequoia.report.tasks.run_task import main

sys.exit(main(sys.argv[1:]))
