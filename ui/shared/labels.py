"""Messages in the words of a form: what the program calls by a name of its own is called what the
field's label says."""

from __future__ import annotations

from collections.abc import Mapping

from sequoia import SequoiaError

RUN = {
    "temperature": "Temperature",
    "top_p": "Top-p",
    "max_new_tokens": "Tokens at most",
    "seed": "Seed",
}
RACE = {**RUN, "temperature": "Temp.", "max_new_tokens": "Tokens"}  # a narrower form
VERIFIER = {"sequoia": "Sequoia", "specinfer": "SpecInfer", "topk": "top-k match"}
_NOTHING = "None is not "  # what is said of a field that holds nothing


def with_labels(problem: SequoiaError, labels: Mapping[str, str]) -> SequoiaError:
    """`problem` with the label of the field whose name its message begins with; of an empty
    field it says that."""
    name, colon, rest = str(problem).partition(": ")
    if not colon or name not in labels:
        return problem
    if rest.startswith(_NOTHING):
        rest = f"nothing is typed; wanted is {rest.removeprefix(_NOTHING)}"
    return type(problem)(f"{labels[name]}: {rest}")
