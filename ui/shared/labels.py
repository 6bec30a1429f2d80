"""Makes error messages call the fields of a form by their labels."""

from __future__ import annotations

from collections.abc import Mapping

from sequoia import SequoiaError

RUN = {
    "temperature": "Temperature",
    "top_p": "Top-p",
    "max_new_tokens": "Max tokens",
    "seed": "Seed",
}
_EMPTY = "None is not "  # follows "name: " in the message about an empty field


def with_labels(problem: SequoiaError, labels: Mapping[str, str]) -> SequoiaError:
    """`problem` with a label in place of the name that its message begins with. Unchanged if
    `labels` has no label for that name. If the field is empty, the message asks for a value."""
    name, colon, rest = str(problem).partition(": ")
    if not colon or name not in labels:
        return problem
    if rest.startswith(_EMPTY):
        rest = f"enter {rest.removeprefix(_EMPTY)}"
    return type(problem)(f"{labels[name]}: {rest}")
