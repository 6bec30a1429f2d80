"""A message to the browser as JSON text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sequoia.validate_input import json_text


def message_text(message: Mapping[str, Any]) -> str:
    """`message` as JSON in ASCII, because text from a file may contain a lone surrogate, which
    UTF-8 cannot encode. Raises ValueError for NaN and infinity, which a browser cannot parse."""
    return json_text(message, is_ascii=True)
