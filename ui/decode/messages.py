"""Messages from the server to the Decode view, as JSON strings. A step has the fields of StepTrace.

A message: {run, from, meta?, stored?, trees?, pieces?, steps, done, end?, tail?, error, notice,
wait?, follow?, followed?}. The first message to a follower lacks error and notice. For messages
without a run see `notice_message`.

from: the index of the first step, so that the browser notices that earlier ones are missing.
stored: whether the page can load the run again by its name.
trees: drafted trees. pieces: the texts of tokens. A message has only those that no earlier message
of the run contained, but `so_far` and `whole` send all.
end: why the run ended or paused (see ui.serving.run_job.Ended).
tail: text that is held back after the last token, such as an incomplete character.
wait: how many runs are ahead, and their expected seconds. follow: true if the current run can be
followed meanwhile.
followed: true for another visitor's run (added by `RunJob.follow`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from sequoia import StepTrace, Tree
from sequoia.decoding.recorder import Recorded
from sequoia.diagnosis.compare_runs import Speedup
from sequoia.saved_files.run_file import Run, clock_of, numbered_trees, steps_json
from sequoia.validate_input import json_text
from ui.decode.clocks import mixture_in_file
from ui.words.figures import machine_of


def steps_part(
    added: Sequence[Recorded], known: Mapping[Tree, int]
) -> tuple[dict[str, Any], dict[Tree, int]]:
    """The fields `trees`, `pieces` and `steps` of a message that adds steps, and the numbers of all
    trees so far. known: of the trees that earlier messages had."""
    numbers = numbered_trees((one.step for one in added), known)
    trees = [tree.parents for tree in islice(numbers, len(known), None)]
    pieces = {token: piece for one in added for token, piece in one.pieces.items()}
    part = {
        **({"trees": trees} if trees else {}),
        **({"pieces": pieces} if pieces else {}),
        "steps": steps_json([one.step for one in added], numbers),
    }
    return part, numbers


def all_steps(steps: Sequence[StepTrace], pieces: Mapping[int, str]) -> dict[str, Any]:
    """The fields `from`, `trees`, `pieces` and `steps` of a message with all steps so far."""
    numbers = numbered_trees(steps)
    return {
        "from": 0,
        "trees": [tree.parents for tree in numbers],
        "pieces": pieces,
        "steps": steps_json(steps, numbers),
    }


def notice_message(*, error: str | None = None, notice: str | None = None) -> str:
    """A message without a run: the page shows the texts in banners. The run on screen stays."""
    return json_text({"error": error, "notice": notice})


def whole(run: Run, name: str, stored: bool = False) -> str:
    """The whole `run` as one message. stored: whether the page can load it again by its name."""
    state = {"stored": stored, "done": True, "error": None, "notice": None}
    return json_text({**_all_of(run, name), **state})


def so_far(run: Run, name: str) -> str:
    """All steps so far of a `run` in progress, for a visitor who begins to follow it."""
    return json_text({**_all_of(run, name), "done": False})


def _all_of(run: Run, name: str) -> dict[str, Any]:
    return {"run": name, "meta": run.meta, **all_steps(run.steps, run.pieces)}


def recorded(meta: Mapping[str, Any]) -> dict[str, Any]:
    """The meta of a run or race from a file. What was measured then is recorded now. The words
    about a simulated clock are made anew."""
    clock = clock_of(meta)
    label = "simulated" if clock else "recorded"
    clean = {**meta, "label": label}
    clean.pop("again", None)  # it cannot be run again
    if clock:
        clean |= {"clock_machine": machine_of(clock), **mixture_in_file(meta, clock)}
    if "rates" in meta.get("tree", {}):
        clean["tree"] = {**meta["tree"], "rates": "recorded"}
    if found := meta.get("speedup"):
        speedup = Speedup(found["ratio"], found["low"], found["high"])
        clean["speedup"] = {**found, **speedup.to_dict(), "label": label}
    return clean
