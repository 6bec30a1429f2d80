"""Where the page's scripts and style sheets lie."""

from __future__ import annotations

from pathlib import Path

WEB = Path(__file__).resolve().parent.parent / "canvas"
