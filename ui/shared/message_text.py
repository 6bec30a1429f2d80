"""The text of a message to the browser."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def message_text(message: Mapping[str, Any]) -> str:
    """`message` as JSON in ASCII, as text from a file may contain half a character, which UTF-8
    cannot encode. Raises ValueError for NaN and infinity, which a browser cannot read."""
    return json.dumps(message, separators=(",", ":"), allow_nan=False)
