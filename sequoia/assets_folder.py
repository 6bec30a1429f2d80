"""The folder of the data that ships with the program."""

from __future__ import annotations

from pathlib import Path

ASSETS = Path(__file__).resolve().parent.parent / "assets"
BUNDLED_PAIR = ASSETS / "pair"
