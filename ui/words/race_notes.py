"""Sentences about the choice of a race's trees, from the notes in its description."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sequoia.planning.compare_plans import Elsewhere
from ui.words.figures import text_words
from ui.words.race_verdict import elsewhere_words

Note = dict[str, Any]  # see `Note` in sequoia/saved_files/run_meta.py


def note_words(notes: Sequence[Note], elsewhere: Elsewhere | None = None) -> list[str]:
    """A sentence for each of `notes`. If a lane was left out, and a tree would win on the machine
    `elsewhere`, a sentence about that follows."""
    words = [_WORDS[note["code"]](note) for note in notes]
    if elsewhere and any(note["code"] == "repeat" for note in notes):
        words.append(elsewhere_words(elsewhere))
    return words


def _rates_words(note: Note) -> str:
    """Where the acceptance rates come from. If they come from different texts for the two prompts,
    the sentence says so for each."""
    found: dict[str, dict[str, None]] = {}
    for source in note["sources"]:
        found.setdefault(source["prompt_name"], {})[_source_words(source)] = None
    by_prompt = {name: " and ".join(words) for name, words in found.items()}
    if len(words := set(by_prompt.values())) == 1:
        return f"Trees and chain lengths are planned from acceptance rates {words.pop()}."
    (first, source), *others = by_prompt.items()
    rest = "".join(f"; on {name}, from acceptance rates {other}" for name, other in others)
    return f"On {first}, trees and chain lengths are planned from acceptance rates {source}{rest}."


def _source_words(source: Note) -> str:
    not_here = "" if source["prompt_name"] else ", not on this prompt"
    if source["label"] != "recorded":
        return f"counted on a built-in sample text{not_here}"
    kind = f" ({text_words(source['kind'])})" if source["kind"] else ""
    if source["has_prompt"]:
        return f"counted on texts that include this prompt{kind}"
    return f"counted on other texts{kind}{not_here}"


def _chain_words(note: Note) -> str:
    label = "hypothetical" if note["hypothetical"] else "predicted"
    return (
        f"A tuned chain of {note['nodes']} nodes, not in this race, would reach "
        f"{note['speedup']:.2f}× plain{_on(note)} ({label}, from the rates known before the race)."
    )


def _repeat_words(note: Note) -> str:
    nodes, levels = note["nodes"], note["levels"]
    if nodes == 1:
        return (
            f"{note['lane']} is plain decoding{_on(note)}: nothing larger is predicted to be "
            "faster."
        )
    is_chain = nodes == levels
    shape = f"a chain of {nodes} nodes" if is_chain else f"{nodes} nodes on {levels} levels"
    return (
        f"{note['lane']} is {shape}{_on(note)}, the same as {note['other']}, so it is raced once."
    )


def _instead_words(note: Note) -> str:
    return f"{' and '.join(note['lanes'])} races instead."


def _on(note: Note) -> str:
    return f" on {note['prompt_name']}" if note["prompt_name"] else ""


_WORDS = {
    "rates": _rates_words,
    "missing_chain": _chain_words,
    "repeat": _repeat_words,
    "instead": _instead_words,
}
