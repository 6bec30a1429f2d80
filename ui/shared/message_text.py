"""The text of a message to the browser."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def message_text(message: Mapping[str, Any]) -> str:
    """`message` as JSON. Raises ValueError for NaN and infinity, which a browser cannot read."""
    return json.dumps(message, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
