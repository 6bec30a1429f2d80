"""Write ui/shared/web/schema.d.ts: the types of runs and their parts for the page's scripts,
made from those of Python.

    PYTHONPATH=. python .ci/schema_types.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from sequoia.diagnosis.verdict import RaceVerdict
from sequoia.saved_files.race_file import RaceLog
from ui.run.messages import LaneShown
from ui.run.pooled import PoolShown
from ui.words.race_analysis import AnalysisShown

FILE = Path(__file__).parent.parent / "ui" / "shared" / "web" / "schema.d.ts"
HEAD = "// Made by .ci/schema_types.py from the types in sequoia/saved_files. Do not edit.\n"
SENT = (AnalysisShown, LaneShown, PoolShown, RaceVerdict)  # in messages only, without defaults
SIMPLE = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean"}


def text() -> str:
    """The content of the file."""
    definitions: dict[str, Any] = {}
    for one in (RaceLog, *SENT):
        mode = "serialization" if one in SENT else "validation"
        schema = TypeAdapter(one).json_schema(mode=mode)
        definitions |= {**schema.pop("$defs", {}), one.__name__: schema}
    return HEAD + "".join(_interface(name, one) for name, one in sorted(definitions.items()))


def _interface(name: str, schema: dict[str, Any]) -> str:
    required = schema.get("required", [])
    fields = (
        f"  {field}{'' if field in required else '?'}: {_type(one)};\n"
        for field, one in schema["properties"].items()
    )
    return f"\nexport interface {name} {{\n{''.join(fields)}}}\n"


def _type(schema: dict[str, Any]) -> str:
    if ref := schema.get("$ref"):
        return ref.rsplit("/", 1)[1]
    if choices := schema.get("enum"):
        return " | ".join(f'"{choice}"' for choice in choices)
    if "const" in schema:
        return f'"{schema["const"]}"'
    if several := schema.get("anyOf") or schema.get("oneOf"):
        return " | ".join(map(_type, several))
    kind = schema.get("type")
    if kind == "array" and "prefixItems" in schema:
        return f"[{', '.join(map(_type, schema['prefixItems']))}]"
    if kind == "array":
        item = _type(schema["items"])
        return f"({item})[]" if "|" in item else f"{item}[]"
    if kind == "object":
        return f"Record<string, {_type(schema['additionalProperties'])}>"
    return SIMPLE.get(str(kind), "null" if kind == "null" else "any")


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
