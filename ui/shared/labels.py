"""Error messages in the words of a form: a field is called what its label says."""

from __future__ import annotations

from collections.abc import Mapping

from sequoia import SequoiaError

RUN = {
    "temperature": "Temperature",
    "top_p": "Top-p",
    "max_new_tokens": "Max tokens",
    "seed": "Seed",
}
RACE = {**RUN, "temperature": "Temp.", "max_new_tokens": "Tokens"}  # a narrower form
_EMPTY = "None is not "  # how the message about an empty field begins


def with_labels(problem: SequoiaError, labels: Mapping[str, str]) -> SequoiaError:
    """`problem` with the field's label in place of the name that its message begins with. For an
    empty field the message asks for a value."""
    name, colon, rest = str(problem).partition(": ")
    if not colon or name not in labels:
        return problem
    if rest.startswith(_EMPTY):
        rest = f"enter {rest.removeprefix(_EMPTY)}"
    return type(problem)(f"{labels[name]}: {rest}")
