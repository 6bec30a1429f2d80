"""Distills a draft: `python -m sequoia.distill --help`."""

import sys

from sequoia.distill.command import main

sys.exit(main())
