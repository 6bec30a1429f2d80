"""The page can open files that people saved earlier. It shows saved runs as recorded.
test_saved_files.py says where the files in `tests/saved/` come from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sequoia import Pair, SamplingParams, Tree
from ui.run.recordings import opened
from ui.run.request import RunRequest, settings_of
from ui.serving.limits import LOCAL
from ui.shared.saved_profiles import load_upload as load_profile
from ui.shared.tree_request import TreeRequest

SAVED = Path(__file__).resolve().parents[1] / "saved"
RACES = {  # name: steps of all lanes, whether it was stopped, verdict of each lane
    "greedy": (24 + 13 + 12, False, [None, "exact", "exact"]),
    "law": (24 + 11 + 10, False, [None, "fits", "fits"]),
    "stopped": (2, True, [None, "none"]),
}
PROFILES = {  # file: name in the menu, source of its figures, start of the note
    "measured": ("measured", "recorded", ""),
    "kept": ("my laptop", "recorded", "one thread"),
    "simulated": ("simulated", "simulated", ""),
    "before-level-overhead": (
        "AMD EPYC, two cores, bundled pair",
        "recorded",
        "Measured by this program with the bundled pair on two cores",
    ),
}


@pytest.mark.parametrize("name", RACES)
def test_a_race_opens(name: str) -> None:
    moves, stopped, verdicts = RACES[name]
    race = opened(str(SAVED / "races" / f"{name}.json"), LOCAL.upload)
    message = json.loads(race.whole())
    assert len(message["steps"]) == moves
    assert message["stopped"] is stopped
    assert message["meta"]["label"] == "recorded"
    found = [result and result["lossless"]["kind"] for result in message["results"]]
    assert found == verdicts
    assert {result["lossless"]["label"] for result in message["results"] if result} == {"recorded"}
    assert {lane.run.meta["label"] for lane in race.log().lanes} == {"recorded"}
    again = RunRequest.parse(settings_of(race.log(), LOCAL), LOCAL)
    assert [lane.name for lane in again.lanes] == [lane.name for lane in race.log().lanes]


def test_only_the_labels_of_an_opened_race_change(tmp_path: Path) -> None:
    """A token " measured" stays what it was, in the text and in the counts."""
    data = json.loads((SAVED / "races" / "law.json").read_text())
    result = data["results"][1]
    result["lossless"]["count"]["cells"][0]["text"] = " measured"
    result["lossless"]["count"]["context"] = "it was measured"
    data["lanes"][1]["description"] = "measured by hand"
    path = tmp_path / "race.json"
    path.write_text(json.dumps(data))
    message = json.loads(opened(str(path), LOCAL.upload).whole())
    found = message["results"][1]
    assert found["lossless"]["count"]["cells"][0]["text"] == " measured"
    assert found["lossless"]["count"]["context"] == "it was measured"
    assert message["lanes"][1]["description"] == "measured by hand"


@pytest.mark.parametrize("file", PROFILES)
def test_a_profile_opens(file: str) -> None:
    name, source, note = PROFILES[file]
    entry = load_profile(str(SAVED / "profiles" / f"{file}.json"))
    assert (entry.name, entry.profile.source) == (name, source)
    assert entry.note.startswith(note)


@pytest.mark.parametrize(("kind", "file"), [("lab", "tree"), ("branching", "branching")])
def test_a_saved_tree_can_be_typed_into_the_form(pair: Pair, kind: str, file: str) -> None:
    saved = json.loads((SAVED / "trees" / f"{file}.json").read_text(encoding="utf-8"))
    numbers = saved["parents"] if kind == "lab" else saved
    tree_request = TreeRequest(kind, (" ".join(map(str, numbers)),), LOCAL.nodes)
    tree = tree_request.tree(pair, SamplingParams(), "sequoia", "x").tree
    assert tree == (Tree(tuple(numbers)) if kind == "lab" else Tree.from_branching(numbers))
